import type { ConversationMessage } from '../language/messages.ts';
import type { SpaceSettings } from '../model/settings.ts';
import type { SpaceInfo } from '../store/store.ts';
import type { Belief, HistoryEntry } from './belief.ts';
import type { ConfigureOptions } from './configure.ts';
import type { ConflictsOptions } from './conflicts.ts';
import type { Context, ContextOptions, StandingOptions } from './context.ts';
import type { CurateOptions, CurationReport } from './curate.ts';
import type { ForgetOptions, ForgetResult, ForgetTarget } from './forget.ts';
import type { FeedbackOptions, FeedbackVote, MarkUsedOptions } from './judgement.ts';
import type { LinkOptions, MemoryLink, UnlinkOptions } from './links.ts';
import type { MaintainOptions, MaintenanceReport } from './maintenance-types.ts';
import type { Observed, ObserveOptions } from './observe.ts';
import type { Recall } from './recall.ts';
import type { CurrentSessionOptions, SessionOptions, StartedSession, Timeline } from './sessions.ts';
import type {
  BatchOptions,
  FilterOptions,
  GetOptions,
  ListOptions,
  Memory,
  MemoryChanges,
  OperationOptions,
  RecallOptions,
  Remembered,
  RememberInput,
  RememberOptions,
  Resolution,
  StandingConflict,
} from './types.ts';
import type { Undone, UndoOptions } from './undo.ts';
import type { ExplainOptions, MemoryExplanation, WhyNot } from './why-not.ts';

/** A page of memories, newest update first. */
export interface MemoryPage {
  readonly memories: readonly Memory[];
  /** Absent on the last page. */
  readonly nextCursor?: string | undefined;
  /** Of a look back: how many memories that were known then are missing, because they were forgotten since. */
  readonly redacted?: number | undefined;
}

/** The strategies that come with the engine. */
export type BuiltinStrategyName =
  | 'lexical'
  | 'ambient'
  | 'retention'
  | 'balanced'
  | 'personal-assistant'
  | 'support-desk'
  | 'coding-agent'
  | 'research-notes'
  | 'news'
  | 'five-factor'
  | 'scoped'
  | 'hybrid'
  | 'bm25'
  | 'vector';

/**
 * The memory of one space. Every method is atomic, and sees what other processes have written before. An option that a
 * method does not have is an error, `invalid_argument`; one whose signal is aborted is `aborted`.
 */
export interface MemoryEngine extends AsyncDisposable {
  readonly space: string;
  /** Remembers one statement. */
  remember(content: string, options?: RememberOptions & OperationOptions): Promise<Remembered>;
  /** Remembers many statements in one transaction: all, or none. */
  rememberMany(inputs: readonly RememberInput[], options?: BatchOptions): Promise<readonly Remembered[]>;
  /**
   * Remembers what a conversation is worth remembering for: facts that the language model finds, or, without one, each
   * message as an event whose importance rules judge.
   */
  observe(messages: readonly ConversationMessage[], options?: ObserveOptions): Promise<Observed>;
  /** Finds what matters now, without a query: for strategies that take none, such as `ambient`. */
  recall<Strategy extends BuiltinStrategyName | (string & {})>(
    options: RecallOptions<Strategy>,
  ): Promise<Recall<Strategy>>;
  /** Finds what matters now: the exact top of the strategy's whole score. Default strategy is `hybrid`. */
  recall<Strategy extends BuiltinStrategyName | (string & {}) = 'hybrid'>(
    query: string | undefined,
    options?: RecallOptions<Strategy>,
  ): Promise<Recall<Strategy>>;
  /** Builds a prompt context without a query: by default of what matters whatever is asked. */
  context<Strategy extends BuiltinStrategyName | (string & {}) = 'ambient'>(
    options: ContextOptions<Strategy>,
  ): Promise<Context<Strategy>>;
  /**
   * Builds a prompt context within a token budget: recalls, packs what fits, and renders it as fenced data. Without a
   * query the strategy is `ambient`.
   */
  context<Strategy extends BuiltinStrategyName | (string & {}) = 'hybrid'>(
    query: string | undefined,
    options: ContextOptions<Strategy>,
  ): Promise<Context<Strategy>>;
  /** What an agent gets when a session starts: rules, feedback, facts, decisions, context; 30,000 tokens. */
  bootstrap(options?: StandingOptions): Promise<Context<'ambient'>>;
  /** What an agent gets on every turn: what must hold whatever is asked; 5,000 tokens. */
  pinned(options?: StandingOptions): Promise<Context<'ambient'>>;
  /** The memory, or `undefined`. Looking back it throws `redacted` for one that was forgotten since. */
  get(id: string, options?: GetOptions): Promise<Memory | undefined>;
  list(options?: ListOptions): Promise<MemoryPage>;
  /** Changes a memory in place. Throws `not_found`. */
  update(id: string, changes: MemoryChanges, options?: OperationOptions): Promise<Memory>;
  /** Sets the importance, 0–1, as a person's judgement, which no model and no rule changes again. Throws `not_found`. */
  setImportance(id: string, importance: number, options?: OperationOptions): Promise<Memory>;
  /** Says whether a memory helped; one vote a voter, the latest counts. Throws `not_found`. */
  feedback(id: string, vote: FeedbackVote, options?: FeedbackOptions): Promise<Memory>;
  /** Says which memories an answer was really made of. Returns the ids of those that are in the space. */
  markUsed(ids: readonly string[], options?: MarkUsedOptions): Promise<readonly string[]>;
  /**
   * Erases memories, their history and what was made of them, in one transaction: by id, by ids, or by a filter.
   * There is no undo. Throws `not_found` for ids that are not there, and erases nothing then.
   */
  forget(target: ForgetTarget, options?: ForgetOptions): Promise<ForgetResult>;
  /**
   * Takes back the latest operation, the one named, or a whole run of maintenance, newest operation first. Of a run, what
   * was changed or forgotten since is left alone and listed. Throws `cannot_undo`.
   *
   * @example
   * ```ts
   * const { run } = await memory.maintain();
   * const { skipped } = await memory.undo({ run });
   * ```
   */
  undo(options?: UndoOptions): Promise<Undone>;
  /** Says that a memory does not hold, and why; the same statement stays inactive. Throws `not_found`. */
  invalidate(id: string, reason: string, options?: OperationOptions): Promise<Memory>;
  /** Says that an invalidated memory holds again. Throws `not_found`. */
  revive(id: string, options?: OperationOptions): Promise<Memory>;
  /** The contradictions that wait for a decision, in the order in which they were noticed. Default limit is 20. */
  conflicts(options?: ConflictsOptions): Promise<readonly StandingConflict[]>;
  /** Ends a conflict: `keep-both`, `update`, `supersede` or `delete`. Throws `not_found`. */
  resolve(
    conflictId: string,
    resolution: Resolution,
    options?: OperationOptions,
  ): Promise<{ readonly resolution: Resolution; readonly memory: Memory }>;
  /** The writes of a memory and of those that it replaced or was replaced by, oldest first. Empty when there never was one. */
  history(id: string, options?: Pick<OperationOptions, 'signal'>): Promise<readonly HistoryEntry[]>;
  /** What was ever said about a topic, oldest first, and what of it is believed. */
  beliefs(
    topicKey: string,
    options?: Pick<FilterOptions, 'scope'> & OperationOptions,
  ): Promise<readonly Belief[]>;
  /** Starts a session, or goes on with the open one; idle ones are closed with a summary of their own. */
  startSession(options?: SessionOptions): Promise<StartedSession>;
  /** The id of the open session, if there is one in which something happened within 24 hours. */
  currentSession(options?: CurrentSessionOptions): Promise<string | undefined>;
  /** Ends the open session with a summary. Throws `invalid_argument` for a blank one, `not_found` when none is open. */
  endSession(
    summary: string,
    options?: OperationOptions,
  ): Promise<Remembered & { readonly sessionId: string }>;
  /** Saves a summary without ending the session. Throws `invalid_argument` for a blank one. */
  saveSummary(summary: string, options?: SessionOptions): Promise<Remembered>;
  /** What was remembered just before and after a memory. Throws `not_found`. */
  timeline(id: string, options?: Pick<OperationOptions, 'signal'>): Promise<Timeline>;
  /** The associations of a memory, strongest first. Throws `not_found`. */
  links(id: string, options?: OperationOptions): Promise<readonly MemoryLink[]>;
  /** States that two memories belong together. Default weight is .8. Throws `not_found`. */
  link(a: string, b: string, options?: LinkOptions): Promise<void>;
  /** Takes links between two memories away. Throws `not_found`. */
  unlink(a: string, b: string, options?: UnlinkOptions): Promise<void>;
  /**
   * What was decided for the space, after these changes; without options only reads it. Throws `invalid_argument`.
   *
   * @example
   * ```ts
   * await memory.configure({ fading: 'retention', timeZone: 'Europe/Berlin' });
   * ```
   */
  configure(options?: ConfigureOptions): Promise<SpaceSettings>;
  /** Runs maintenance: decays, archives, expires, consolidates. Idempotent; may be run while others recall. */
  maintain(options?: MaintainOptions): Promise<MaintenanceReport>;
  /** Tidies up: takes out what is useless, merges duplicates, joins what has faded, judges similar pairs. Can be undone. */
  curate(options?: CurateOptions): Promise<CurationReport>;
  stats(options?: Pick<OperationOptions, 'signal'>): Promise<SpaceInfo>;
  /** The score of one memory for a query, as a tree. Throws `not_found`. */
  explain(id: string, options?: ExplainOptions): Promise<MemoryExplanation>;
  /** Why a recall does not return a memory, and what would have had to differ. Throws `not_found`. */
  whyNot(id: string, options?: ExplainOptions): Promise<WhyNot>;
  /** Restores memories that were listed or exported, every field as it was; all in one transaction. */
  restore(memories: readonly Memory[], options?: BatchOptions): Promise<readonly Remembered[]>;
  /** Computes vectors and terms of all memories anew, with the embedder and analyzer in use. */
  reindex(options?: BatchOptions): Promise<void>;
  /** Writes a complete copy of the store into a new file. */
  backup(path: string, options?: Pick<OperationOptions, 'signal'>): Promise<void>;
  /** What is wrong with the store: empty when it is healthy. */
  check(options?: Pick<OperationOptions, 'signal'>): Promise<readonly string[]>;
  close(): Promise<void>;
}

import type { ConversationMessage } from '../language/messages.ts';
import { oneOf } from '../model/check.ts';
import type { SpaceSettings } from '../model/settings.ts';
import type { PastSpace, SpaceInfo } from '../store/store.ts';
import { type Belief, beliefsAbout, type HistoryEntry, historyOf } from './belief.ts';
import { type ConfigureOptions, configure } from './configure.ts';
import { conflictsOf, resolve } from './conflicts.ts';
import {
  bootstrap,
  type Context,
  type ContextOptions,
  context,
  pinned,
  type StandingOptions,
} from './context.ts';
import { type CurateOptions, type CurationReport, curate } from './curate.ts';
import { deriveTexts } from './derive.ts';
import { withDiagnostics } from './diagnostics.ts';
import { type Engine, filterOf, limitOf, momentOf } from './engine.ts';
import { type ForgetOptions, type ForgetResult, type ForgetTarget, forget } from './forget.ts';
import {
  type FeedbackOptions,
  type FeedbackVote,
  feedback,
  type MarkUsedOptions,
  markUsed,
  setImportance,
} from './judgement.ts';
import { link, linksOf, type MemoryLink, unlink } from './links.ts';
import { maintain } from './maintain.ts';
import type { MaintainOptions, MaintenanceReport } from './maintenance-types.ts';
import { type Observed, type ObserveOptions, observe } from './observe.ts';
import { asKnown, redactedError, validAtOf } from './past.ts';
import { type Recall, recall } from './recall.ts';
import { importedRecord } from './record.ts';
import { insertRecords, remember, rememberMany } from './remember.ts';
import {
  type CurrentSessionOptions,
  currentSession,
  endSession,
  type SessionOptions,
  type StartedSession,
  saveSummary,
  startSession,
  type Timeline,
  timeline,
} from './sessions.ts';
import { shown, shownAll } from './shown.ts';
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
import { type Undone, type UndoRun, undo } from './undo.ts';
import { invalidate, revive } from './validity.ts';
import { withKnownOptions } from './verb-options.ts';
import { importedVotes, votesOnText } from './votes.ts';
import { explainMemory, type MemoryExplanation, type WhyNot, whyNot } from './why-not.ts';
import { inContext, update } from './write.ts';

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
  /** Finds what matters now: the exact top of the strategy's whole score. Default strategy is `hybrid`. */
  recall<Strategy extends BuiltinStrategyName | (string & {}) = 'hybrid'>(
    query: string | undefined,
    options?: RecallOptions<Strategy>,
  ): Promise<Recall<Strategy>>;
  /**
   * What to put before a model: recalls, packs what fits into a budget of tokens, and renders it as fenced data. Without
   * a query the strategy is `ambient`.
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
  undo(target?: number | UndoRun, options?: OperationOptions): Promise<Undone>;
  /** Says that a memory does not hold, and why; the same statement stays inactive. Throws `not_found`. */
  invalidate(id: string, reason: string, options?: OperationOptions): Promise<Memory>;
  /** Says that an invalidated memory holds again. Throws `not_found`. */
  revive(id: string, options?: OperationOptions): Promise<Memory>;
  /** The contradictions that wait for a decision, in the order in which they were noticed. Default limit is 20. */
  conflicts(limit?: number, options?: Pick<OperationOptions, 'signal'>): Promise<readonly StandingConflict[]>;
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
  link(a: string, b: string, options?: Parameters<typeof link>[3]): Promise<void>;
  /** Takes links between two memories away. Throws `not_found`. */
  unlink(a: string, b: string, options?: Parameters<typeof unlink>[3]): Promise<void>;
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
  explain(query: string | undefined, id: string, options?: RecallOptions): Promise<MemoryExplanation>;
  /** Why a recall does not return a memory, and what would have had to differ. Throws `not_found`. */
  whyNot(query: string | undefined, id: string, options?: RecallOptions): Promise<WhyNot>;
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

/** The verbs of one space, over an open store. `close` also runs `afterwards`. */
export function createMemoryEngine(engine: Engine, afterwards: () => Promise<void>): MemoryEngine {
  const { space } = engine;
  const close = async () => {
    await space.close();
    await afterwards();
  };
  const verbs: MemoryEngine = {
    space: space.name,
    remember: (content, options) => remember(engine, content, options),
    rememberMany: (inputs, options) => rememberMany(engine, inputs, options),
    observe: (messages, options) => observe(engine, messages, options),
    recall: (query, options) => recall(engine, query, options),
    context: (query, options) => context(engine, query, options),
    bootstrap: (options) => bootstrap(engine, options),
    pinned: (options) => pinned(engine, options),
    get: (id, options = {}) => asKnown(engine, options, (then, given, past) => get(then, id, given, past)),
    list: (options = {}) => asKnown(engine, options, list),
    update: (id, changes, options) => update(engine, id, changes, options),
    setImportance: (id, importance, options) => setImportance(engine, id, importance, options),
    feedback: (id, vote, options) => feedback(engine, id, vote, options),
    markUsed: (ids, options) => markUsed(engine, ids, options),
    forget: (target, options) => forget(engine, target, options),
    undo: (target, options) => undo(engine, target, options),
    configure: (options) => configure(engine, options),
    invalidate: (id, reason, options) => invalidate(engine, id, reason, options),
    revive: (id, options) => revive(engine, id, options),
    conflicts: (limit) => conflictsOf(engine, limit),
    resolve: (conflictId, resolution, options) => resolve(engine, conflictId, resolution, options),
    history: (id) => historyOf(engine, id),
    beliefs: (topicKey, options) => beliefsAbout(engine, topicKey, options),
    startSession: (options) => startSession(engine, options),
    currentSession: (options) => currentSession(engine, options),
    endSession: (summary, options) => endSession(engine, summary, options),
    saveSummary: (summary, options) => saveSummary(engine, summary, options),
    timeline: (id) => timeline(engine, id),
    links: (id, options) => linksOf(engine, id, options),
    link: (a, b, options) => link(engine, a, b, options),
    unlink: (a, b, options) => unlink(engine, a, b, options),
    curate: (options) => curate(engine, options),
    maintain: (options) => maintain(engine, options),
    stats: () => space.info(),
    explain: (query, id, options) => explainMemory(engine, query, id, options),
    whyNot: (query, id, options) => whyNot(engine, query, id, options),
    restore(memories, options = {}) {
      const restored = memories.map((memory, index) =>
        inContext(index, memories.length, () => ({
          record: importedRecord(memory, engine.limits),
          votes: importedVotes(memory),
        })),
      );
      return insertRecords(engine, restored, 'import', engine.clock(), options);
    },
    reindex: (options = {}) =>
      space.reindex({
        analyzer: engine.analyzer.id,
        embedding: engine.embedder && {
          model: engine.embedder.model,
          dimensions: engine.embedder.dimensions,
        },
        derive: (memories) => deriveTexts(memories, engine, { signal: options.signal }),
        ...(options.progress ? { progress: options.progress } : {}),
      }),
    backup: (path) => space.backup(path),
    check: () => space.check(),
    close,
    [Symbol.asyncDispose]: close,
  };
  return withDiagnostics(withKnownOptions(verbs));
}

async function get(
  engine: Engine,
  id: string,
  options: GetOptions,
  past: PastSpace | undefined,
): Promise<Memory | undefined> {
  const { space } = engine;
  const [record] = await space.get([id]);
  if (record) {
    const filter = { ...filterOf({ scope: options.scope }), ...validAtOf(options) };
    return shown(engine, record, momentOf(engine, options), filter);
  }
  if (
    past &&
    options.asOf?.known !== undefined &&
    (await space.history(id)).some(({ redacted }) => redacted)
  ) {
    throw redactedError(id, options.asOf.known);
  }
  return undefined;
}

/** Of one page as JSON: a page of large memories ends before its limit, with a cursor. */
const MOST_CHARACTERS_LISTED = 4 * 2 ** 20;

async function list(engine: Engine, options: ListOptions, past: PastSpace | undefined): Promise<MemoryPage> {
  const { space } = engine;
  const filter = filterOf(options);
  const { memories, nextCursor } = await space.list({
    filter,
    limit: limitOf(options.limit, 20, 1000),
    maxCharacters: MOST_CHARACTERS_LISTED,
    cursor: options.cursor,
    order: oneOf(options.order ?? 'updated', 'order', ['updated', 'inserted'] as const),
  });
  const visible = { ...(filter.scopes && { scopes: filter.scopes }), ...validAtOf(options) };
  const all = await shownAll(engine, memories, momentOf(engine, options), visible);
  return {
    memories: await Promise.all(
      memories.map(async (each, at) => {
        const votes = await votesOnText(space, each);
        const memory = all[at] as Memory;
        return votes.length === 0
          ? memory
          : { ...memory, votes: votes.map(({ voter, vote }) => ({ voter, vote })) };
      }),
    ),
    ...(nextCursor ? { nextCursor } : {}),
    ...(past ? { redacted: past.redacted } : {}),
  };
}

/// <reference lib="esnext.disposable" preserve="true" />

import type { SpaceSettings } from '../domain/settings.ts';
import type { ConversationMessage } from '../language/messages.ts';
import type { SpaceInfo } from '../store/store.ts';
import type { Belief, HistoryEntry } from './belief/belief.ts';
import type { ConflictsOptions } from './belief/conflicts.ts';
import type { FeedbackOptions, FeedbackVote, MarkUsedOptions } from './belief/judgement.ts';
import type {
  EntitiesOptions,
  GraphPath,
  MergeResult,
  Neighbourhood,
  NeighboursOptions,
  PathsOptions,
  RelateOptions,
  RelateResult,
  SplitOptions,
  SplitResult,
  UnrelateOptions,
  UnrelateResult,
} from './graph/types.ts';
import type { Activity, ActivityOptions } from './looking/activity.ts';
import type { Operation, OperationsOptions } from './looking/operations.ts';
import type { StrategyDescription } from './looking/strategies.ts';
import type { ObserveOptions, ObserveResult } from './observe/observe.ts';
import type { CompareOptions, Comparison } from './recall/compare.ts';
import type { Context, ContextOptions, SessionContextOptions } from './recall/context.ts';
import type { Recall } from './recall/recall.ts';
import type { RecallsOptions, RecordedRecall, Replay } from './recall/replay.ts';
import type { ExplainOptions, MemoryExplanation, WhyNot } from './recall/why-not.ts';
import type { CurrentSessionOptions, SessionOptions, StartedSession, Timeline } from './sessions/sessions.ts';
import type {
  BatchOptions,
  FilterOptions,
  GetOptions,
  ListOptions,
  Memory,
  MemoryChanges,
  OperationOptions,
  PendingConflict,
  RecallOptions,
  RememberInput,
  RememberOptions,
  RememberResult,
  Resolution,
} from './types.ts';
import type { ConfigureOptions } from './upkeep/configure.ts';
import type { CurateOptions, CurationReport } from './upkeep/curate.ts';
import type { CurveOptions, FadingCurve } from './upkeep/curve.ts';
import type { FitOptions, FitResult, LabelledQuestion } from './upkeep/fit.ts';
import type { Health } from './upkeep/health.ts';
import type { MaintainOptions, MaintenanceReport } from './upkeep/maintenance-types.ts';
import type { ForgetOptions, ForgetResult, ForgetTarget } from './write/forget.ts';
import type { LinkOptions, MemoryLink, UnlinkOptions } from './write/links.ts';
import type { UndoOptions, UndoResult } from './write/undo.ts';

/** A page of memories. */
export interface MemoryPage {
  readonly memories: readonly Memory[];
  /** Absent on the last page. */
  readonly nextCursor?: string | undefined;
  /** How many memories the list has on all pages. Absent with `count: false`. */
  readonly total?: number | undefined;
  /** How many of them come before this page. */
  readonly position?: number | undefined;
  /** For a look back: how many memories that were known then are missing because they were forgotten since. */
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
 * The memory of one space. Every method is atomic, and sees what other processes have written before.
 *
 * Every method may throw a `SalienceError` with one of these codes, in addition to those that it documents:
 * `invalid_argument` for a value out of range or an unknown option, `aborted` when its signal is aborted, `closed`
 * after `close`, and, if it writes, `store_read_only` when the memory was opened with `readOnly`. A method that throws
 * has changed nothing.
 */
export interface MemoryEngine extends AsyncDisposable {
  /** The name of the space. */
  readonly space: string;
  /**
   * Remembers one statement. A statement that is known word for word, or is about a known `topicKey` in its scope,
   * updates that memory; `outcome` says so.
   *
   * @throws `already_exists`: the `id` belongs to another memory. `not_found`: a memory of `supersedes` is not in the
   * space. `content_too_large`: the content or metadata exceeds the limits of `openMemory`.
   * @example
   * ```ts
   * const { id, outcome, warning } = await memory.remember('Prefers dark roast coffee', {
   *   type: 'preference',
   *   topicKey: 'coffee',
   * });
   * // It may contradict what is known.
   * if (warning) console.log(warning);
   * ```
   */
  remember(content: string, options?: RememberOptions & OperationOptions): Promise<RememberResult>;
  /**
   * Remembers many statements in one transaction, all or none. Results are in the order of the inputs. Contradictions
   * are not reported.
   *
   * @throws What `remember` throws; nothing is remembered then.
   * @example
   * ```ts
   * const remembered = await memory.rememberMany([
   *   { content: 'Plays the cello', tags: ['music'] },
   *   { content: 'Moves to Lisbon in May', type: 'plan', validUntil: '2026-06-01' },
   * ]);
   * console.log(remembered.map(({ id, outcome }) => `${id}: ${outcome}`));
   * ```
   */
  rememberMany(inputs: readonly RememberInput[], options?: BatchOptions): Promise<readonly RememberResult[]>;
  /**
   * Remembers what is worth keeping from a conversation: the facts that the language model finds, or, without a model,
   * each message as an event with an importance from rules.
   *
   * @example
   * ```ts
   * const { created, judgedBy } = await memory.observe([
   *   { role: 'user', content: 'I am allergic to peanuts.' },
   *   { role: 'assistant', content: 'Noted: no peanuts.' },
   * ]);
   * console.log(`${created.length} memories, judged by ${judgedBy}`);
   * ```
   */
  observe(messages: readonly ConversationMessage[], options?: ObserveOptions): Promise<ObserveResult>;
  /**
   * Finds what matters most, with a strategy that takes no query.
   *
   * @throws `blank_query`: the strategy needs a query.
   * @example
   * ```ts
   * const { hits } = await memory.recall({ strategy: 'ambient', types: ['preference'] });
   * ```
   */
  recall<Strategy extends BuiltinStrategyName | (string & {})>(
    options: RecallOptions<Strategy>,
  ): Promise<Recall<Strategy>>;
  /**
   * Finds the memories that matter most now: the exact top by the score of the strategy, best first. A strategy that
   * takes no query, such as `ambient`, ranks without one. Default strategy is `hybrid`. Default limit is that of the
   * strategy, mostly 10.
   *
   * @throws `unknown_strategy`, `invalid_parameter`. `blank_query`: the query is blank.
   * `invalid_argument`: the query is longer than 32,768 characters.
   * @example
   * ```ts
   * const { hits } = await memory.recall('what coffee does she like?', { limit: 3 });
   * for (const { memory: found, score } of hits) console.log(`${score} ${found.content}`);
   * ```
   */
  recall<Strategy extends BuiltinStrategyName | (string & {}) = 'hybrid'>(
    query: string | undefined,
    options?: RecallOptions<Strategy>,
  ): Promise<Recall<Strategy>>;
  /**
   * Builds a prompt context without a query, from what matters whatever is asked.
   *
   * @example
   * ```ts
   * const { text } = await memory.context({ maxTokens: 800 });
   * ```
   */
  context<Strategy extends BuiltinStrategyName | (string & {}) = 'ambient'>(
    options: ContextOptions<Strategy>,
  ): Promise<Context<Strategy>>;
  /**
   * Builds a prompt context within a token budget: recalls, packs the most valuable memories that fit, and renders them
   * as data inside a fence that no memory can close. Without a query the strategy is `ambient`, with one `hybrid`.
   *
   * @throws `unknown_strategy`, `invalid_parameter`, and `not_found` for an id of `mustInclude`. `invalid_argument`: the
   * query is longer than 32,768 characters.
   * @example
   * ```ts
   * const question = 'Where could we go for coffee?';
   * const { text, tokens } = await memory.context(question, { maxTokens: 1500 });
   * const prompt = `${text}\n\n${question}`;
   * ```
   */
  context<Strategy extends BuiltinStrategyName | (string & {}) = 'hybrid'>(
    query: string | undefined,
    options: ContextOptions<Strategy>,
  ): Promise<Context<Strategy>>;
  /**
   * Builds the context for the start of a session: rules, feedback, facts, decisions and context. Default budget is
   * 30,000 tokens.
   *
   * @example
   * ```ts
   * const { text, items } = await memory.bootstrap({ maxTokens: 4000 });
   * const system = `You are a helpful assistant.\n\n${text}`;
   * ```
   */
  bootstrap(options?: SessionContextOptions): Promise<Context<'ambient'>>;
  /**
   * Builds the context for every turn, which applies whatever is asked: every memory of type `rule`, `feedback`,
   * `profile` or `preference`, and core memories of any type. Default budget is 5,000 tokens.
   *
   * @example
   * ```ts
   * const { text } = await memory.pinned({ scope: 'project:website' });
   * ```
   */
  pinned(options?: SessionContextOptions): Promise<Context<'ambient'>>;
  /**
   * Returns the memory with an id, or `undefined`.
   *
   * @throws `redacted`: with `asOf`, for a memory that was known then and has been forgotten since.
   * @example
   * ```ts
   * const { id } = await memory.remember('Plays the cello');
   * const found = await memory.get(id);
   * console.log(found?.content); // Plays the cello
   * ```
   */
  get(id: string, options?: GetOptions): Promise<Memory | undefined>;
  /**
   * Lists memories by page, newest update first or as `sort` says. Default limit is 20, the highest 1,000. Pass
   * `nextCursor` to continue; `offset` jumps to a place, `around` to a memory.
   *
   * @throws `invalid_argument`: the cursor belongs to another order or filter. `not_found`: the list does not have the
   * memory of `around`.
   * @example
   * ```ts
   * await memory.remember('Is allergic to peanuts', { importance: 1 });
   * const { memories, total } = await memory.list({ sort: 'importance', createdAfter: '2026-01-01', offset: 0 });
   * console.log(`${memories.length} of ${total}`);
   * ```
   * @example
   * ```ts
   * let cursor: string | undefined;
   * do {
   *   const page = await memory.list({ types: ['preference'], limit: 100, cursor });
   *   for (const { id, content } of page.memories) console.log(id, content);
   *   cursor = page.nextCursor;
   * } while (cursor);
   * ```
   */
  list(options?: ListOptions): Promise<MemoryPage>;
  /**
   * Changes a memory in place. Fields that are not given stay, and `null` removes one.
   *
   * @throws `not_found`. `content_too_large`: the content or metadata exceeds the limits of `openMemory`.
   * @example
   * ```ts
   * const { id } = await memory.remember('Moves to Lisbon in May', { validUntil: '2026-06-01' });
   * await memory.update(id, { content: 'Moves to Lisbon in July', validUntil: null });
   * ```
   */
  update(id: string, changes: MemoryChanges, options?: OperationOptions): Promise<Memory>;
  /**
   * Sets the importance, 0–1, as a person's judgement. No model and no rule changes it again.
   *
   * @throws `not_found`.
   * @example
   * ```ts
   * const { id } = await memory.remember('Is allergic to peanuts');
   * await memory.setImportance(id, 1);
   * ```
   */
  setImportance(id: string, importance: number, options?: OperationOptions): Promise<Memory>;
  /**
   * Records whether a memory helped. A voter has one vote per memory; the latest counts. Default voter is `user`.
   *
   * @throws `not_found`.
   * @example
   * ```ts
   * const { hits } = await memory.recall('coffee');
   * for (const hit of hits) await memory.feedback(hit.memory.id, 'up', { voter: 'alice' });
   * ```
   */
  feedback(id: string, vote: FeedbackVote, options?: FeedbackOptions): Promise<Memory>;
  /**
   * Records which memories an answer actually used. Returns the ids of those that exist in the space.
   *
   * @example
   * ```ts
   * const { hits } = await memory.recall('coffee', { track: false });
   * const cited = hits.slice(0, 2).map((hit) => hit.memory.id);
   * await memory.markUsed(cited, { effect: 'reinforce' });
   * ```
   */
  markUsed(ids: readonly string[], options?: MarkUsedOptions): Promise<readonly string[]>;
  /**
   * Erases memories, their history and what was made from them, in one transaction: by id, by ids, or by a filter.
   * There is no undo. A filter must have at least one field.
   *
   * @throws `not_found`: ids that are not in the space; nothing is erased then.
   * @example
   * ```ts
   * const { id } = await memory.remember('Her phone number is 555 0100');
   * await memory.forget(id);
   * const { count } = await memory.forget({ tags: ['draft'] }, { dryRun: true });
   * console.log(`${count} drafts would be erased`);
   * ```
   */
  forget(target: ForgetTarget, options?: ForgetOptions): Promise<ForgetResult>;
  /**
   * Undoes an operation, or a whole run of maintenance or import, newest operation first. Default is the latest
   * operation that can be undone. A `forget` cannot be undone: after one, `undo()` undoes what was written before it.
   * In a run, memories that were changed or forgotten since are left alone and listed in `skipped`. An ended session
   * stays ended; only its summary is removed. Pairs that a run queued stay in `conflicts`.
   *
   * @throws `cannot_undo`: there is nothing to undo, it erased memories, or these were changed since.
   * @example
   * ```ts
   * await memory.remember('Prefers tea');
   * const { verb, memories } = await memory.undo();
   * console.log(`undid ${verb} of ${memories.map(({ id }) => id)}`);
   *
   * const report = await memory.maintain();
   * if (report.run && report.expired.length > 0) await memory.undo({ run: report.run });
   * ```
   */
  undo(options?: UndoOptions): Promise<UndoResult>;
  /**
   * Marks a memory as no longer true, with a reason. It is not recalled, and the same statement stays inactive if it is
   * remembered again.
   *
   * @throws `not_found`.
   * @example
   * ```ts
   * const { id } = await memory.remember('Works at Acme');
   * await memory.invalidate(id, 'She left in March');
   * ```
   */
  invalidate(id: string, reason: string, options?: OperationOptions): Promise<Memory>;
  /**
   * Reinstates a memory that was marked as no longer true.
   *
   * @throws `not_found`.
   * @example
   * ```ts
   * const { id } = await memory.remember('Works at Acme');
   * await memory.invalidate(id, 'She left in March');
   * await memory.reinstate(id); // she is back
   * ```
   */
  reinstate(id: string, options?: OperationOptions): Promise<Memory>;
  /**
   * Lists the contradictions and possible updates that wait for a decision, in the order in which they were noticed.
   * Default limit is 20.
   *
   * @example
   * ```ts
   * for (const { conflictId, older, newer } of await memory.conflicts({ limit: 5 })) {
   *   console.log(`${conflictId}: "${older.content}" or "${newer.content}"?`);
   * }
   * ```
   */
  conflicts(options?: ConflictsOptions): Promise<readonly PendingConflict[]>;
  /**
   * Resolves a conflict: `keep-both`, `update` (the older memory takes the newer text), `supersede` (the newer hides the
   * older while it holds), or `delete` (the older is erased, which cannot be undone).
   *
   * @throws `not_found`.
   * @example
   * ```ts
   * const [conflict] = await memory.conflicts();
   * if (conflict) await memory.resolve(conflict.conflictId, 'supersede');
   * ```
   */
  resolve(
    conflictId: string,
    resolution: Resolution,
    options?: OperationOptions,
  ): Promise<{ readonly resolution: Resolution; readonly memory: Memory }>;
  /**
   * Lists the recorded recalls, newest first. A space records recalls if `configure` turned it on. Default limit is 20.
   *
   * @example
   * ```ts
   * await memory.configure({ recordRecalls: { days: 30, texts: true } });
   * await memory.recall('which coffee?');
   * for (const { recallId, query, hits } of await memory.recalls({ limit: 5 })) {
   *   console.log(recallId, query, hits.map(({ id }) => id));
   * }
   * ```
   */
  recalls(options?: RecallsOptions): Promise<readonly RecordedRecall[]>;
  /**
   * Repeats a recorded recall in the space as it was then, and returns whether the answer is the same to the bit, and
   * if not, why. Nothing is written, and no language model is asked.
   *
   * @throws `not_found`. `unsupported`: the text of the query was not recorded. `redacted`: a memory that it returned was
   * forgotten since.
   * @example
   * ```ts
   * await memory.configure({ recordRecalls: { days: 30, texts: true } });
   * const { trace } = await memory.recall('which coffee?');
   * if (trace.recallId) {
   *   const { equal, reasons } = await memory.replay(trace.recallId);
   *   console.log(equal ? 'the same' : reasons.map(({ message }) => message));
   * }
   * ```
   */
  replay(recallId: string, options?: Pick<OperationOptions, 'signal'>): Promise<Replay>;
  /**
   * Lists the writes of a memory and of those that it superseded or was superseded by, oldest first, each with the
   * memory as it was before. Empty for an id that was never written.
   *
   * @example
   * ```ts
   * const { id } = await memory.remember('Lives in Rome', { topicKey: 'home' });
   * await memory.remember('Lives in Lisbon', { topicKey: 'home' });
   * const writes = await memory.history(id);
   * console.log(writes.map(({ at, before }) => `${at}: ${before?.content ?? 'made'}`));
   * ```
   */
  history(id: string, options?: Pick<OperationOptions, 'signal'>): Promise<readonly HistoryEntry[]>;
  /**
   * Lists the latest writes of the space, newest first: what each did to which memories, and whether it can be undone.
   * Recalls are not writes and are not listed. Default limit is 20, the highest 1,000.
   *
   * @example
   * ```ts
   * await memory.remember('Plays the cello', { id: 'cello' });
   * const [latest] = await memory.operations();
   * if (latest?.undoable) await memory.undo({ operation: latest.operation });
   * console.log(latest?.verb, latest?.ids); // remember [ 'cello' ]
   * ```
   */
  operations(options?: OperationsOptions): Promise<readonly Operation[]>;
  /**
   * Returns what happened in the space after a position, by any process, in order: writes, and uses that were written.
   * `start` (default) is before the first entry, `end` after the last. With `wait` it returns as soon as there is an
   * entry, or without one when the time is up. Waiting holds nothing of the store open, and ends when the memory is
   * closed.
   *
   * @throws `invalid_argument`: the position belongs to another space, or to this one before it was deleted or restored.
   * `closed`, `aborted`: the wait was ended.
   * @example
   * ```ts
   * let { position } = await memory.activity('end');
   * await memory.remember('Plays the cello', { id: 'cello' });
   * const happened = await memory.activity(position, { wait: 30_000 });
   * for (const { kind, ids } of happened.entries) console.log(kind, ids); // write [ 'cello' ]
   * position = happened.position;
   * ```
   */
  activity(after?: string, options?: ActivityOptions): Promise<Activity>;
  /**
   * Lists all memories about a topic, oldest first, and whether each is believed now.
   *
   * @example
   * ```ts
   * await memory.remember('Likes espresso', { topicKey: 'coffee' });
   * for (const { memory: said, believed } of await memory.beliefs('coffee')) {
   *   console.log(believed ? 'now:' : 'before:', said.content);
   * }
   * ```
   */
  beliefs(
    topicKey: string,
    options?: Pick<FilterOptions, 'scope'> & OperationOptions,
  ): Promise<readonly Belief[]>;
  /**
   * Starts a session, or continues the open one. A session that was idle for 24 hours is closed first, with an
   * automatic summary. Default scope is `global`.
   *
   * @example
   * ```ts
   * const { sessionId, summaries, memories } = await memory.startSession();
   * await memory.remember('Is planning a trip to Porto', { sessionId });
   * ```
   */
  startSession(options?: SessionOptions): Promise<StartedSession>;
  /**
   * Returns the id of the open session; `undefined` if none is open or it was idle for 24 hours.
   *
   * @example
   * ```ts
   * const sessionId = await memory.currentSession();
   * await memory.remember('Prefers trains to planes', { sessionId });
   * ```
   */
  currentSession(options?: CurrentSessionOptions): Promise<string | undefined>;
  /**
   * Ends the open session with a summary. `undo` removes the summary, but the session stays ended: start another one.
   *
   * @throws `not_found`: no session is open.
   * @example
   * ```ts
   * await memory.startSession();
   * const { sessionId } = await memory.endSession('Planned a trip to Porto; flights are still to be booked.');
   * ```
   */
  endSession(
    summary: string,
    options?: OperationOptions,
  ): Promise<RememberResult & { readonly sessionId: string }>;
  /**
   * Saves a summary without ending the session.
   *
   * @example
   * ```ts
   * await memory.startSession();
   * await memory.saveSummary('So far: chose Porto over Faro.');
   * ```
   */
  saveSummary(summary: string, options?: SessionOptions): Promise<RememberResult>;
  /**
   * Shows what was remembered just before and after a memory, at most 5 on either side.
   *
   * @throws `not_found`.
   * @example
   * ```ts
   * const { id } = await memory.remember('Chose Porto over Faro');
   * const { before, after } = await memory.timeline(id);
   * console.log(before.at(-1)?.content, '→ Chose Porto over Faro →', after[0]?.content);
   * ```
   */
  timeline(id: string, options?: Pick<OperationOptions, 'signal'>): Promise<Timeline>;
  /**
   * Shows how a memory fades if it is not used: its retention, 0–1, from now on, and when maintenance may make it cold.
   * By default one year ahead.
   *
   * @throws `not_found`.
   * @example
   * ```ts
   * const { id } = await memory.remember('Parked on level 3');
   * const { points, coldAt } = await memory.curve(id, { days: 90 });
   * console.log(points.at(-1)?.retention, coldAt ?? 'stays');
   * ```
   */
  curve(id: string, options?: CurveOptions): Promise<FadingCurve>;
  /**
   * Fits numeric parameters of a strategy to questions about this space with known answers, and measures the gain by
   * cross-validation: each fifth of the questions is measured with a fit that did not use it. Questions that share a
   * relevant memory are held out together; if that would join all questions, only those with the same relevant memories
   * are. It may take minutes: `steps` ends a call early, and `state` continues it. Nothing is written: pass the values
   * to a recall as `parameters`.
   *
   * Memories are ranked by their own scores, without what links bring in.
   *
   * @throws `invalid_argument`: fewer than two questions, an id without a memory in the space, a parameter that is not
   * numeric, or a `state` of other questions or options, or of questions that are answered differently by now.
   * `embedder_failed`: a question could not be searched by its vector; the rest of the formula is not fitted alone.
   * `unknown_strategy`, `aborted`.
   * @example
   * ```ts
   * await memory.remember('Prefers dark roast', { id: 'dark' });
   * await memory.remember('Roasts on Mondays', { id: 'monday' });
   * const { fitted } = await memory.fit(
   *   [
   *     { query: 'which roast does she like?', relevant: ['dark'] },
   *     { query: 'when does she roast?', relevant: ['monday'] },
   *   ],
   *   { parameters: ['weights.similarity'] },
   * );
   * console.log(fitted?.parameters, fitted?.problems);
   * ```
   */
  fit(questions: readonly LabelledQuestion[], options?: FitOptions): Promise<FitResult>;
  /**
   * Lists the links of a memory, strongest first.
   *
   * @throws `not_found`.
   * @example
   * ```ts
   * const { id } = await memory.remember('Drinks espresso at Café Norte');
   * for (const link of await memory.links(id)) console.log(link.id, link.kind, link.weight);
   * ```
   */
  links(id: string, options?: OperationOptions): Promise<readonly MemoryLink[]>;
  /**
   * Links two memories, so that a recall of one can bring in the other. Weight is 0.01–1, default 0.8.
   *
   * @throws `not_found`.
   * @example
   * ```ts
   * const trip = await memory.remember('Is planning a trip to Porto');
   * const ticket = await memory.remember('Trains from Lisbon leave at 9 o’clock');
   * await memory.link(trip.id, ticket.id, { weight: 0.9 });
   * ```
   */
  link(a: string, b: string, options?: LinkOptions): Promise<void>;
  /**
   * Removes links between two memories: all, or those of the given `kinds`.
   *
   * @throws `not_found`.
   * @example
   * ```ts
   * const trip = await memory.remember('Is planning a trip to Porto');
   * const cello = await memory.remember('Plays the cello');
   * await memory.link(trip.id, cello.id);
   * await memory.unlink(trip.id, cello.id);
   * ```
   */
  unlink(a: string, b: string, options?: UnlinkOptions): Promise<void>;
  /**
   * States a relation between two memories, each given by id or by the name of an entity, and remembers a sentence that
   * says so. Of a single-valued relation (see `configure`) the value that began last counts.
   *
   * @throws `not_found`, `invalid_argument`: a name means several entities.
   * @example
   * ```ts
   * await memory.remember('A mathematician', { type: 'entity', title: 'Ada Lovelace', kind: 'person', aliases: ['Ada'] });
   * await memory.remember('Makes engines', { type: 'entity', title: 'Acme', kind: 'organisation' });
   * const { relation } = await memory.relate('Ada', 'works_at', 'Acme', { validFrom: '2026-01-01' });
   * console.log(relation.id, relation.statements);
   * ```
   */
  relate(from: string, name: string, to: string, options?: RelateOptions): Promise<RelateResult>;
  /**
   * Ends a relation: sets the end in every memory that states it. `undo` reverts it.
   *
   * @throws `not_found`: no memory states it.
   * @example
   * ```ts
   * await memory.rememberMany([
   *   { content: 'A mathematician', type: 'entity', title: 'Ada' },
   *   { content: 'Makes engines', type: 'entity', title: 'Acme' },
   * ]);
   * await memory.relate('Ada', 'works_at', 'Acme');
   * await memory.unrelate('Ada', 'works_at', 'Acme');
   * ```
   */
  unrelate(from: string, name: string, to: string, options?: UnrelateOptions): Promise<UnrelateResult>;
  /**
   * Merges two entities, each given by id or name: `into` takes over the names and relations of `from`, which is no
   * longer listed. `undo` reverts it, and a look back to an earlier time shows both.
   *
   * @throws `not_found`, `invalid_argument`: a name means several entities, or the two have different scopes.
   * @example
   * ```ts
   * await memory.remember('A mathematician', { type: 'entity', title: 'Ada Lovelace' });
   * await memory.remember('Wrote about engines', { type: 'entity', title: 'Countess of Lovelace' });
   * const { entity } = await memory.mergeEntities('Countess of Lovelace', 'Ada Lovelace');
   * console.log(entity.aliases);
   * ```
   */
  mergeEntities(from: string, into: string, options?: OperationOptions): Promise<MergeResult>;
  /**
   * Splits an entity in two. The memories that state its relations and name only the other entity move to that one, or
   * the given `statements` do. If an entity of this name was merged into it, directly or through others, it is restored
   * under its id, with the relations that it states. `undo` reverts the split.
   *
   * @throws `not_found`, `invalid_argument`.
   * @example
   * ```ts
   * await memory.remember('Two colleagues', { type: 'entity', title: 'Jordan Miller', aliases: ['Jordan Brown'] });
   * const { split } = await memory.splitEntity('Jordan Miller', 'Jordan Brown', { kind: 'person' });
   * console.log(split.id);
   * ```
   */
  splitEntity(entity: string, name: string, options?: SplitOptions): Promise<SplitResult>;
  /**
   * Finds entities: first those with this name or alias, then what a recall finds. Without a query all, newest update first.
   *
   * @example
   * ```ts
   * await memory.remember('A mathematician', { type: 'entity', title: 'Ada Lovelace', aliases: ['Ada'] });
   * const [ada] = await memory.entities('ada');
   * console.log(ada?.title, ada?.aliases);
   * ```
   */
  entities(query?: string, options?: EntitiesOptions): Promise<readonly Memory[]>;
  /**
   * Returns the memories that relations connect with one, given by id or by the name of an entity, up to 3 relations away.
   *
   * @throws `not_found`, `invalid_argument`: the name means several entities.
   * @example
   * ```ts
   * await memory.rememberMany([
   *   { content: 'A mathematician', type: 'entity', title: 'Ada' },
   *   { content: 'Makes engines', type: 'entity', title: 'Acme' },
   * ]);
   * await memory.relate('Ada', 'works_at', 'Acme');
   * const { neighbours, relations } = await memory.neighbours('Ada', { depth: 2 });
   * console.log(neighbours.map((each) => each.name), relations.map(({ name }) => name));
   * ```
   */
  neighbours(entity: string, options?: NeighboursOptions): Promise<Neighbourhood>;
  /**
   * Returns the shortest paths between two memories along relations, followed in either direction.
   *
   * @throws `not_found`, `invalid_argument`: a name means several entities.
   * @example
   * ```ts
   * await memory.rememberMany([
   *   { content: 'A mathematician', type: 'entity', title: 'Ada' },
   *   { content: 'Makes engines', type: 'entity', title: 'Acme' },
   * ]);
   * await memory.relate('Ada', 'works_at', 'Acme');
   * const [path] = await memory.paths('Ada', 'Acme');
   * console.log(path?.relations.map(({ name }) => name));
   * ```
   */
  paths(from: string, to: string, options?: PathsOptions): Promise<readonly GraphPath[]>;
  /**
   * Changes the settings of the space and returns them all; without options it only reads them. By default memories do
   * not fade, and the time zone is UTC.
   *
   * @example
   * ```ts
   * await memory.configure({ fading: 'retention', timeZone: 'Europe/Berlin' });
   * const { fading } = await memory.configure();
   * ```
   */
  configure(options?: ConfigureOptions): Promise<SpaceSettings>;
  /**
   * Runs maintenance: decay, archive, expire and, on request, consolidate. Idempotent; may run while others recall.
   * In a space that does not fade, nothing cools, and only memories named by `consolidate` are consolidated; memories
   * expire, and similar pairs are found and judged, all the same.
   *
   * @throws `not_found`: ids of `consolidate` that are not in the space; nothing is changed then.
   * @example
   * ```ts
   * const { cooled, archived, expired } = await memory.maintain({ dryRun: true });
   * console.log(`${cooled.length} to cool, ${archived.length} to archive, ${expired.length} to expire`);
   * await memory.maintain();
   * ```
   */
  maintain(options?: MaintainOptions): Promise<MaintenanceReport>;
  /**
   * Curates the space: judges similar pairs, merges duplicates, consolidates faded memories, removes useless ones. One
   * `undo({ run })` reverts all of it.
   *
   * @example
   * ```ts
   * const { deduplicated, pruned, run } = await memory.curate({ actions: ['deduplicate', 'prune'] });
   * if (run && pruned.length > 10) await memory.undo({ run });
   * ```
   */
  curate(options?: CurateOptions): Promise<CurationReport>;
  /**
   * Counts the memories of the space by type, scope and tier, and returns its size.
   *
   * @example
   * ```ts
   * const { memories, byType, bytes } = await memory.stats();
   * console.log(`${memories} memories in ${bytes} bytes, ${byType['preference'] ?? 0} of them preferences`);
   * ```
   */
  stats(options?: Pick<OperationOptions, 'signal'>): Promise<SpaceInfo>;
  /**
   * Explains the own score of one memory for a query, as a tree of values whose root is the score. In a recall, links
   * and possible updates may raise it: `hit.explain()` includes that, and `whyNot` explains what happened to the memory.
   *
   * @throws `not_found`, `unknown_strategy`, `invalid_parameter`.
   * @example
   * ```ts
   * const { id } = await memory.remember('Prefers dark roast coffee');
   * const { score, features } = await memory.explain(id, { query: 'which coffee?' });
   * console.log(score, features['relevance']);
   * ```
   */
  explain(id: string, options?: ExplainOptions): Promise<MemoryExplanation>;
  /**
   * Explains why a recall does not return a memory, and which change of a signal would have sufficed.
   *
   * @throws `not_found`, `unknown_strategy`, `invalid_parameter`.
   * @example
   * ```ts
   * const { id } = await memory.remember('Plays the cello');
   * const { outcome, message } = await memory.whyNot(id, { query: 'which coffee?', limit: 1 });
   * console.log(outcome, message);
   * ```
   */
  whyNot(id: string, options?: ExplainOptions): Promise<WhyNot>;
  /**
   * Ranks by several strategies for one query at one moment: the top of each, how much every two agree, and what each
   * found alone. Nothing is merged and no score is returned, because scores of different strategies do not compare.
   * Nothing is written. Default is every strategy except the presets of `balanced`. Default limit is 10, the highest
   * 100.
   *
   * @throws `blank_query`. `unknown_strategy`. If only some strategies fail, their rankings say why instead.
   * @example
   * ```ts
   * const { rankings, agreement } = await memory.compare('which coffee?', { strategies: ['hybrid', 'bm25'] });
   * for (const { strategy, hits, failure } of rankings) {
   *   console.log(strategy, failure ?? hits?.map((hit) => hit.memory.content));
   * }
   * console.log(agreement[0]?.tau, agreement[0]?.overlap);
   * ```
   */
  compare(query: string, options?: CompareOptions): Promise<Comparison>;
  /**
   * Lists all strategies, including your own: what each is for, its formula, and the parameters that a recall may set,
   * with their ranges and their defaults for the current embedder.
   *
   * @example
   * ```ts
   * for (const { name, limit, parameters } of await memory.strategies()) {
   *   console.log(name, limit, parameters.map((parameter) => `${parameter.name} = ${parameter.default}`));
   * }
   * ```
   */
  strategies(options?: Pick<OperationOptions, 'signal'>): Promise<readonly StrategyDescription[]>;
  /**
   * Imports memories that were listed or exported, with every field as it was, in one transaction.
   *
   * @throws `already_exists`: an id belongs to another memory.
   * @example
   * ```ts
   * const { memories } = await memory.list({ limit: 1000 });
   * await using copy = await openMemory({ path: './copies', space: 'alice' });
   * await copy.importMemories(memories);
   * ```
   */
  importMemories(memories: readonly Memory[], options?: BatchOptions): Promise<readonly RememberResult[]>;
  /**
   * Recomputes the terms of all memories with the current analyzer, and their vectors with the current embedder. If the
   * stored terms come from another analyzer, keeps the vectors that this embedder made. Throws `embedder_mismatch` if
   * another process has changed the language of the space since it was opened without `language`.
   *
   * @example
   * ```ts
   * await memory.reindex({ progress: (done, total) => console.log(`${done} of ${total}`) });
   * ```
   */
  reindex(options?: BatchOptions): Promise<void>;
  /**
   * Writes a complete copy of the store into a new file, while others read and write. SQLite copies in one step: an
   * aborted backup throws `aborted` when that step is over, and leaves no file.
   *
   * @throws `already_exists`: the file exists. `invalid_argument`: it is a `.db` file in the folder of the store, where it
   * would be taken for a space. `unsupported`: the memory is on a server. `aborted`: by the signal.
   * @example
   * ```ts
   * await memory.backup('./alice-2026-04-20.db');
   * ```
   */
  backup(path: string, options?: Pick<OperationOptions, 'signal'>): Promise<void>;
  /**
   * Verifies the store and describes every problem; empty if it is healthy.
   *
   * @example
   * ```ts
   * const problems = await memory.check();
   * if (problems.length > 0) console.error(problems.join('\n'));
   * ```
   */
  check(options?: Pick<OperationOptions, 'signal'>): Promise<readonly string[]>;
  /**
   * Reports what does not work and what is worth knowing: checks the store as `check` does, asks the embedder for a
   * vector, and looks for missing vectors. Each entry says what to do.
   *
   * @example
   * ```ts
   * const { problems, warnings } = await memory.health();
   * for (const each of [...problems, ...warnings]) console.error(each);
   * ```
   */
  health(options?: Pick<OperationOptions, 'signal'>): Promise<Health>;
  /**
   * Closes the memory; every later call throws `closed`. Running calls are waited for, at most five seconds, because a
   * model may never answer. `observe`, `maintain`, `curate`, `fit` and `reindex` end between two steps with `closed`, and
   * so does waiting for `activity`. `await using` closes it at the end of the block.
   *
   * @example
   * ```ts
   * await memory.close();
   * ```
   */
  close(): Promise<void>;
}

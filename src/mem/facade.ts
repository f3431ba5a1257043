import { wholeNumber } from '../domain/check.ts';
import { type MemoryEngine, type OperationOptions, SalienceError } from '../index.ts';
import { withKnownInputs } from './checked.ts';
import {
  contextMemoryOf,
  type MemSession,
  type MemStats,
  type MemTimeline,
  OBSERVATION_TYPES,
  type Observation,
  type ObservationType,
  observationOf,
  outcomeOf,
  type SavedObservation,
  type SavedSummary,
  type SearchResult,
  searchResultOf,
  summaryOf,
} from './shapes.ts';

/** Names the user. Each user has a space that no other user sees. */
export interface OfUser {
  readonly user_id: string;
}

export interface SaveInput extends OfUser {
  /** One self-contained statement. */
  readonly content: string;
  readonly type: ObservationType;
  /** A few words. */
  readonly title: string;
  /** What it is about. The next observation with the same key replaces this one. */
  readonly topic_key?: string | undefined;
}

export interface SearchInput extends OfUser {
  readonly query: string;
  /** 1–1,000. Default is 10. */
  readonly limit?: number | undefined;
  readonly types?: readonly string[] | undefined;
  /** Not together with `types`. */
  readonly types_exclude?: readonly string[] | undefined;
}

/**
 * The functions of iLAB Memory, with their names and parameters, on top of the engine. Each also throws what the engine
 * throws: a `SalienceError` with a code, and `invalid_argument` for a blank `user_id` or an unknown argument.
 */
export interface MemFunctions {
  /**
   * Starts a session, or continues the open one. A session that was idle for 24 hours is closed first.
   *
   * @example
   * ```ts
   * const { session_id, is_new, memories } = await mem.mem_session_start({ user_id: 'alice' });
   * ```
   */
  mem_session_start(input: OfUser, options?: OperationOptions): Promise<MemSession>;
  /**
   * Ends the open session. Throws `invalid_argument` for a blank summary, `not_found` when none is open.
   *
   * @example
   * ```ts
   * await mem.mem_session_start({ user_id: 'alice' });
   * await mem.mem_session_end({ user_id: 'alice', summary: 'Chose how long auth tokens live.' });
   * ```
   */
  mem_session_end(
    input: OfUser & { readonly summary: string },
    options?: OperationOptions,
  ): Promise<SavedSummary>;
  /**
   * Saves a summary. Its title is its beginning, up to 80 characters. Throws `invalid_argument` for a blank summary.
   *
   * @example
   * ```ts
   * await mem.mem_session_summary({ user_id: 'alice', summary: 'So far: auth tokens live for an hour.' });
   * ```
   */
  mem_session_summary(
    input: OfUser & { readonly summary: string },
    options?: OperationOptions,
  ): Promise<SavedSummary>;
  /**
   * Stores an observation, in the open session if there is one. A session that was idle for 24 hours is closed first,
   * and a new one is started. Throws `invalid_argument` for an unknown type.
   *
   * @example
   * ```ts
   * const { id, outcome } = await mem.mem_save({
   *   user_id: 'alice',
   *   type: 'decision',
   *   title: 'Login',
   *   content: 'Auth tokens live for an hour',
   *   topic_key: 'auth/lifetime',
   * });
   * ```
   */
  mem_save(input: SaveInput, options?: OperationOptions): Promise<SavedObservation>;
  /**
   * Finds observations that share a word with the query, best SearchScore first.
   *
   * @example
   * ```ts
   * const results = await mem.mem_search({ user_id: 'alice', query: 'auth token', limit: 3 });
   * for (const { title, snippet, score } of results) console.log(`${score} ${title}: ${snippet}`);
   * ```
   */
  mem_search(input: SearchInput, options?: OperationOptions): Promise<readonly SearchResult[]>;
  /**
   * Returns one observation; `null` if the user has none with this id.
   *
   * @example
   * ```ts
   * const [first] = await mem.mem_search({ user_id: 'alice', query: 'auth token' });
   * if (first) console.log(await mem.mem_get_observation({ user_id: 'alice', id: first.id }));
   * ```
   */
  mem_get_observation(
    input: OfUser & { readonly id: string },
    options?: OperationOptions,
  ): Promise<Observation | null>;
  /**
   * Returns the observations that were saved just before and after one. Throws `not_found`.
   *
   * @example
   * ```ts
   * const [first] = await mem.mem_search({ user_id: 'alice', query: 'auth token' });
   * if (first) console.log((await mem.mem_timeline({ user_id: 'alice', id: first.id })).before);
   * ```
   */
  mem_timeline(input: OfUser & { readonly id: string }, options?: OperationOptions): Promise<MemTimeline>;
  /**
   * Counts the observations of a user, by type.
   *
   * @example
   * ```ts
   * const { total, by_type } = await mem.mem_stats({ user_id: 'alice' });
   * ```
   */
  mem_stats(input: OfUser, options?: OperationOptions): Promise<MemStats>;
}

/**
 * Creates the functions. `memoryOf` returns the memory of a user; `moreTypes` are further types that `mem_save`
 * accepts.
 */
export function memFunctions(
  memoryOf: (user: string) => Promise<MemoryEngine>,
  moreTypes: readonly string[] = [],
): MemFunctions {
  const types: readonly string[] = [...OBSERVATION_TYPES, ...moreTypes];
  return withKnownInputs({
    async mem_session_start({ user_id }, options) {
      const memory = await memoryOf(user_id);
      const { sessionId, isNew, summaries, memories } = await memory.startSession(options);
      return {
        session_id: sessionId,
        is_new: isNew,
        sessions_context: summaries.map(summaryOf),
        memories: memories.map(contextMemoryOf),
      };
    },
    async mem_session_end({ user_id, summary }, options) {
      const memory = await memoryOf(user_id);
      const ended = await memory.endSession(summary, options);
      return { id: ended.id, outcome: outcomeOf(ended), session_id: ended.sessionId };
    },
    async mem_session_summary({ user_id, summary }, options) {
      const memory = await memoryOf(user_id);
      const saved = await memory.saveSummary(summary, options);
      const stored = await memory.get(saved.id);
      return { id: saved.id, outcome: outcomeOf(saved), session_id: stored?.sessionId ?? null };
    },
    async mem_save({ user_id, content, type, title, topic_key }, options) {
      if (!types.includes(type)) {
        throw invalid(
          'type',
          `${JSON.stringify(type)} is not one of ${types.join(', ')}; add it to the types`,
        );
      }
      const memory = await memoryOf(user_id);
      const sessionId = await memory.currentSession({ ...options, renew: true });
      const saved = await memory.remember(content, {
        type,
        title,
        topicKey: topic_key,
        sessionId,
        ...options,
      });
      const stored = await memory.get(saved.id);
      return {
        id: saved.id,
        outcome: outcomeOf(saved),
        session_id: stored?.sessionId ?? null,
        topic_key: stored?.topicKey ?? null,
      };
    },
    async mem_search({ user_id, query, limit, types, types_exclude }, options) {
      if (types && types_exclude) throw invalid('types_exclude', 'give types or types_exclude, not both');
      if (limit !== undefined) wholeNumber(limit, 'limit', 1, 1000);
      const memory = await memoryOf(user_id);
      const filter = { limit, types, typesExclude: types_exclude };
      const { hits } = await memory.recall(query, { strategy: 'lexical', ...filter, ...options });
      return hits.map(searchResultOf);
    },
    async mem_get_observation({ user_id, id }, options) {
      const memory = await memoryOf(user_id);
      const found = await memory.get(id, options);
      return found ? observationOf(found) : null;
    },
    async mem_timeline({ user_id, id }, options) {
      const memory = await memoryOf(user_id);
      const { signal } = options ?? {};
      const { before, memory: found, after } = await memory.timeline(id, { signal });
      return {
        before: before.map(observationOf),
        observation: observationOf(found),
        after: after.map(observationOf),
      };
    },
    async mem_stats({ user_id }, options) {
      const memory = await memoryOf(user_id);
      const { memories, byType } = await memory.stats({ signal: options?.signal });
      return { total: memories, by_type: byType };
    },
  });
}

function invalid(field: string, message: string): SalienceError {
  return new SalienceError('invalid_argument', `${field}: ${message}`, { details: { field } });
}

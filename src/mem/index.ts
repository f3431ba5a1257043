/**
 * The `mem_*` functions of iLAB Memory, on top of the engine: sessions and observations of many users.
 *
 * @example
 * ```ts
 * await using mem = openMem({ path: './memory' });
 * await mem.mem_save({ user_id: 'alice', type: 'preference', title: 'Coffee', content: 'Prefers dark roast' });
 * const results = await mem.mem_search({ user_id: 'alice', query: 'coffee' });
 * ```
 *
 * @module
 */

export type { MemFunctions, OfUser, SaveInput, SearchInput } from './facade.ts';
export { type Mem, type MemOptions, openMem } from './open.ts';
export type {
  ContextMemory,
  MemSession,
  MemStats,
  MemTimeline,
  Observation,
  ObservationType,
  SavedObservation,
  SavedSummary,
  SaveOutcome,
  SearchResult,
  SessionSummary,
} from './shapes.ts';

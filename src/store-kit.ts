/**
 * What it takes to keep memories elsewhere: the port, the rules that every store shares, and ranking for a store that
 * knows nothing but records. Hold a store of your own to the contract with `storeContract` of `salience/testing`.
 *
 * @example
 * ```ts
 * import { openMemory } from 'salience';
 * import { createSqliteStore } from 'salience/sqlite';
 * import type { Store } from 'salience/store';
 *
 * const store: Store = createSqliteStore({ directory: './memory' }); // or one of your own
 * await using memory = await openMemory({ store, path: './memory', space: 'alice' });
 * ```
 *
 * @module
 */

export type { FieldFilter, SortDirection, SortName } from './domain/fields.ts';
export type { MemoryRecord } from './domain/memory.ts';
export { DEFAULT_SETTINGS, type SpaceSettings } from './domain/settings.ts';
export { parseSpaceName } from './domain/space.ts';
export { snapshotOfState } from './search/records.ts';
export { closedError, missingSpace, openedReadOnly } from './store/faults.ts';
export { openPast } from './store/past.ts';
export { createQueue, type Queue } from './store/queue.ts';
export {
  afterRecording,
  type Keep,
  type LogPlace,
  type Moment,
  type NewRecording,
  type RecordedHit,
  type Recording,
  type RecordingDetails,
  type RecordingRequest,
  recordingsOf,
  recordingWithout,
} from './store/recording.ts';
export { derivePage, neverQuiet, REINDEX_ROUNDS } from './store/reindexing.ts';
export { type Past, rewind } from './store/rewind.ts';
export {
  emptyState,
  lastSequence,
  type SearchableMemory,
  type State,
  stored,
  versionOf,
} from './store/state.ts';
export { infoOf, readerOf } from './store/state-reader.ts';
export { afterUse, afterWrite } from './store/state-writer.ts';
export type {
  CastVote,
  Change,
  Decision,
  Dynamics,
  EmbeddingInfo,
  Exclusion,
  Feed,
  FeedPlace,
  FieldCondition,
  FindBy,
  IndexedText,
  Inspection,
  Link,
  LinkChange,
  LinkKind,
  ListAnswer,
  ListRequest,
  MemoryEvent,
  MemoryFilter,
  NewPair,
  NewUsage,
  OpenSpaceOptions,
  OperationSummary,
  OperationsRequest,
  PairKind,
  PastSpace,
  PreparedQuery,
  ReindexRequest,
  ScoredMemory,
  SearchAnswer,
  SearchRequest,
  Session,
  SimilarPair,
  Snapshot,
  SpaceCore,
  SpaceInfo,
  SpaceReader,
  SpaceStore,
  Statement,
  Store,
  Tombstone,
  Usage,
  UseBefore,
  UseDecision,
  Verb,
  Vote,
  WriteEntry,
} from './store/store.ts';
export { withReader } from './store/with-reader.ts';

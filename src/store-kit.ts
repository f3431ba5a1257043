/**
 * The kit for custom stores: the port, the rules that every store shares, and `withSearch`, which adds ranking to a store.
 * Test a custom store with `storeContract` of `salience/testing`.
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
export {
  endsOf,
  foldedName,
  namesOfEntity,
  type RelationRecord,
  relationId,
  relationIds,
} from './domain/relation.ts';
export { DEFAULT_SETTINGS, type SpaceSettings } from './domain/settings.ts';
export { parseSpaceName } from './domain/space.ts';
export { withSearch } from './search/residence.ts';
export type { ActivityPart, ActivityPlace, StampedPlace } from './store/activity.ts';
export {
  COPY_PARTS,
  type CopyHead,
  type CopyKey,
  type CopyPart,
  type CopyRange,
  type CopyRow,
  type CopyRows,
  type CopySource,
  type CopyTarget,
  type StoreCopying,
  termsToCopy,
} from './store/copying.ts';
export { closedError, missingSpace, openedReadOnly } from './store/faults.ts';
export { ATTEMPTS, overtaken, unlessOvertaken } from './store/moment.ts';
export { stampOf } from './store/position.ts';
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
export type { Room } from './store/room.ts';
export type {
  Awaitable,
  Feed,
  IndexedRow,
  IndexRows,
  KeyedRows,
  PlaceOfPart,
  Position,
  SavedPages,
  WaitingApart,
  WrittenRow,
} from './store/rows.ts';
export { emptyState, lastSequence, type SearchableMemory, type State, stored } from './store/state.ts';
export { infoOf, readerOf } from './store/state-reader.ts';
export { createNumbers, type Numbers, type StateSnapshot, snapshotOfState } from './store/state-rows.ts';
export { coreOfState, type KeptSpace, keepSpace } from './store/state-space.ts';
export { afterUse, afterWrite } from './store/state-writer.ts';
export type {
  CastVote,
  Change,
  Decision,
  Dynamics,
  EmbeddingInfo,
  EventQuery,
  Exclusion,
  FieldCondition,
  FindBy,
  IndexedText,
  Inspection,
  Link,
  LinkChange,
  LinkKind,
  ListAnswer,
  ListRequest,
  Made,
  MemoryEvent,
  MemoryFilter,
  Neighbours,
  NewPair,
  NewUsage,
  OpenSpaceOptions,
  OperationSummary,
  OperationsRequest,
  PairKind,
  PairQuery,
  PastSpace,
  PreparedQuery,
  ReindexRequest,
  ScoredMemory,
  SearchAnswer,
  SearchRequest,
  Session,
  SharedTexts,
  SimilarPair,
  Snapshot,
  SpaceCore,
  SpaceInfo,
  SpaceReader,
  SpaceState,
  SpaceStore,
  Statement,
  Store,
  StoreReader,
  StoreSnapshot,
  Tombstone,
  Usage,
  UseBefore,
  UseDecision,
  Verb,
  Vote,
  WriteEntry,
} from './store/store.ts';

/// <reference lib="esnext.disposable" preserve="true" />

import type { DynamicField, FieldFilter, SortDirection, SortName } from '../domain/fields.ts';
import type { LinkKind, MemoryRecord } from '../domain/memory.ts';
import type { MetadataCondition } from '../domain/metadata-condition.ts';
import type { RelationRecord } from '../domain/relation.ts';
import type { SpaceSettings } from '../domain/settings.ts';
import type { Instant } from '../domain/time.ts';
import type { WRITES } from '../domain/verbs.ts';
import type { ResolvedProfile } from '../scoring/profile.ts';
import type { Signals } from '../scoring/signals.ts';
import type { CountedWords } from '../scoring/word-counts.ts';
import type { DateRange } from '../text/dates/dates.ts';
import type { StandIn } from '../text/spelling.ts';
import type { ActivityPart, ActivityPlace } from './activity.ts';
import type { StoreCopying } from './copying.ts';
import type { UndoProblem } from './faults.ts';
import type { Keep, LogPlace, Moment, NewRecording, Recording, RecordingRequest } from './recording.ts';
import type { Room } from './room.ts';
import type { IndexRows, Position } from './rows.ts';
import type { State } from './state.ts';

export { LINK_KINDS, type LinkKind } from '../domain/memory.ts';

/**
 * The port between the engine and the stores. It is asynchronous and free of any database's types. Every adapter
 * passes the suite in `testing/store-contract.ts`.
 */
export interface Store extends AsyncDisposable {
  /** Opens a space, and creates it if it does not exist. Throws `not_a_store`, `newer_store`, `not_found` (read-only). */
  openSpace(name: string, options?: OpenSpaceOptions): Promise<SpaceStore>;
  /** The names of all spaces, sorted. */
  listSpaces(): Promise<readonly string[]>;
  /**
   * Deletes a space and everything in it, permanently. Closes this store's handles of the space first. Throws
   * `not_found`. Throws `store_busy`, and deletes nothing, while another process has the space open.
   */
  deleteSpace(name: string): Promise<void>;
  /** Texts that belong to no space, for stores that processes on several machines share. */
  readonly shared?: SharedTexts | undefined;
  /**
   * Rejects while the store cannot be written to: it is unreachable, its schema does not fit, or its disk is full.
   * Absent for stores where that cannot happen.
   */
  readonly ready?: (() => Promise<void>) | undefined;
  /** Copies whole spaces into and out of the store (see `copySpace`). Absent if the store does not support it. */
  readonly copying?: StoreCopying | undefined;
  close(): Promise<void>;
}

/** Small texts by kind and id, such as server tokens. Each call sees everything that any process wrote before it. */
export interface SharedTexts {
  get(kind: string, id: string): Promise<string | undefined>;
  /** Throws `already_exists`. */
  add(kind: string, id: string, text: string): Promise<void>;
  /** Writes a text, and replaces the one that is there. */
  put(kind: string, id: string, text: string): Promise<void>;
  /** Removes a text. Returns whether there was one. */
  remove(kind: string, id: string): Promise<boolean>;
  /**
   * Runs `work`. Each write of `work` to a space of this store also replaces the existing text of this kind and id by
   * `text`, in the same transaction. Absent if the store cannot do that.
   */
  along?<Result>(kind: string, id: string, text: string, work: () => Promise<Result>): Promise<Result>;
  /** The ids of a kind, in no particular order. */
  ids(kind: string): Promise<readonly string[]>;
}

export interface OpenSpaceOptions {
  /** Writes nothing, and does not create the file. Default is false. */
  readonly readOnly?: boolean | undefined;
  /** Throws `not_found` instead of making a space that does not exist. Default is false, and true with `readOnly`. */
  readonly mustExist?: boolean | undefined;
  /** The settings of a new space. An existing space keeps its own. Default is {@link DEFAULT_SETTINGS}. */
  readonly settings?: SpaceSettings | undefined;
  /** The memory that the process allows for the index of this space. Default is unlimited. */
  readonly room?: Room | undefined;
}

/**
 * One space, as a store implements it: it stores, it does not search. `withSearch` turns it into the `SpaceStore` that
 * the engine uses. No operation reads or changes another space.
 */
export interface SpaceCore {
  readonly name: string;
  /**
   * What a write that redacts has erased when it resolves: `bytes`, every byte that the store ever wrote of the memory,
   * or `rows`, whose bytes the database frees later.
   */
  readonly erases: 'bytes' | 'rows';
  /**
   * Performs one atomic write. `decide` reads inside the transaction, awaits nothing but its reader, and returns the
   * changes. They are applied, logged as one operation, and durable when the promise resolves. If anything throws,
   * nothing is changed. A store that calls `decide` before it locks calls it again after a concurrent write, so `decide`
   * must have no effect other than what it returns.
   */
  write<Result>(
    entry: WriteEntry,
    decide: (reader: StoreReader) => Promise<Decision<Result>>,
  ): Promise<Result>;
  /**
   * Calls `work` with a consistent snapshot: the space as of the last write and use that any process had committed when
   * the snapshot began, whatever is written meanwhile. `work` awaits nothing but the snapshot, which ends with it. A
   * store that cannot hold a snapshot checks whether anything was written meanwhile and throws `overtaken` (see
   * `unlessOvertaken`). `work` is then called again on a later snapshot, at most three times in all.
   */
  snapshot<Result>(work: (snapshot: StoreSnapshot) => Promise<Result>): Promise<Result>;
  /**
   * Records that memories were used: adds one row to the usage log and updates counters, clocks, tiers and co-retrieval
   * links, in one transaction. `decide` reads inside it, so that concurrent uses do not overwrite each other. It may be
   * called again, as in `write`. Memories that were removed meanwhile are skipped. For every effect except `reinforce`,
   * a store may apply the decided dynamics as increments: counts are added, and instants only move forward. Returns the
   * sequence of the row.
   */
  use(usage: NewUsage, decide: (reader: StoreReader) => Promise<UseDecision>): Promise<number>;
  /**
   * Adds a recording to the log of recalls, removes what `keep` no longer allows, and returns the sequence of the
   * recording. With a recording, a store may remove old rows in parts and leave query texts in place. Without one, it
   * removes everything that `keep` forbids and returns the sequence of the last recording. Writes no event, so a
   * recording can be neither undone nor looked back at. Throws as `use` does.
   */
  record(recording: NewRecording | undefined, keep: Keep): Promise<number>;
  info(): Promise<SpaceInfo>;
  /** Replaces the data derived from texts (vectors, term counts) of all memories, in one transaction. */
  reindex(request: ReindexRequest): Promise<void>;
  /**
   * Writes a complete copy into a new file. Unless the space is read-only, stores the time as
   * {@link SpaceInfo.lastBackup}. Throws `already_exists`, and `invalid_argument` if the store cannot make backups.
   */
  backup(path: string, at?: Instant): Promise<void>;
  /** Reads the whole space as one consistent `State`, from which a look back starts. Exactness matters here, not speed. */
  everything(): Promise<State>;
  /** Looks for damage. An empty list means a healthy store. */
  check(): Promise<readonly string[]>;
  /**
   * Saves an index in place of the previous one, so that the next process opens quickly. Does nothing if anything was
   * written after `position`: that write may have forgotten a memory that the index still holds. Absent if the store
   * cannot save an index.
   */
  savePages?: ((parts: ReadonlyMap<string, Uint8Array>, position: Position) => Promise<void>) | undefined;
  /** Waits for operations in progress. Called once. */
  close(): Promise<void>;
}

/** A space as the engine uses it. */
export interface SpaceStore
  extends Omit<SpaceCore, 'write' | 'use' | 'snapshot' | 'everything' | 'savePages'>,
    SpaceReader,
    AsyncDisposable {
  /** See {@link SpaceCore.write}. Throws `invalid_argument` if `decide` uses the space other than through its reader. */
  write<Result>(
    entry: WriteEntry,
    decide: (reader: SpaceReader) => Promise<Decision<Result>>,
  ): Promise<Result>;
  /** See {@link SpaceCore.use}. */
  use(usage: NewUsage, decide: (reader: SpaceReader) => Promise<UseDecision>): Promise<number>;
  /**
   * See {@link SpaceCore.snapshot}. `work` may be called more than once. It must not call a model. Throws
   * `invalid_argument` if `work` uses the space other than through its snapshot, and `store_busy` if the space was
   * written to during each of three attempts.
   */
  snapshot<Result>(work: (snapshot: Snapshot) => Promise<Result>): Promise<Result>;
  /** A value that changes after every commit of any process. It may also change without one. Cheap to read. */
  version(): Promise<unknown>;
  /**
   * Returns the space as it was at a past moment, read-only, by undoing both logs step by step. Memories that were
   * forgotten since are missing. `derive` computes the text data of memories whose text has changed since; it is called
   * outside any transaction. Throws `invalid_argument` for an instant before the first write.
   */
  asKnown(
    known: Instant | Moment,
    derive: (memories: readonly MemoryRecord[]) => Promise<readonly IndexedText[]>,
  ): Promise<PastSpace>;
  /** About how many bytes closing the space would free. */
  residentBytes(): number;
  /** Refuses further calls, waits for those in progress, and saves the index so that the next opening is quick. */
  close(): Promise<void>;
}

/**
 * The reads that a store implements, all from one consistent snapshot. `convenient` builds the rest of `SpaceReader`
 * from them.
 */
export interface StoreReader
  extends Pick<
    SpaceReader,
    | 'get'
    | 'find'
    | 'list'
    | 'around'
    | 'uncompared'
    | 'session'
    | 'votes'
    | 'tombstones'
    | 'usage'
    | 'operations'
    | 'place'
    | 'recordings'
  > {
  /** The settings of the space, and the embedding model and analyzer of its vectors and terms. */
  state(): Promise<SpaceState>;
  /** Events, oldest first. */
  events(query: EventQuery): Promise<readonly MemoryEvent[]>;
  /** Known similar pairs, in the order in which they were queued. */
  pairs(query: PairQuery): Promise<readonly SimilarPair[]>;
  /** The stored links of these memories, each once. With `among`, only links that have both ends in `ids`. */
  storedLinks(ids: readonly string[], options?: { readonly among?: boolean }): Promise<readonly Link[]>;
  /** The relations that memories state, selected by `query`; each once, in any order. */
  stated(query: StatedQuery): Promise<readonly StatedRelationRow[]>;
  /** The fields that decide whether these memories are visible, in the order of `ids`; `undefined` for an unknown id. */
  standing(ids: readonly string[]): Promise<readonly (Standing | undefined)[]>;
  /** The neighbours of these memories in the session that each was made in, in order; `undefined` outside any session. */
  neighbours(ids: readonly string[]): Promise<readonly (Neighbours | undefined)[]>;
}

export interface SpaceState {
  readonly settings: SpaceSettings;
  readonly embedding: EmbeddingInfo | undefined;
  readonly analyzer: string | undefined;
}

/** Selects events: of a memory, of an operation, of a run, or the first `limit` after a sequence. */
export type EventQuery =
  | { readonly memory: string }
  | { readonly operation: number }
  | { readonly run: string }
  | { readonly after: number; readonly limit: number }
  /** For each memory that no longer exists, the last event that has its record (`before`). */
  | { readonly removed: true };

/** Selects relations: those that begin or end at one of the entities `ends`, or those with one of these subjects and names. */
export type StatedQuery =
  | { readonly ends: readonly string[] }
  | { readonly subjects: readonly Pick<RelationRecord, 'from' | 'name'>[] };

/** One relation, and the memory that states it. */
export interface StatedRelationRow {
  readonly memory: Standing;
  readonly relation: RelationRecord;
}

/** The fields that decide whether a memory is visible, and its title. */
export type Standing = Pick<
  MemoryRecord,
  | 'id'
  | 'ordinal'
  | 'scope'
  | 'type'
  | 'title'
  | 'kind'
  | 'tier'
  | 'core'
  | 'createdAt'
  | 'validFrom'
  | 'validUntil'
  | 'expiresAt'
  | 'invalidatedAt'
  | 'consolidatedAt'
>;

/**
 * Selects pairs: the first `waiting` unjudged ones, queued after the pair `after`; those of these memories; or the one
 * with this sequence.
 */
export type PairQuery =
  | { readonly waiting: number; readonly after: number }
  | { readonly of: readonly string[] }
  | { readonly sequence: number };

/** A memory made in a session, with its predecessor and successor in that session, by creation time, then ordinal. */
export interface Neighbours {
  readonly memory: Made;
  readonly before: Made | undefined;
  readonly after: Made | undefined;
}

export type Made = Pick<MemoryRecord, 'id' | 'createdAt'>;

/** A consistent snapshot of a space, as a store provides it. */
export interface StoreSnapshot extends StoreReader, IndexRows {
  /** The sequence of the last event in the snapshot. */
  sequence(): Promise<number>;
}

export interface SpaceReader {
  /** The memories with these ids, in order; `undefined` for an unknown id. */
  get(ids: readonly string[]): Promise<readonly (MemoryRecord | undefined)[]>;
  /**
   * The links of these memories, each once: the stored ones, and the `sequence` links of weight 0.5 that connect each
   * memory with its predecessor and successor in the session that it was made in (by creation time, then ordinal).
   * Leaves out links whose weight is below `minimum`, and `sequence` links if `sequence` is false.
   */
  links(ids: readonly string[], minimum?: number, sequence?: boolean): Promise<readonly Link[]>;
  /** The memories that have one of these values, by creation time, then ordinal. */
  find(by: FindBy, values: readonly string[]): Promise<readonly MemoryRecord[]>;
  /**
   * The first `limit` similar pairs that nobody has judged yet, in the order in which they were queued; with `after`,
   * those with a higher sequence. A pair is dropped, and no longer known, when the title or content of either memory
   * changes or either memory is removed.
   */
  pendingPairs(limit: number, after?: number): Promise<readonly SimilarPair[]>;
  /** The known pairs of these memories, settled ones included, each once, in the order in which they were queued. */
  knownPairs(ids: readonly string[]): Promise<readonly SimilarPair[]>;
  /** The known pair with this sequence, settled or not. */
  pair(sequence: number): Promise<SimilarPair | undefined>;
  /** At most `count` memories created just before `memory`, and at most `count` just after it; each list oldest first. */
  around(
    memory: Pick<MemoryRecord, 'id' | 'createdAt' | 'ordinal'>,
    count: number,
  ): Promise<{ readonly before: readonly MemoryRecord[]; readonly after: readonly MemoryRecord[] }>;
  /** The session with this id; without an id, the open session that began last. */
  session(id?: string): Promise<Session | undefined>;
  /** The latest vote of each voter on a memory, sorted by voter. */
  votes(id: string): Promise<readonly CastVote[]>;
  /** The tombstones of these statements, in order; `undefined` for a statement that was not invalidated. */
  tombstones(statements: readonly Statement[]): Promise<readonly (Tombstone | undefined)[]>;
  /**
   * The first `limit` hot memories that were not compared with the others since their title or content last changed or
   * the embedding model of the space changed; in insertion order.
   */
  uncompared(limit: number): Promise<readonly MemoryRecord[]>;
  /** The stored links that have both ends in `ids`. */
  linksAmong(ids: readonly string[]): Promise<readonly Link[]>;
  /** The removed memories that the log still has: the last version of each, in the order of removal. */
  removed(): Promise<readonly MemoryRecord[]>;
  /** See {@link StoreReader.stated}. */
  stated(query: StatedQuery): Promise<readonly StatedRelationRow[]>;
  /** See {@link StoreReader.standing}. */
  standing(ids: readonly string[]): Promise<readonly (Standing | undefined)[]>;
  /** The events of one memory, oldest first. */
  history(id: string): Promise<readonly MemoryEvent[]>;
  /** One page of memories, in the order of the request. */
  list(request: ListRequest): Promise<ListAnswer>;
  settings(): Promise<SpaceSettings>;
  /** The embedding model of the stored vectors, and the analyzer of the stored terms. */
  derivation(): Promise<{
    readonly embedding: EmbeddingInfo | undefined;
    readonly analyzer: string | undefined;
  }>;
  /** The current end of both logs. */
  place(): Promise<LogPlace>;
  /** Recorded recalls, newest first. */
  recordings(request: RecordingRequest): Promise<readonly Recording[]>;
  /** Rows of the usage log after the sequence `after`, oldest first. Default is all. */
  usage(after?: number, limit?: number): Promise<readonly Usage[]>;
  /** At most `limit` entries of both logs after a place, in the order in which they happened; without a place, none. */
  activity(after: ActivityPlace | undefined, limit: number): Promise<ActivityPart>;
  /** The sequences of the operations of a run, oldest first. */
  run(id: string): Promise<readonly number[]>;
  /** The latest operations, newest first. */
  operations(request: OperationsRequest): Promise<readonly OperationSummary[]>;
  /** The events of one operation, oldest first. */
  operation(sequence: number): Promise<readonly MemoryEvent[]>;
}

/** A consistent snapshot of a space: everything that one recall reads. */
export interface Snapshot extends SpaceReader {
  /** See {@link SpaceStore.version}. */
  version(): Promise<unknown>;
  /** The sequence of the last event in the snapshot. */
  sequence(): Promise<number>;
  /**
   * Ranks all eligible memories by the whole formula and returns the exact top `limit`, with the bound that proves it.
   * Throws `embedder_mismatch` if the query vector has another length than those of the space.
   */
  search(request: SearchRequest): Promise<SearchAnswer>;
  /** The scores and eligibility of these memories in a search, ranked or not, in order. `undefined` for an unknown id. */
  inspect(
    ids: readonly string[],
    request: Omit<SearchRequest, 'limit'>,
  ): Promise<readonly (Inspection | undefined)[]>;
  /** The ids, in order, of the memories among `ids` that a recall with this filter may return. */
  visible(ids: readonly string[], request: Pick<SearchRequest, 'filter' | 'now'>): Promise<readonly string[]>;
  /** The vectors of these memories, in order; `undefined` for a memory without one. */
  vectors(ids: readonly string[]): Promise<readonly (Float32Array | undefined)[]>;
}

/** What the log records about one operation. */
export interface WriteEntry {
  readonly verb: Verb;
  readonly at: Instant;
  /** The operation that this one undoes. Throws `cannot_undo` if it is unknown, redacted, already undone or itself an undo. */
  readonly undoes?: number | undefined;
  /** Allows undoing an operation if some of its memories were forgotten since. Default is false, which throws `cannot_undo`. */
  readonly partly?: boolean | undefined;
  /** The run that the operation is part of: at most 128 characters. */
  readonly run?: string | undefined;
}

export type Verb = (typeof WRITES)[number];

export interface Decision<Result> {
  readonly changes: readonly Change[];
  readonly result: Result;
  /** Set when the space gets its first vectors. */
  readonly embedding?: EmbeddingInfo | undefined;
  /** Set when the space gets its first terms. Throws `embedder_mismatch` when its terms come from another analyzer. */
  readonly analyzer?: string | undefined;
  /** Set when the settings of the space change. Logged as one event, which has the previous settings. */
  readonly settings?: SpaceSettings | undefined;
}

/** One change that a write makes. */
export type Change =
  /** Adds a memory. If its `ordinal` is 0, it gets the next one of the space. */
  | { readonly kind: 'insert'; readonly memory: MemoryRecord; readonly indexed: IndexedText }
  /** Replaces a memory. Without `indexed`, its text and the data derived from it are unchanged. */
  | { readonly kind: 'replace'; readonly memory: MemoryRecord; readonly indexed?: IndexedText | undefined }
  | { readonly kind: 'remove'; readonly id: string }
  /**
   * Removes a memory permanently: afterwards its text is in no row, event, derived table, free page or log of the
   * store. Its events, and recordings that name it, stay in redacted form (see `recordingWithout`).
   */
  | { readonly kind: 'redact'; readonly id: string }
  /** Adds a link, or sets weight and `at` of the existing link of this kind. Throws `not_found` if an end is missing. */
  | { readonly kind: 'link'; readonly link: Link }
  /** Removes the stored links between two memories. Default is links of all kinds. */
  | {
      readonly kind: 'unlink';
      readonly ids: readonly [string, string];
      readonly kinds?: readonly LinkKind[] | undefined;
    }
  /**
   * Adds a pair of memories to the end of the queue of unjudged pairs. Does nothing if the two memories already form a
   * known pair, settled or not, in either order; but a possible update replaces a similar pair that is still unjudged.
   * Throws `not_found` if a memory is missing. This change and all those below record work, not belief: the log has no
   * event for them.
   */
  | { readonly kind: 'queue-pair'; readonly pair: NewPair }
  /** Increments `attempts` of these pairs: a model was asked and gave no usable answer. */
  | { readonly kind: 'attempt-pairs'; readonly sequences: readonly number[] }
  /** Takes a pair out of the queue and stores how it was judged. */
  | { readonly kind: 'settle-pair'; readonly sequence: number; readonly resolution: string }
  /**
   * Puts the pairs that an operation judged or dropped at the end of the queue again, when the operation is undone.
   * Skips pairs that are known again, and pairs with a missing memory. `unchanged` are the ids of memories that an undo
   * in part left as they are: also skips pairs that were judged if it contains the newer memory, and pairs that were
   * dropped if it contains either.
   */
  | {
      readonly kind: 'requeue-pairs';
      readonly operation: number;
      readonly unchanged?: readonly string[] | undefined;
    }
  /** Marks these memories as compared with the others (see `uncompared`). */
  | { readonly kind: 'compared'; readonly ids: readonly string[] }
  /** Adds a session, or replaces the one with this id. */
  | { readonly kind: 'session'; readonly session: Session }
  /** Remembers that a statement was invalidated, by a keyed hash, without its text. */
  | { readonly kind: 'add-tombstone'; readonly statement: Statement; readonly tombstone: Tombstone }
  /** Removes the tombstone of a statement. */
  | { readonly kind: 'remove-tombstone'; readonly statement: Statement }
  /** Replaces the voter's previous vote on the memory until it is withdrawn. Survives a removal, but not a redaction. */
  | { readonly kind: 'vote'; readonly id: string; readonly vote: Vote }
  /** Withdraws the votes of an operation. The votes that they replaced count again. */
  | { readonly kind: 'withdraw-votes'; readonly operation: number };

/** A voter's judgement of a memory: useful (1) or not (-1). */
export interface Vote {
  readonly voter: string;
  readonly vote: 1 | -1;
}

export interface CastVote extends Vote {
  /** The operation that cast it. */
  readonly operation: number;
}

/** Two memories of which one may replace or contradict the other. */
export interface NewPair {
  /** The id of the memory that was stated first. */
  readonly older: string;
  readonly newer: string;
  readonly kind: PairKind;
  /** 0–1. For `similar`, the cosine of the two vectors; for `update`, how far the words of the two agree. */
  readonly similarity: number;
}

/** `similar`: the two say nearly the same. `update`: the newer one gives another value for what the older one states. */
export type PairKind = 'similar' | 'update';

export interface SimilarPair extends NewPair {
  /** Its number in the queue, never used twice. */
  readonly sequence: number;
  /** When it was queued. */
  readonly at: Instant;
  /** How often a model was asked about it and gave no usable answer. */
  readonly attempts: number;
  /** How it was judged; `undefined` until then. */
  readonly resolution: string | undefined;
}

/**
 * The properties by which memories can be looked up:
 * - `content`: the normalised content (see `normalisedContent`); a stub is found by its full text
 * - `topicKey`, `sessionId`: exact match
 * - `supersedes`, `derivedFrom`: an id in the list
 * - `names`: a name of an entity (see `foldedName`)
 * - `ends`: the id of either end of a relation that the memory states
 * - `relations`: the id of a relation that the memory states (see `relationId`)
 */
export type FindBy =
  | 'content'
  | 'topicKey'
  | 'sessionId'
  | 'supersedes'
  | 'derivedFrom'
  | 'names'
  | 'ends'
  | 'relations';

/** A period of work during which memories are made. */
export interface Session {
  readonly id: string;
  readonly scope: string;
  readonly startedAt: Instant;
  /** The time of the last activity in it. */
  readonly activeAt: Instant;
  readonly endedAt: Instant | undefined;
}

/** Identifies an invalidated statement. Only a hash of its normalised content is stored, keyed with a secret of the space. */
export type Statement = Pick<MemoryRecord, 'scope' | 'content'>;

export interface Tombstone {
  readonly at: Instant;
  /** Empty once the memory it refers to was forgotten. */
  readonly reason: string;
}

/** A space as it was at a past moment. Read-only. */
export interface PastSpace extends SpaceStore {
  /** How many memories it has. */
  readonly memories: number;
  /** How many more memories the space had then that were forgotten since. */
  readonly redacted: number;
}

/** An undirected association of two memories. */
export interface Link {
  /** The two ends, in code-unit order. */
  readonly ids: readonly [string, string];
  readonly kind: LinkKind;
  /** 0–1, at the time `at`. The decay since then is computed when the link is read. */
  readonly weight: number;
  readonly at: Instant;
}

/** One recall that used memories. */
export interface NewUsage {
  readonly at: Instant;
  readonly strategy: string;
  readonly effect: 'reinforce' | 'count' | 'touch' | 'see';
  readonly queryHash: string;
  readonly sessionId: string | undefined;
  /** The memories that the caller saw, in order. */
  readonly used: readonly { readonly id: string; readonly direct: boolean }[];
}

export interface Usage extends NewUsage {
  readonly sequence: number;
  /** The sequence of the last event before it. */
  readonly after: number;
  /** The previous values of what it changed. Absent in rows written by older versions. */
  readonly before?: UseBefore | undefined;
}

/** The previous values of what a use changed. */
export interface UseBefore {
  readonly memories: readonly (Pick<MemoryRecord, 'id'> & Dynamics)[];
  readonly links: readonly LinkChange[];
}

/** The fields of a memory that a use may change. */
export type Dynamics = Pick<MemoryRecord, DynamicField>;

/**
 * What a use changes. Of each memory only the {@link Dynamics} are taken; the use writes no event. Throws
 * `invalid_argument` for a memory, or an end of a link, that is not in `used`: the usage log must name all that changed.
 */
export interface UseDecision {
  readonly memories: readonly MemoryRecord[];
  readonly links: readonly Link[];
}

/** The data derived from the text of a memory. */
export interface IndexedText {
  /** How often each term occurs in title, content and tags. */
  readonly terms: ReadonlyMap<string, number>;
  /** Of unit length; absent if there is no embedder or the embedder knows no word of the text. */
  readonly vector: Float32Array | undefined;
}

/** One row of the append-only log: a write to one memory, with the data needed to undo it. */
export interface MemoryEvent {
  /** Increases by at least 1 with every event of the space. */
  readonly sequence: number;
  /** The sequence of the first event of the same operation. */
  readonly operation: number;
  /** Never earlier than that of a previous event. */
  readonly at: Instant;
  readonly verb: Verb;
  readonly memoryId: string;
  /** The memory before the write; `undefined` if the write created it. */
  readonly before: MemoryRecord | undefined;
  /** Whether the memory was forgotten. The event has lost its text and cannot be undone. */
  readonly redacted: boolean;
  /** For an `undo`, the operation that it undid. */
  readonly undoes: number | undefined;
  /** Set if the event is about a link of this memory. `before` is then `undefined`. */
  readonly link: LinkChange | undefined;
  /** The previous settings, if the event is a change of settings. `memoryId` is then empty. */
  readonly settings: SpaceSettings | undefined;
  /** The run that the operation is part of. */
  readonly run: string | undefined;
}

export interface OperationsRequest {
  readonly limit: number;
  /** Only operations with a lower sequence. Default is all. */
  readonly before?: number | undefined;
  readonly verb?: Verb | undefined;
  /** The maximum number of memory ids to return for each operation. */
  readonly ids: number;
}

/** One operation of the log. */
export interface OperationSummary extends Pick<MemoryEvent, 'operation' | 'at' | 'verb' | 'undoes' | 'run'> {
  /** How many memories it wrote. */
  readonly memories: number;
  /** The first of these memories. */
  readonly ids: readonly string[];
  /** How many links it changed. */
  readonly links: number;
  readonly undoneBy: number | undefined;
  /** Why it cannot be undone; `undefined` if it can. */
  readonly problem: Exclude<UndoProblem, 'unknown'> | 'changed' | undefined;
}

export interface LinkChange {
  readonly link: Pick<Link, 'ids' | 'kind'>;
  /** `undefined` if there was no such link. */
  readonly before: Pick<Link, 'weight' | 'at'> | undefined;
}

export interface MemoryFilter {
  /** The scopes that the caller can see. Default is all. */
  readonly scopes?: readonly string[] | undefined;
  /** Only memories in this scope, or in any scope of a kind (`project:*`). Does not widen or narrow `scopes`. */
  readonly inScope?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly typesExclude?: readonly string[] | undefined;
  /** Only memories that carry all of these tags. */
  readonly tags?: readonly string[] | undefined;
  /** Only memories whose metadata meets all of these. */
  readonly metadata?: readonly MetadataCondition[] | undefined;
  /** The time at which memories must be valid. Default is the time of the search. */
  readonly validAt?: Instant | undefined;
  /** Also include cold, consolidated and superseded memories. Default is false. */
  readonly deep?: boolean | undefined;
  /** Also include cold memories, but not consolidated ones. Default is false. */
  readonly cold?: boolean | undefined;
  /** Also include plans and transient states whose validity has ended. Default is false. */
  readonly includeExpired?: boolean | undefined;
}

/** A query, analysed. */
export interface PreparedQuery {
  /** Distinct terms in code-unit order. */
  readonly terms: readonly string[];
  /** Unit length; absent without an embedder. */
  readonly vector?: Float32Array | undefined;
  /**
   * The model of the vector, and the analyzer of the terms. A search is refused if the space has others. Default is those
   * of the space.
   */
  readonly model?: string | undefined;
  readonly analyzer?: string | undefined;
  /** Set if the query has no terms: text that must occur in title, content or tags, ignoring case. */
  readonly substring?: string | undefined;
  /** For each term, the word of the query that it comes from, as written. */
  readonly written?: ReadonlyMap<string, string> | undefined;
  /** The text of the query, which is searched for names of authors. */
  readonly text?: string | undefined;
  /** The dates that the query names. */
  readonly dates?: readonly DateRange[] | undefined;
}

export interface SearchRequest {
  readonly profile: ResolvedProfile;
  readonly query: PreparedQuery;
  readonly filter: MemoryFilter;
  readonly now: Instant;
  readonly limit: number;
}

/** A memory with its score and everything the score was computed from. */
export interface ScoredMemory {
  readonly memory: MemoryRecord;
  readonly signals: Signals;
  /** The raw BM25 sum; 0 if no term matched. */
  readonly bm25: number;
  readonly score: number;
  /** The word counts behind its lexical signals; absent for a query without terms. */
  readonly words: CountedWords | undefined;
}

export interface SearchAnswer {
  /** Best first, scores above 0. */
  readonly hits: readonly ScoredMemory[];
  readonly completeness: 'exact' | 'approximate';
  /** No eligible memory outside the hits that meets the profile's requirements scores above this. */
  readonly upperBound: number;
  /** Memories in the space. */
  readonly total: number;
  /** Memories that pass the filter and are in a tier that it searches: hot ones, and cold ones with `deep` or `cold`. */
  readonly filtered: number;
  /** Cold memories in the space. Links may lead to them though they are not eligible. */
  readonly cold: number;
  /** Memories among `filtered` that meet all other conditions of eligibility too. */
  readonly eligible: number;
  /** Eligible memories that share a term with the query. */
  readonly lexicalMatches: number;
  /** Eligible memories that have a vector to compare with the query. */
  readonly withVector: number;
  /**
   * Eligible memories that meet the profile's requirements, its floor included. An upper bound if fewer are `scored` and
   * the profile has a floor or a requirement on `similarity`: an index may then count memories that it did not score and
   * whose bounds leave open whether they meet it. A higher `limit` brings it nearer to the exact count.
   */
  readonly candidates: number;
  /**
   * For a profile with a floor: eligible memories that meet all other requirements but not the floor, without those that
   * count as candidates. If the profile also has a requirement on `similarity`, an index may count memories that do not
   * meet it.
   */
  readonly belowFloor?: number | undefined;
  /** How many of the candidates were scored exactly. */
  readonly scored: number;
  /** The sequence of the snapshot. */
  readonly sequence: number;
  /**
   * Set by the first search after the index was rebuilt because the log no longer continues the one that the index
   * followed: the space was reindexed, or a backup restored.
   */
  readonly indexRebuilt?: true | undefined;
  /** The terms of the query that no visible memory has, and the terms that replaced them. */
  readonly spelling: readonly Spelling[];
  /** Milliseconds by stage. */
  readonly durations: {
    readonly eligible: number;
    readonly lexical: number;
    readonly vector: number;
    readonly score: number;
    /** Reading the memories that are returned. */
    readonly hydrate: number;
  };
}

export interface Spelling {
  readonly term: string;
  /** Best first. */
  readonly standIns: readonly StandIn[];
}

export interface Inspection extends Omit<ScoredMemory, 'memory'> {
  readonly id: string;
  readonly ordinal: number;
  /** Why the memory is not eligible; `undefined` if it is. */
  readonly excluded: Exclusion | undefined;
  /**
   * Index of the first requirement of the profile that the memory does not meet; the number of requirements if it only
   * fails the floor; `undefined` if it meets all.
   */
  readonly failedRequirement: number | undefined;
}

/** The eligibility condition that a memory does not meet. */
export type Exclusion =
  | 'scope'
  | 'elsewhere'
  | 'type'
  | 'tag'
  | 'metadata'
  | 'tier'
  | 'consolidated'
  | 'superseded'
  | 'invalidated'
  | 'expired'
  | 'not-yet-valid'
  | 'no-longer-valid';

/** A condition on one field of a memory. A memory without the field does not meet it. */
export interface FieldCondition extends FieldFilter {
  /** Instants as milliseconds. */
  readonly value: string | number | boolean;
}

export interface ListRequest {
  readonly filter: MemoryFilter;
  /** Only memories that meet all of these. */
  readonly where?: readonly FieldCondition[] | undefined;
  /**
   * Default is `updated`. Ties are sorted by ordinal in the same direction. A memory without the field sorts below all
   * others.
   */
  readonly sort?: SortName | undefined;
  /** Default is that of the sort in the table of fields. */
  readonly direction?: SortDirection | undefined;
  readonly limit: number;
  /** The maximum length of the JSON of a page. A page has at least one memory. Default is unlimited. */
  readonly maxCharacters?: number | undefined;
  /** `nextCursor` of an earlier answer. Throws `invalid_argument` if the sorting or the filter has changed since. */
  readonly cursor?: string | undefined;
  /** How many memories to skip before the page. Cannot be combined with a cursor. */
  readonly offset?: number | undefined;
  /**
   * The id of a memory to centre the page on, as far as the list has memories on both sides. Cannot be combined with a
   * cursor or an offset. Throws `not_found` if the list does not contain it.
   */
  readonly around?: string | undefined;
  /** Whether to count `total` and `position`. Default is false. */
  readonly count?: boolean | undefined;
}

export interface ListAnswer {
  readonly memories: readonly MemoryRecord[];
  /** Absent after the last page. */
  readonly nextCursor: string | undefined;
  /** How many memories the list has. */
  readonly total?: number | undefined;
  /** How many of them come before this page; `total` if the page is empty. */
  readonly position?: number | undefined;
}

export interface EmbeddingInfo {
  readonly model: string;
  readonly dimensions: number;
}

export interface SpaceInfo {
  readonly name: string;
  readonly memories: number;
  readonly vectors: number;
  readonly terms: number;
  readonly byType: Readonly<Record<string, number>>;
  readonly byScope: Readonly<Record<string, number>>;
  readonly byTier: Readonly<Record<string, number>>;
  /** Stored links, without the `sequence` links of sessions. */
  readonly links: number;
  /** Similar pairs that nobody has judged yet. */
  readonly pendingPairs: number;
  readonly events: number;
  readonly sequence: number;
  /** Absent before the first vector. */
  readonly embedding: EmbeddingInfo | undefined;
  /** The analyzer whose terms are stored; absent before the first memory. */
  readonly analyzer: string | undefined;
  readonly settings: SpaceSettings;
  /** When `backup` last copied the space; absent if it never did. */
  readonly lastBackup?: string | undefined;
  /** Bytes on disk; 0 in memory. */
  readonly bytes: number;
  /** The file that holds the space, if any. */
  readonly path: string | undefined;
  readonly schemaVersion: number;
}

export interface ReindexRequest {
  readonly analyzer: string;
  readonly embedding: EmbeddingInfo | undefined;
  /** Computes the new text data of a page of memories. Called outside any transaction. */
  derive(memories: readonly MemoryRecord[]): Promise<readonly IndexedText[]>;
  /** Called after each page. */
  progress?(done: number, total: number): void;
}

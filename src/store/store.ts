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
import type { DateRange } from '../text/dates.ts';
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
 * The port between the engine and whatever keeps memories. Asynchronous throughout, free of any database's types;
 * every adapter passes the suite in `testing/store-contract.ts`.
 */
export interface Store extends AsyncDisposable {
  /** Opens a space, making it if it does not exist. Throws `not_a_store`, `newer_store`, `not_found` (read-only). */
  openSpace(name: string, options?: OpenSpaceOptions): Promise<SpaceStore>;
  /** The names of all spaces, sorted. */
  listSpaces(): Promise<readonly string[]>;
  /**
   * Deletes a space and all that it holds, for good. What this store has open of it is closed. Throws `not_found`,
   * and `store_busy` while another process has it open: nothing is deleted then.
   */
  deleteSpace(name: string): Promise<void>;
  /** What belongs to no space, where several processes on several machines share the store. */
  readonly shared?: SharedTexts | undefined;
  /**
   * Rejects while the store cannot be written to: it cannot be reached, its schema does not fit, its disk is full. Absent
   * where that cannot happen.
   */
  readonly ready?: (() => Promise<void>) | undefined;
  /** Copies whole spaces out of the store and into it, with all that they hold (see `copySpace`); absent where it cannot. */
  readonly copying?: StoreCopying | undefined;
  close(): Promise<void>;
}

/** Small texts by kind and id, such as the tokens of servers. Each call sees what any process did before. */
export interface SharedTexts {
  get(kind: string, id: string): Promise<string | undefined>;
  /** Throws `already_exists`. */
  add(kind: string, id: string, text: string): Promise<void>;
  /** Writes one, in the place of what was there. */
  put(kind: string, id: string, text: string): Promise<void>;
  /** Whether there was one. */
  remove(kind: string, id: string): Promise<boolean>;
  /**
   * Does work, each write of which to a space of the store also writes this text in the place of one that is there, in the
   * same transaction. Absent where a write cannot.
   */
  along?<Result>(kind: string, id: string, text: string, work: () => Promise<Result>): Promise<Result>;
  /** The ids of a kind, in no order. */
  ids(kind: string): Promise<readonly string[]>;
}

export interface OpenSpaceOptions {
  /** Nothing is written, not even the file. Default is false. */
  readonly readOnly?: boolean | undefined;
  /** A space that is not there is not made: `not_found`. Default is false, and true with `readOnly`. */
  readonly mustExist?: boolean | undefined;
  /** Of a space that this makes; one that exists keeps its own. Default is {@link DEFAULT_SETTINGS}. */
  readonly settings?: SpaceSettings | undefined;
  /** Of the process, for the index of this space. Default is unlimited. */
  readonly room?: Room | undefined;
}

/**
 * One space, with all that a store must do for it: keep. `withSearch` makes of it what the engine uses. What happens here
 * neither sees nor changes anything of another space.
 */
export interface SpaceCore {
  readonly name: string;
  /**
   * What is gone when a write that redacts resolves: every byte that the store ever wrote of it, or its rows, whose
   * bytes the database frees later.
   */
  readonly erases: 'bytes' | 'rows';
  /**
   * One atomic write. `decide` reads inside the transaction, waits for nothing but its reader, and returns the
   * changes; they are applied, logged as one operation, and durable when this resolves. A throw changes nothing. A store
   * that decides before it locks calls it again when others were faster: only its answer may tell what it did.
   */
  write<Result>(
    entry: WriteEntry,
    decide: (reader: StoreReader) => Promise<Decision<Result>>,
  ): Promise<Result>;
  /**
   * Reads at one moment: everything that `work` reads of its snapshot is as of the last committed write and use of any
   * process when it began, whatever is written meanwhile. `work` waits for nothing but the snapshot, which ends with it.
   * A store that cannot hold a moment finds out whether something was written meanwhile, and throws `overtaken` (see
   * `unlessOvertaken`): `work` is then called again on a later moment, three times at most.
   */
  snapshot<Result>(work: (snapshot: StoreSnapshot) => Promise<Result>): Promise<Result>;
  /**
   * Records that memories were used: one row in the usage log, and what follows from it for counters, clocks, tiers
   * and co-retrieval links, as one transaction. `decide` reads inside it, so that concurrent uses lose nothing.
   * A memory that was removed meanwhile is passed over. `decide` may be called again, as in a write. What becomes of a
   * memory by another effect than `reinforce` may be taken as what is added to it: a count, and instants that only go on.
   * Returns the sequence of the row.
   */
  use(usage: NewUsage, decide: (reader: StoreReader) => Promise<UseDecision>): Promise<number>;
  /**
   * Records a recall, and removes what the log of recalls may not hold any longer; returns its sequence. What is too old
   * may then go in parts, and kept texts stay. Without a recording everything goes that must, and the answer is that of
   * the last recording. No event: it can neither be undone nor looked back at. Throws as `use` does.
   */
  record(recording: NewRecording | undefined, keep: Keep): Promise<number>;
  info(): Promise<SpaceInfo>;
  /** Replaces what is derived from the texts (vectors, term counts) of all memories at once, as one transaction. */
  reindex(request: ReindexRequest): Promise<void>;
  /**
   * Writes a complete copy into a new file, and keeps the moment, where it may write, for {@link SpaceInfo.lastBackup}. Throws
   * `already_exists`, `invalid_argument` where a store cannot.
   */
  backup(path: string, at?: Instant): Promise<void>;
  /** All that the space holds, of one moment: to look back from, where being exact comes before being quick. */
  everything(): Promise<State>;
  /** Looks for damage. An empty list means a healthy store. */
  check(): Promise<readonly string[]>;
  /**
   * Saves an index in place of the one that was saved before, so that the next process opens quickly; for nothing when
   * anything was written after its position, which may have forgotten what it holds. Left out where nothing can be saved.
   */
  savePages?: ((parts: ReadonlyMap<string, Uint8Array>, position: Position) => Promise<void>) | undefined;
  /** Waits for what is under way. Called once. */
  close(): Promise<void>;
}

/** A space as the engine uses it. */
export interface SpaceStore
  extends Omit<SpaceCore, 'write' | 'use' | 'snapshot' | 'everything' | 'savePages'>,
    SpaceReader,
    AsyncDisposable {
  /** See {@link SpaceCore.write}. Nothing else of the space may be asked within `decide`: `invalid_argument`. */
  write<Result>(
    entry: WriteEntry,
    decide: (reader: SpaceReader) => Promise<Decision<Result>>,
  ): Promise<Result>;
  /** See {@link SpaceCore.use}. */
  use(usage: NewUsage, decide: (reader: SpaceReader) => Promise<UseDecision>): Promise<number>;
  /**
   * Reads at one moment, as {@link SpaceCore.snapshot} does. `work` may be called more than once, and asks no model, and
   * nothing of the space but its snapshot: `invalid_argument`. Throws `store_busy` when the space was written to during
   * each of three attempts.
   */
  snapshot<Result>(work: (snapshot: Snapshot) => Promise<Result>): Promise<Result>;
  /** Another value once anything was committed, by any process; it may differ for no reason. Cheap. */
  version(): Promise<unknown>;
  /**
   * The space as it was at a moment of the past, to read from: walked back along both logs. What was forgotten since
   * is missing. `derive` computes the text data of memories whose text was another one then; called outside of any
   * transaction. Throws `invalid_argument` for an instant before the first write.
   */
  asKnown(
    known: Instant | Moment,
    derive: (memories: readonly MemoryRecord[]) => Promise<readonly IndexedText[]>,
  ): Promise<PastSpace>;
  /** About how many bytes closing the space would free. */
  residentBytes(): number;
  /** Waits for what is under way, saves what makes the next opening quick, and refuses everything else. */
  close(): Promise<void>;
}

/**
 * What a store reads, all of one moment. The forms that the engine uses are made of it, once, in `convenient`: what is
 * left out here follows from what is there.
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
  /** What was decided for the space, and what its vectors and terms were made with. */
  state(): Promise<SpaceState>;
  /** Events, oldest first. */
  events(query: EventQuery): Promise<readonly MemoryEvent[]>;
  /** Similar pairs that are known, in the order in which they were put into the queue. */
  pairs(query: PairQuery): Promise<readonly SimilarPair[]>;
  /** The stored links of these memories, each once; with `among`, only those both of whose ends are among them. */
  storedLinks(ids: readonly string[], options?: { readonly among?: boolean }): Promise<readonly Link[]>;
  /** What memories state of relations with one of these ends, or of these subjects; each once, in any order. */
  stated(query: StatedQuery): Promise<readonly StatedRelationRow[]>;
  /** What decides whether these memories are visible, in order, and what they are called; `undefined` where there is none. */
  standing(ids: readonly string[]): Promise<readonly (Standing | undefined)[]>;
  /** What stands beside these memories in the session that each was made in, in order; `undefined` for one made in none. */
  neighbours(ids: readonly string[]): Promise<readonly (Neighbours | undefined)[]>;
}

export interface SpaceState {
  readonly settings: SpaceSettings;
  readonly embedding: EmbeddingInfo | undefined;
  readonly analyzer: string | undefined;
}

/** Which events: those of a memory, of an operation, of a run, or the first so many after a sequence. */
export type EventQuery =
  | { readonly memory: string }
  | { readonly operation: number }
  | { readonly run: string }
  | { readonly after: number; readonly limit: number }
  /** Of each memory that is not there any more, the last event that says what it was before. */
  | { readonly removed: true };

/** Which relations: those that begin or end at one of these memories, or of these names from these memories. */
export type StatedQuery =
  | { readonly ends: readonly string[] }
  | { readonly subjects: readonly Pick<RelationRecord, 'from' | 'name'>[] };

/** One relation as a memory states it. */
export interface StatedRelationRow {
  readonly memory: Standing;
  readonly relation: RelationRecord;
}

/** What decides whether a memory is visible, and what it is called. */
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

/** Which pairs: the first that wait to be judged, those of these memories, or the one of this sequence. */
export type PairQuery =
  | { readonly waiting: number }
  | { readonly of: readonly string[] }
  | { readonly sequence: number };

/** A memory made in a session, with the one before and the one after it there, by creation, then ordinal. */
export interface Neighbours {
  readonly memory: Made;
  readonly before: Made | undefined;
  readonly after: Made | undefined;
}

export type Made = Pick<MemoryRecord, 'id' | 'createdAt'>;

/** A space at one moment, as a store gives it. */
export interface StoreSnapshot extends StoreReader, IndexRows {
  /** That of the last event that is seen. */
  sequence(): Promise<number>;
}

export interface SpaceReader {
  /** The memories of these ids, in order; `undefined` where there is none. */
  get(ids: readonly string[]): Promise<readonly (MemoryRecord | undefined)[]>;
  /**
   * The links of these memories, each link once: those that are stored, and those that follow from sessions (each
   * memory with the one before and the one after it in the session it was made in, by creation, then ordinal: `sequence`,
   * weight 0.5).
   * Only those whose stored weight is at least `minimum`; without those of sessions where `sequence` is false.
   */
  links(ids: readonly string[], minimum?: number, sequence?: boolean): Promise<readonly Link[]>;
  /** The memories with one of these values, by creation, then ordinal. */
  find(by: FindBy, values: readonly string[]): Promise<readonly MemoryRecord[]>;
  /**
   * The queue of similar pairs that wait to be judged, in the order in which they were put there. A pair is dropped,
   * and no longer known, when the title or content of one of its memories changes, or one of them is gone.
   */
  pendingPairs(limit: number): Promise<readonly SimilarPair[]>;
  /** The pairs of these memories that are known, settled ones included, each once, in the same order. */
  knownPairs(ids: readonly string[]): Promise<readonly SimilarPair[]>;
  /** The known pair of this sequence, settled or not. */
  pair(sequence: number): Promise<SimilarPair | undefined>;
  /** The memories created just before and just after one, each oldest first, at most `count`. */
  around(
    memory: Pick<MemoryRecord, 'id' | 'createdAt' | 'ordinal'>,
    count: number,
  ): Promise<{ readonly before: readonly MemoryRecord[]; readonly after: readonly MemoryRecord[] }>;
  /** The session of this id; without one, the open session that began last. */
  session(id?: string): Promise<Session | undefined>;
  /** The votes on a memory, one a voter, by voter. */
  votes(id: string): Promise<readonly CastVote[]>;
  /** What is left of statements that were invalidated, in order; `undefined` where there is nothing. */
  tombstones(statements: readonly Statement[]): Promise<readonly (Tombstone | undefined)[]>;
  /**
   * Hot memories that were not compared since their title or content last changed, or the space got another embedding
   * model: in the order in which they were written first.
   */
  uncompared(limit: number): Promise<readonly MemoryRecord[]>;
  /** The stored links between these memories, both ends among them. */
  linksAmong(ids: readonly string[]): Promise<readonly Link[]>;
  /** The memories that are only in the log, because they were removed: each as it was last, in the order of removal. */
  removed(): Promise<readonly MemoryRecord[]>;
  /** See {@link StoreReader.stated}. */
  stated(query: StatedQuery): Promise<readonly StatedRelationRow[]>;
  /** See {@link StoreReader.standing}. */
  standing(ids: readonly string[]): Promise<readonly (Standing | undefined)[]>;
  /** The events of one memory, oldest first. */
  history(id: string): Promise<readonly MemoryEvent[]>;
  /** One page of memories, in the order of the request. */
  list(request: ListRequest): Promise<ListAnswer>;
  /** What was decided for the space. */
  settings(): Promise<SpaceSettings>;
  /** What the vectors and terms were made with. */
  derivation(): Promise<{
    readonly embedding: EmbeddingInfo | undefined;
    readonly analyzer: string | undefined;
  }>;
  /** Where both logs end. */
  place(): Promise<LogPlace>;
  /** Recalls that were recorded, newest first. */
  recordings(request: RecordingRequest): Promise<readonly Recording[]>;
  /** The usage log, oldest first, after a sequence: so many, or all. */
  usage(after?: number, limit?: number): Promise<readonly Usage[]>;
  /** What both logs say after a place, in the order in which it happened; without a place nothing, from the end. */
  activity(after: ActivityPlace | undefined, limit: number): Promise<ActivityPart>;
  /** The sequences of the operations of a run, oldest first. */
  run(id: string): Promise<readonly number[]>;
  /** The latest operations, newest first. */
  operations(request: OperationsRequest): Promise<readonly OperationSummary[]>;
  /** The events of one operation, oldest first. */
  operation(sequence: number): Promise<readonly MemoryEvent[]>;
}

/** A space at one moment: all that one recall reads. */
export interface Snapshot extends SpaceReader {
  /** Another value once anything was committed, by any process; it may differ for no reason. */
  version(): Promise<unknown>;
  /** That of the last event that is seen. */
  sequence(): Promise<number>;
  /**
   * The true top `limit` of the whole formula over all eligible memories, together with the bound that proves it. Throws
   * `embedder_mismatch` for a vector of another length than the space's.
   */
  search(request: SearchRequest): Promise<SearchAnswer>;
  /** What a search makes of these memories, ranked or not, in order. `undefined` where there is none. */
  inspect(
    ids: readonly string[],
    request: Omit<SearchRequest, 'limit'>,
  ): Promise<readonly (Inspection | undefined)[]>;
  /** Those of these memories, in order, that a recall with this filter may return. */
  visible(ids: readonly string[], request: Pick<SearchRequest, 'filter' | 'now'>): Promise<readonly string[]>;
  /** The vectors of these memories, in order; `undefined` where there is none. */
  vectors(ids: readonly string[]): Promise<readonly (Float32Array | undefined)[]>;
}

/** What the log says about one operation. */
export interface WriteEntry {
  readonly verb: Verb;
  readonly at: Instant;
  /** The operation that this one undoes. Throws `cannot_undo` when it is unknown, redacted or already undone. */
  readonly undoes?: number | undefined;
  /** Undo what stands of an operation some of whose memories were forgotten since. Default is false: `cannot_undo`. */
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
  /** Set when the space gets its first terms. Throws `invalid_argument` when its terms come from another analyzer. */
  readonly analyzer?: string | undefined;
  /** Set when the settings of the space change: one event, which says what they were before. */
  readonly settings?: SpaceSettings | undefined;
}

/** One change of one memory. */
export type Change =
  /** A memory whose `ordinal` is 0 gets the next one of the space. */
  | { readonly kind: 'insert'; readonly memory: MemoryRecord; readonly indexed: IndexedText }
  /** Without `indexed` the text is unchanged, and so is what is derived from it. */
  | { readonly kind: 'replace'; readonly memory: MemoryRecord; readonly indexed?: IndexedText | undefined }
  | { readonly kind: 'remove'; readonly id: string }
  /**
   * Removes a memory for good: afterwards its text is in no row, event, derived table, free page or log of the
   * store. Its events stay, redacted, and so do recordings that name it (see `recordingWithout`).
   */
  | { readonly kind: 'redact'; readonly id: string }
  /** Makes a link, or sets the weight and the clock of the one of this kind. Throws `not_found` without both ends. */
  | { readonly kind: 'link'; readonly link: Link }
  /** Takes the stored links of these kinds between two memories away; of all kinds by default. */
  | {
      readonly kind: 'unlink';
      readonly ids: readonly [string, string];
      readonly kinds?: readonly LinkKind[] | undefined;
    }
  /**
   * Puts two memories at the end of the queue of what is to be judged. Two memories are a pair once: does nothing where
   * they are known as one, settled or not, whichever way round; but a possible update takes the place of a similar pair
   * that still waits. Throws `not_found` without both. This and what follows is work, not belief: it is not logged.
   */
  | { readonly kind: 'queue-pair'; readonly pair: NewPair }
  /** Counts that a model was asked about these pairs without a usable answer. */
  | { readonly kind: 'attempt-pairs'; readonly sequences: readonly number[] }
  /** Takes a pair out of the queue, and keeps in mind how it was judged. */
  | { readonly kind: 'settle-pair'; readonly sequence: number; readonly resolution: string }
  /**
   * Puts the pairs that an operation judged or dropped at the end of the queue again: what an undo of it takes back.
   * Those that are known otherwise, or lack a memory, are passed over.
   */
  | { readonly kind: 'requeue-pairs'; readonly operation: number }
  /** Notes that these memories were compared with the others. */
  | { readonly kind: 'compared'; readonly ids: readonly string[] }
  /** Makes a session, or changes the one of this id. */
  | { readonly kind: 'session'; readonly session: Session }
  /** Remembers that a statement was invalidated, by a keyed hash, without its text. */
  | { readonly kind: 'add-tombstone'; readonly statement: Statement; readonly tombstone: Tombstone }
  /** Removes the tombstone of a statement. */
  | { readonly kind: 'remove-tombstone'; readonly statement: Statement }
  /** Takes the place of the voter's vote on the memory, until it is withdrawn. It outlives a removal, not a redaction. */
  | { readonly kind: 'vote'; readonly id: string; readonly vote: Vote }
  /** Withdraws the votes of an operation: those that they replaced count again. */
  | { readonly kind: 'withdraw-votes'; readonly operation: number };

/** What somebody thinks of a memory. */
export interface Vote {
  readonly voter: string;
  readonly vote: 1 | -1;
}

export interface CastVote extends Vote {
  /** The operation that it was cast in. */
  readonly operation: number;
}

/** Two memories of which one may replace or contradict the other. */
export interface NewPair {
  /** What was said first. */
  readonly older: string;
  readonly newer: string;
  readonly kind: PairKind;
  /** 0–1. Of a similar pair the cosine of their vectors; of a possible update how far their words are the same. */
  readonly similarity: number;
}

/** `similar`: the two say nearly the same. `update`: the newer one gives another value for what the older one counts. */
export type PairKind = 'similar' | 'update';

export interface SimilarPair extends NewPair {
  /** Its number in the queue, never used twice. */
  readonly sequence: number;
  /** When it was noticed. */
  readonly at: Instant;
  /** How often a model was asked about it without a usable answer. */
  readonly attempts: number;
  /** How it was judged; `undefined` while it waits. */
  readonly resolution: string | undefined;
}

/**
 * By what memories can be looked up: the normalised content (see `normalisedContent`; a stub is found by its full text),
 * the very same topic or session, one of the ids that they supersede or were made of, of an entity one of its names
 * (see `foldedName`), or of a relation that they state the id of one of its ends, or its own (see `relationId`).
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

/** A stretch of work in which memories are made. */
export interface Session {
  readonly id: string;
  readonly scope: string;
  readonly startedAt: Instant;
  /** When something was last done in it. */
  readonly activeAt: Instant;
  readonly endedAt: Instant | undefined;
}

/** What a statement is known again by, its content normalised: only a keyed hash is stored, with a key of the space's own. */
export type Statement = Pick<MemoryRecord, 'scope' | 'content'>;

export interface Tombstone {
  readonly at: Instant;
  /** Empty once the memory that it was said of was forgotten. */
  readonly reason: string;
}

/** A moment of the past, to read from. Nothing can be written. */
export interface PastSpace extends SpaceStore {
  /** How many memories were known then. */
  readonly memories: number;
  /** How many of the memories that were known then are missing, because they were forgotten since. */
  readonly redacted: number;
}

/** An association of two memories, the same both ways. */
export interface Link {
  /** The two ends, in code-unit order. */
  readonly ids: readonly [string, string];
  readonly kind: LinkKind;
  /** 0–1, as it was at `at`; what is left of it is computed on reading. */
  readonly weight: number;
  readonly at: Instant;
}

/** One recall that left traces. */
export interface NewUsage {
  readonly at: Instant;
  readonly strategy: string;
  readonly effect: 'reinforce' | 'count' | 'touch' | 'see';
  readonly queryHash: string;
  readonly sessionId: string | undefined;
  /** What the caller saw, in order. */
  readonly used: readonly { readonly id: string; readonly direct: boolean }[];
}

export interface Usage extends NewUsage {
  readonly sequence: number;
  /** The sequence of the last event before it. */
  readonly after: number;
  /** What it changed, as it was before; absent where an older version wrote the row. */
  readonly before?: UseBefore | undefined;
}

/** What a use changed, as it was before. */
export interface UseBefore {
  readonly memories: readonly (Pick<MemoryRecord, 'id'> & Dynamics)[];
  readonly links: readonly LinkChange[];
}

/** What a use may change of a memory. */
export type Dynamics = Pick<MemoryRecord, DynamicField>;

/**
 * What a use changes. Of a memory only its dynamics and tier are taken: the log of writes does not see it. Throws
 * `invalid_argument` for a memory, or an end of a link, that is not among `used`: the usage log must say what it did.
 */
export interface UseDecision {
  readonly memories: readonly MemoryRecord[];
  readonly links: readonly Link[];
}

/** What is derived from a memory's text. */
export interface IndexedText {
  /** How often each term occurs in title, content and tags. */
  readonly terms: ReadonlyMap<string, number>;
  /** Of unit length; absent when there is no embedder or it knows no word of the text. */
  readonly vector: Float32Array | undefined;
}

/** One row of the append-only log: a write of one memory, and what it takes to undo it. */
export interface MemoryEvent {
  /** Grows by at least 1 with every event of the space. */
  readonly sequence: number;
  /** The sequence of the first event of the same operation. */
  readonly operation: number;
  /** Never before the instant of an earlier event. */
  readonly at: Instant;
  readonly verb: Verb;
  readonly memoryId: string;
  /** The memory before the write; `undefined` when the write made it. */
  readonly before: MemoryRecord | undefined;
  /** The memory was forgotten: its text is gone from this event, which cannot be undone. */
  readonly redacted: boolean;
  /** Of an `undo`: the operation that it took back. */
  readonly undoes: number | undefined;
  /** Set when the event is about a link of this memory, and `before` then says nothing. */
  readonly link: LinkChange | undefined;
  /** Set when the event is about the space itself: what its settings were before. `memoryId` is then empty. */
  readonly settings: SpaceSettings | undefined;
  /** The run that the operation is part of. */
  readonly run: string | undefined;
}

export interface OperationsRequest {
  readonly limit: number;
  /** Only those of a lower sequence. Default is all. */
  readonly before?: number | undefined;
  readonly verb?: Verb | undefined;
  /** How many of the memories of each are named. */
  readonly ids: number;
}

/** One operation of the log. */
export interface OperationSummary extends Pick<MemoryEvent, 'operation' | 'at' | 'verb' | 'undoes' | 'run'> {
  /** How many memories it wrote, and the first of them; how many links it changed. */
  readonly memories: number;
  readonly ids: readonly string[];
  readonly links: number;
  readonly undoneBy: number | undefined;
  /** Why it cannot be undone; `undefined` when it can. */
  readonly problem: Exclude<UndoProblem, 'unknown'> | 'changed' | undefined;
}

export interface LinkChange {
  readonly link: Pick<Link, 'ids' | 'kind'>;
  /** `undefined` when there was no such link. */
  readonly before: Pick<Link, 'weight' | 'at'> | undefined;
}

export interface MemoryFilter {
  /** What is visible: these scopes. Default is all. */
  readonly scopes?: readonly string[] | undefined;
  /** Only memories that lie in this scope itself, or in one of this kind (`project:*`): what is visible stays. */
  readonly inScope?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly typesExclude?: readonly string[] | undefined;
  /** Only memories that carry all of these tags. */
  readonly tags?: readonly string[] | undefined;
  /** Only memories whose metadata meets all of these. */
  readonly metadata?: readonly MetadataCondition[] | undefined;
  /** The moment at which memories must be valid. Default is the moment of the search. */
  readonly validAt?: Instant | undefined;
  /** Cold memories too, and those that were consolidated into others or superseded. Default is false. */
  readonly deep?: boolean | undefined;
  /** Cold memories too, but not those that were consolidated into others. Default is false. */
  readonly cold?: boolean | undefined;
  /** Plans and transient states too whose validity has ended. Default is false. */
  readonly includeExpired?: boolean | undefined;
}

/** A query, analysed. */
export interface PreparedQuery {
  /** Distinct terms in code-unit order. */
  readonly terms: readonly string[];
  /** Unit length; absent without an embedder. */
  readonly vector?: Float32Array | undefined;
  /**
   * The model that made the vector, and the analyzer that made the terms: a search of a space with others is refused. Default is
   * those of the space.
   */
  readonly model?: string | undefined;
  readonly analyzer?: string | undefined;
  /** Set when no term is left: text that must occur in title, content or tags, whatever its case. */
  readonly substring?: string | undefined;
  /** The words of the query that its terms come from, as they were written, by term. */
  readonly written?: ReadonlyMap<string, string> | undefined;
  /** As it was asked: the names of authors are looked for in it. */
  readonly text?: string | undefined;
  /** The dates that it names. */
  readonly dates?: readonly DateRange[] | undefined;
}

export interface SearchRequest {
  readonly profile: ResolvedProfile;
  readonly query: PreparedQuery;
  readonly filter: MemoryFilter;
  readonly now: Instant;
  readonly limit: number;
}

/** A memory with everything that its score was computed from. */
export interface ScoredMemory {
  readonly memory: MemoryRecord;
  readonly signals: Signals;
  /** The raw BM25 sum, 0 when no term matched. */
  readonly bm25: number;
  readonly score: number;
  /** What its signals of words were made from, at the moment of the search; absent for a query without terms. */
  readonly words: CountedWords | undefined;
}

export interface SearchAnswer {
  /** Best first, scores above 0. */
  readonly hits: readonly ScoredMemory[];
  readonly completeness: 'exact' | 'approximate';
  /** No eligible memory that meets the profile's requirements and is not among the hits scores above this. */
  readonly upperBound: number;
  /** Memories in the space. */
  readonly total: number;
  /** Memories within the filter and hot; of these, those that are valid at the moment. */
  readonly filtered: number;
  /** Cold memories in the space: what links may lead to beyond the eligible ones. */
  readonly cold: number;
  readonly eligible: number;
  /** Eligible memories that share a term with the query; those that have a vector to compare with. */
  readonly lexicalMatches: number;
  readonly withVector: number;
  /**
   * Eligible memories that meet the profile's requirements, its floor included. An upper bound where fewer are `scored` and
   * the profile has a floor or requires something of the similarity: an index may then count memories that it need not look
   * at for the answer and whose bounds do not decide it. The more hits are asked for, the nearer it comes.
   */
  readonly candidates: number;
  /**
   * Of a profile with a floor: eligible memories that meet all its requirements but that, without those that are counted as
   * candidates. Where something is required of the similarity too, an index may count some that do not meet that.
   */
  readonly belowFloor?: number | undefined;
  /** Of these, how many the formula had to be computed for exactly. */
  readonly scored: number;
  /** That of its snapshot. */
  readonly sequence: number;
  /**
   * Set by the first search after the index was dropped and rebuilt, because the log is not the one that it followed:
   * the space was reindexed, or a backup restored.
   */
  readonly indexRebuilt?: true | undefined;
  /** The terms of the query that no visible memory has, and what was looked for in their place. */
  readonly spelling: readonly Spelling[];
  /** Milliseconds by stage. */
  readonly durations: {
    readonly eligible: number;
    readonly lexical: number;
    readonly vector: number;
    readonly score: number;
    /** To read what is returned. */
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
  /** Why the memory is not eligible; `undefined` when it is. */
  readonly excluded: Exclusion | undefined;
  /**
   * Index of the first requirement of the profile that it does not meet, one past the last of them when it is the floor;
   * `undefined` when it meets all.
   */
  readonly failedRequirement: number | undefined;
}

/** The condition of eligibility that a memory does not meet. */
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
   * Default is `updated`. What ties is sorted by ordinal, in the same direction; a memory without the field counts as
   * lower than all others.
   */
  readonly sort?: SortName | undefined;
  /** Default is that of the sort in the table of fields. */
  readonly direction?: SortDirection | undefined;
  readonly limit: number;
  /** A page ends before the memory that makes its JSON longer than this, and has one at least. Default is unlimited. */
  readonly maxCharacters?: number | undefined;
  /** From an earlier answer. Throws `invalid_argument` when that was sorted or filtered otherwise. */
  readonly cursor?: string | undefined;
  /** How many memories come before the page. Not together with a cursor. */
  readonly offset?: number | undefined;
  /**
   * The page with this memory in its middle, as far as there are others on both sides. Not together with a cursor or
   * an offset. Throws `not_found` for one that the list does not have.
   */
  readonly around?: string | undefined;
  /** Whether to count `total` and `position`. Default is false. */
  readonly count?: boolean | undefined;
}

export interface ListAnswer {
  readonly memories: readonly MemoryRecord[];
  /** Absent after the last page. */
  readonly nextCursor: string | undefined;
  /** How many memories the list has, and how many of them come before this page: `total` of a page without any. */
  readonly total?: number | undefined;
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
  /** Those that are stored; neighbours in sessions come on top. */
  readonly links: number;
  /** Similar pairs that wait to be judged. */
  readonly pendingPairs: number;
  readonly events: number;
  readonly sequence: number;
  /** Absent before the first vector. */
  readonly embedding: EmbeddingInfo | undefined;
  /** The analyzer whose terms are stored; absent before the first memory. */
  readonly analyzer: string | undefined;
  readonly settings: SpaceSettings;
  /** When "backup" last copied the space; absent where it never did, and where backups are made by other means. */
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
  /** Computes the new text data of a page of memories. Called outside of any transaction. */
  derive(memories: readonly MemoryRecord[]): Promise<readonly IndexedText[]>;
  /** Called after each page. */
  progress?(done: number, total: number): void;
}

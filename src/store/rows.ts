import type { MemoryRecord } from '../domain/memory.ts';
import type { MetadataCondition } from '../domain/metadata-condition.ts';
import type { Relations } from './belief-state.ts';

export type Awaitable<Value> = Value | Promise<Value>;

/** A position in the two logs of a space. */
export interface Position {
  /** The sequence of the last event; 0 before the first. */
  readonly sequence: number;
  /** The sequence of the last use; 0 before the first. */
  readonly usage: number;
  /**
   * Identifies this event and this use beyond their numbers, which a log restored from a backup may give to others. Made
   * of a random value of each, or of their content. Also changes after a reindex, which writes no event.
   */
  readonly stamp: string;
}

/** The changes after a position. */
export interface Feed {
  /** The position of the last event and use in the feed. */
  readonly position: Position;
  /** The memories that were written or removed, each once. */
  readonly written: readonly WrittenRow[];
  /** The ids of the memories that were used, each once. */
  readonly used: readonly string[];
  /** The ids at both ends of the links that were written or removed. */
  readonly linked: readonly string[];
  /** A value that changes whenever {@link IndexRows.relations} may have changed. */
  readonly relations: number | string;
}

export interface WrittenRow {
  readonly key: number;
  readonly id: string;
  /** The sequence of its last event. Only needed by stores that hand new memories to their index when they write them. */
  readonly sequence?: number | undefined;
  /** Whether its text and tags are unchanged, unless it became a stub or stopped being one. */
  readonly sameText: boolean;
}

/** The data of a memory that an index needs. */
export interface IndexedRow {
  readonly key: number;
  readonly memory: MemoryRecord;
  /** The store's numbers of its terms, and how often each occurs. */
  readonly termIds: ArrayLike<number>;
  readonly termCounts: ArrayLike<number>;
  readonly vector: Float32Array | undefined;
}

/** A serialised index, saved so that the next process need not build it. */
export interface SavedPages {
  /** The position that the index reflects. */
  readonly position: Position;
  /** The approximate size of all parts. */
  readonly bytes: number;
  /**
   * Reads the parts, passes them to `decode` by name, and returns its result; `undefined` if they can no longer be read.
   * The store calls `pause` between two pieces, so that other work can run, and `place` for the buffer of each part, into
   * which it reads directly, in the saved order. It may call `decode` while another thread still fills shared buffers.
   */
  load<Index>(
    pause: () => Awaitable<void>,
    place: PlaceOfPart,
    decode: (parts: ReadonlyMap<string, Uint8Array>) => Awaitable<Index | undefined>,
  ): Awaitable<Index | undefined>;
}

/**
 * Returns a buffer of `length` bytes for a part. With `isShared` it is backed by a `SharedArrayBuffer`, if there is one
 * for this part.
 */
export type PlaceOfPart = (name: string, length: number, isShared?: boolean) => Uint8Array;

/**
 * Reads by key, a number that the store assigns to each memory and never reuses; and lookups of keys by data that an index
 * does not hold.
 */
export interface KeyedRows {
  /**
   * Set if each read is a round trip to a server, so that one read also fetches what is needed next. The results are then
   * not cached between recalls.
   */
  readonly readsAlong?: true | undefined;
  /**
   * The vectors of these memories, in order; `undefined` for a memory without one. `soon` returns at most `most` keys that
   * may be needed next, for stores that prefetch.
   */
  vectors(
    keys: readonly number[],
    soon?: (most: number) => readonly number[],
  ): Awaitable<readonly (Float32Array | undefined)[]>;
  /** The memories with these keys, in order. Throws `store_corrupt` if one is missing. */
  records(keys: readonly number[]): Awaitable<readonly MemoryRecord[]>;
  /** The keys of these ids, in order; `undefined` for an unknown id. */
  keysOf(ids: readonly string[]): Awaitable<readonly (number | undefined)[]>;
  /** The ids of these keys, in order; `undefined` for an unknown key. */
  idsOf(keys: readonly number[]): Awaitable<readonly (string | undefined)[]>;
  /** The numbers of these terms, in order; `undefined` for a term that no memory has had. */
  termIds(terms: readonly string[]): Awaitable<readonly (number | undefined)[]>;
  /** The terms with these numbers, in order; `undefined` for an unknown number. */
  termsOf(ids: readonly number[]): Awaitable<readonly (string | undefined)[]>;
  /** The keys of the memories whose metadata meets all of these. */
  keysWithMetadata(conditions: readonly MetadataCondition[]): Awaitable<ReadonlySet<number>>;
  /** The keys of the memories that contain a text (see `containsText`). With `among`, only these keys need be looked at. */
  keysContaining(text: string, among?: readonly number[]): Awaitable<Iterable<number>>;
}

/** Waits without holding a database connection that other calls may be waiting for. */
export interface WaitingApart {
  /** Takes a turn that lasts until the snapshot ends: through `now` if the turn is free, else through `wait`. */
  turn(now: () => (() => void) | undefined, wait: () => Promise<() => void>): Promise<void>;
  /** Waits. If the snapshot holds a connection, throws `overtaken`: the snapshot then ends, waits, and starts again. */
  wait(wait: () => Promise<void>): Promise<void>;
}

/** The reads through which a resident index follows the writes of all processes. */
export interface IndexRows extends KeyedRows {
  /** Set if snapshots may hold a connection that other calls wait for. No snapshot may wait for others while it holds one. */
  readonly apart?: WaitingApart | undefined;
  /**
   * A value that changes whenever any process may have changed anything. Read before every recall, so it must be cheap.
   */
  version(): Awaitable<unknown>;
  position(): Awaitable<Position>;
  /** The changes after a position; `undefined` if the log does not continue from it and the index must be rebuilt. */
  feed(after: Position): Awaitable<Feed | undefined>;
  /** The memories with these keys, or all, in batches. Skips unknown keys. */
  indexed(keys?: readonly number[]): AsyncIterable<readonly IndexedRow[]> | Iterable<readonly IndexedRow[]>;
  /** Which memories supersede or may update which, by key. */
  relations(): Awaitable<Relations<number>>;
  /** How many memories there are. */
  size(): Awaitable<number>;
  /** The index that was saved last; `undefined` without one. */
  pages(): Awaitable<SavedPages | undefined>;
}

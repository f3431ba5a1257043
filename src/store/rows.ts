import type { MemoryRecord } from '../domain/memory.ts';
import type { MetadataCondition } from '../domain/metadata-condition.ts';
import type { Relations } from './belief-state.ts';

export type Awaitable<Value> = Value | Promise<Value>;

/** How far the logs of a space have come. */
export interface Position {
  /** Of the last event; 0 before the first. */
  readonly sequence: number;
  /** Of the last use; 0 before the first. */
  readonly usage: number;
  /**
   * Tells this event and this use from any other that could have had their numbers, as in a log that was restored from a
   * backup: a random value of each, or what they say. Another one too once derived data was replaced outside of the log.
   */
  readonly stamp: string;
}

/** What happened after a position. */
export interface Feed {
  /** The last event and use that it tells of. */
  readonly position: Position;
  /** The memories that were written or removed, each once. */
  readonly written: readonly WrittenRow[];
  /** The ids of the memories that were used, each once. */
  readonly used: readonly string[];
  /** The ids at both ends of the links that were written or removed. */
  readonly linked: readonly string[];
  /** Another value whenever {@link IndexRows.relations} may have changed. */
  readonly relations: number | string;
}

export interface WrittenRow {
  readonly key: number;
  readonly id: string;
  /** Of its last event. A store may leave it out: it serves those that hand new memories to their index when they write them. */
  readonly sequence?: number | undefined;
  /** Its text and tags are what they were, unless it became a stub or ceased to be one. */
  readonly sameText: boolean;
}

/** A memory as an index takes it in. */
export interface IndexedRow {
  readonly key: number;
  readonly memory: MemoryRecord;
  /** The store's numbers of its terms, and how often each occurs. */
  readonly termIds: ArrayLike<number>;
  readonly termCounts: ArrayLike<number>;
  readonly vector: Float32Array | undefined;
}

/** An index as bytes, saved so that the next process need not build it. */
export interface SavedPages {
  /** What the index reflects. */
  readonly position: Position;
  /** About how many bytes all parts have. */
  readonly bytes: number;
  /**
   * By name. `undefined` where they cannot be read any more. `pause` lets others go on, to be called between two pieces. `place`
   * says where the bytes of a part shall go; a store reads them straight into it, one part after the other as they were saved.
   */
  parts(
    pause: () => Awaitable<void>,
    place: PlaceOfPart,
  ): Awaitable<ReadonlyMap<string, Uint8Array> | undefined>;
}

/** Room for a part of so many bytes: that of a `SharedArrayBuffer` where `isShared`, if there is one for this part. */
export type PlaceOfPart = (name: string, length: number, isShared?: boolean) => Uint8Array;

/**
 * Memories by key, a number that a store gives each of its memories and never to another, and keys by what an index does
 * not hold.
 */
export interface KeyedRows {
  /**
   * Set where one read brings along what is asked for next, because each takes a message to a server: what is read is then not kept
   * from one recall to the next.
   */
  readonly readsAlong?: true | undefined;
  /**
   * The vectors of these memories, in order; `undefined` where there is none. `soon` tells which may be asked for next, so
   * many at most: for a store that is far away.
   */
  vectors(
    keys: readonly number[],
    soon?: (most: number) => readonly number[],
  ): Awaitable<readonly (Float32Array | undefined)[]>;
  /** The memories of these keys, in order, all of which there are. Throws `store_corrupt` where one is missing. */
  records(keys: readonly number[]): Awaitable<readonly MemoryRecord[]>;
  /** The keys of these ids, in order; `undefined` for an id without a memory. */
  keysOf(ids: readonly string[]): Awaitable<readonly (number | undefined)[]>;
  /** The ids of the memories of these keys, in order; `undefined` where there is none. */
  idsOf(keys: readonly number[]): Awaitable<readonly (string | undefined)[]>;
  /** The numbers of these terms, in order; `undefined` for one that no memory has had. */
  termIds(terms: readonly string[]): Awaitable<readonly (number | undefined)[]>;
  /** The terms of these numbers, in order; `undefined` for a number that no term has. */
  termsOf(ids: readonly number[]): Awaitable<readonly (string | undefined)[]>;
  /** The keys of the memories whose metadata meets all of these. */
  keysWithMetadata(conditions: readonly MetadataCondition[]): Awaitable<ReadonlySet<number>>;
  /** The keys of the memories, or of these at least, that hold a text: see `containsText`. */
  keysContaining(text: string, among?: readonly number[]): Awaitable<Iterable<number>>;
}

/** Waiting for others, of a snapshot that may hold a connection which they wait for: it is given back first. */
export interface WaitingApart {
  /** A turn that lasts until the snapshot is over: `now` where it is free, else `wait`. */
  turn(now: () => (() => void) | undefined, wait: () => Promise<() => void>): Promise<void>;
  /** Waits. Where a connection is held it throws `overtaken`: then the snapshot ends, waits, and begins anew. */
  wait(wait: () => Promise<void>): Promise<void>;
}

/** What an index that is kept in memory asks of a store, so that it follows what any process writes. */
export interface IndexRows extends KeyedRows {
  /** Set where snapshots may hold a connection that others wait for: nobody may wait for others while one is held. */
  readonly apart?: WaitingApart | undefined;
  /**
   * Another value whenever anything may have changed since it was asked last, by whomever. Asked before every recall:
   * cheap.
   */
  version(): Awaitable<unknown>;
  position(): Awaitable<Position>;
  /** What happened after a position; `undefined` where the log does not go on from there, and an index must be rebuilt. */
  feed(after: Position): Awaitable<Feed | undefined>;
  /** The memories of these keys, or all, in batches: those that there are. */
  indexed(keys?: readonly number[]): AsyncIterable<readonly IndexedRow[]> | Iterable<readonly IndexedRow[]>;
  /** How the memories stand to each other, by key. */
  relations(): Awaitable<Relations<number>>;
  /** How many memories there are. */
  size(): Awaitable<number>;
  /** The index that was saved last; `undefined` without one. */
  pages(): Awaitable<SavedPages | undefined>;
}

import { deepFreeze } from '../domain/frozen.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import { DEFAULT_SETTINGS, type SpaceSettings } from '../domain/settings.ts';
import { normalisedContent } from '../domain/statement.ts';
import type { Instant } from '../domain/time.ts';
import type { Derivation } from './derived.ts';
import type { UndoProblem } from './faults.ts';
import type { Recording } from './recording.ts';
import type {
  IndexedText,
  Link,
  MemoryEvent,
  NewPair,
  Session,
  SimilarPair,
  Statement,
  Tombstone,
  Usage,
  Vote,
} from './store.ts';

/** A memory with the data derived from its text. */
export interface SearchableMemory extends IndexedText {
  readonly memory: MemoryRecord;
}

/** The parts of a space that a search reads. */
export interface SearchableSpace {
  readonly memories: readonly SearchableMemory[];
  /** The pairs that nobody has judged yet. */
  readonly pairs: readonly NewPair[];
  /** The sequence of the last event that the memories reflect. */
  readonly sequence: number;
}

/** The whole content of a space. Immutable: each write creates a new one. */
export interface State extends Derivation {
  readonly memories: ReadonlyMap<string, SearchableMemory>;
  readonly events: readonly MemoryEvent[];
  /** Stored links, by {@link linkKey}. */
  readonly links: ReadonlyMap<string, Link>;
  readonly usages: readonly Usage[];
  /** Pairs by their sequence, in the order in which they were queued. */
  readonly pairs: ReadonlyMap<number, KeptPair>;
  readonly lastPair: number;
  /** The highest ordinal that was assigned. */
  readonly lastOrdinal: number;
  readonly sessions: ReadonlyMap<string, Session>;
  /** By {@link buriedKey} of the invalidated statement. */
  readonly tombstones: ReadonlyMap<string, Tombstone>;
  /** All votes that were not withdrawn. The latest vote of a voter on a memory counts. */
  readonly votes: readonly KeptVote[];
  /** The ids of the memories that were compared with the others. */
  readonly compared: ReadonlySet<string>;
  readonly settings: SpaceSettings;
  /** How often the space was reindexed. */
  readonly generation: number;
  /** Recorded recalls, oldest first. */
  readonly recordings: readonly Recording[];
  readonly lastRecording: number;
}

/** A pair in the state. Judged and dropped pairs are kept too, for looking back. */
export interface KeptPair extends SimilarPair {
  /** When it was judged or dropped; `undefined` while it waits in the queue. */
  readonly endedAt: Instant | undefined;
  /** The operation that judged or dropped it, if that operation left an event, so that it can be undone. */
  readonly endedBy: number | undefined;
  readonly dropped: boolean;
}

/** The fields of a pair that nobody has judged yet. */
export const WAITING = {
  resolution: undefined,
  endedAt: undefined,
  endedBy: undefined,
  dropped: false,
} as const;
export interface KeptVote extends Vote {
  readonly memoryId: string;
  readonly operation: number;
}

export const emptyState: State = {
  memories: new Map(),
  events: [],
  links: new Map(),
  usages: [],
  pairs: new Map(),
  lastPair: 0,
  lastOrdinal: 0,
  sessions: new Map(),
  tombstones: new Map(),
  votes: [],
  compared: new Set(),
  settings: DEFAULT_SETTINGS,
  generation: 0,
  recordings: [],
  lastRecording: 0,
  embedding: undefined,
  analyzer: undefined,
};

export function lastSequence(state: Pick<State, 'events'>): number {
  return state.events.at(-1)?.sequence ?? 0;
}

/** The key of a statement, independent of white space and Unicode composition. Not hashed: a `State` never reaches a disk. */
export function buriedKey({ scope, content }: Statement): string {
  return JSON.stringify([scope, normalisedContent(content)]);
}

/** Returns why an operation cannot be undone, or `undefined` if it can. `partly` allows redacted events. */
export function problemOfUndoing(state: State, operation: number, partly = false): UndoProblem | undefined {
  const events = state.events.filter((event) => event.operation === operation);
  if (events.length === 0) return 'unknown';
  if (events.some((event) => event.verb === 'undo')) return 'undo';
  if (!partly && events.some((event) => event.redacted)) return 'redacted';
  if (state.events.some((event) => event.undoes === operation)) return 'undone';
  return undefined;
}

/** Copies a memory and its derived data, so that no caller can change what the state holds. */
export function stored(memory: MemoryRecord, indexed: IndexedText): SearchableMemory {
  return {
    memory: deepFreeze(structuredClone(memory)),
    terms: new Map(indexed.terms),
    vector: indexed.vector && new Float32Array(indexed.vector),
  };
}

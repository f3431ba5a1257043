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

/** A memory with what is derived from its text. */
export interface SearchableMemory extends IndexedText {
  readonly memory: MemoryRecord;
}

/** What a search looks at. */
export interface SearchableSpace {
  readonly memories: readonly SearchableMemory[];
  /** The pairs that wait to be judged. */
  readonly pairs: readonly NewPair[];
  /** That of the last event that the memories reflect. */
  readonly sequence: number;
}

/** Everything that a space holds. A write makes a new one; nothing in it is ever changed. */
export interface State extends Derivation {
  readonly memories: ReadonlyMap<string, SearchableMemory>;
  readonly events: readonly MemoryEvent[];
  /** The stored ones, by {@link linkKey}. */
  readonly links: ReadonlyMap<string, Link>;
  readonly usages: readonly Usage[];
  /** By their sequence, in the order of the queue. */
  readonly pairs: ReadonlyMap<number, KeptPair>;
  readonly lastPair: number;
  /** The last place in the order of insertion that was given. */
  readonly lastOrdinal: number;
  readonly sessions: ReadonlyMap<string, Session>;
  /** By the hash of the invalidated statement. */
  readonly tombstones: ReadonlyMap<string, Tombstone>;
  /** All that were cast and not withdrawn; the latest of a voter on a memory counts. */
  readonly votes: readonly KeptVote[];
  /** The ids of the memories that were compared with the others. */
  readonly compared: ReadonlySet<string>;
  readonly settings: SpaceSettings;
  /** How often what is derived from the texts was replaced. */
  readonly generation: number;
  /** The recalls that were recorded, oldest first. */
  readonly recordings: readonly Recording[];
  readonly lastRecording: number;
}

/** A pair that is known, or was: it stays, so that one can look back. */
export interface KeptPair extends SimilarPair {
  /** When it was judged, or dropped because a text changed; `undefined` while it waits. */
  readonly endedAt: Instant | undefined;
  /** The operation that did it, where that one can be undone. */
  readonly endedBy: number | undefined;
  readonly dropped: boolean;
}

/** A pair that nobody has judged yet. */
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

/** The key of a statement, however it is spaced or composed. Here nothing reaches a disk, and no hash is needed to hide it. */
export function buriedKey({ scope, content }: Statement): string {
  return JSON.stringify([scope, normalisedContent(content)]);
}

/** Why an operation cannot be undone. */
export function problemOfUndoing(state: State, operation: number, partly = false): UndoProblem | undefined {
  const events = state.events.filter((event) => event.operation === operation);
  if (events.length === 0) return 'unknown';
  if (events.some((event) => event.verb === 'undo')) return 'undo';
  if (!partly && events.some((event) => event.redacted)) return 'redacted';
  if (state.events.some((event) => event.undoes === operation)) return 'undone';
  return undefined;
}

/** A copy that no caller can reach to change. */
export function stored(memory: MemoryRecord, indexed: IndexedText): SearchableMemory {
  return {
    memory: deepFreeze(structuredClone(memory)),
    terms: new Map(indexed.terms),
    vector: indexed.vector && new Float32Array(indexed.vector),
  };
}

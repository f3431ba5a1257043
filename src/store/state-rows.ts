import { meetsMetadata } from '../domain/metadata-condition.ts';
import { grouped, isRelation, type Relations } from './belief-state.ts';
import { stampOf } from './position.ts';
import type { IndexedRow, IndexRows, Position } from './rows.ts';
import { lastSequence, type SearchableMemory, type State } from './state.ts';
import { readerOf, searchable } from './state-reader.ts';
import type { MemoryEvent, StoreSnapshot, Usage } from './store.ts';
import { containsText } from './substring.ts';

/** A snapshot of a `State`, which is immutable and therefore consistent. */
export interface StateSnapshot extends StoreSnapshot {
  readonly of: State;
}

/** The numbers of the memories, terms and relations of one space. All states of the space share them. */
export interface Numbers {
  readonly keys: Map<string, number>;
  readonly ids: string[];
  readonly terms: Map<string, number>;
  readonly relations: WeakMap<State['pairs'], number>;
}

export function createNumbers(): Numbers {
  return { keys: new Map(), ids: [], terms: new Map(), relations: new WeakMap() };
}

/** Creates a snapshot that reads `state`. */
export function snapshotOfState(state: State, numbers: Numbers): StateSnapshot {
  return {
    ...readerOf(() => state),
    ...rowsOf(state, numbers),
    of: state,
    sequence: async () => lastSequence(state),
  };
}

function rowsOf(state: State, numbers: Numbers): IndexRows {
  const { memories, events, usages } = state;
  const keyOf = (id: string) => {
    let key = numbers.keys.get(id);
    if (key === undefined) {
      key = numbers.ids.push(id) - 1;
      numbers.keys.set(id, key);
    }
    return key;
  };
  const at = (key: number) => memories.get(numbers.ids[key] ?? '');
  const keysWhere = (holds: (each: SearchableMemory) => boolean) =>
    [...memories.values()].filter(holds).map(({ memory }) => keyOf(memory.id));
  const positionAt = (event: MemoryEvent | undefined, use: Usage | undefined): Position => ({
    sequence: event?.sequence ?? 0,
    usage: use?.sequence ?? 0,
    stamp: stampOf(state.generation, event, use),
  });
  const position = () => positionAt(events.at(-1), usages.at(-1));
  return {
    version: () => state,
    position,
    feed(after) {
      const lastTaken = events.findLastIndex(({ sequence }) => sequence <= after.sequence);
      const lastUsed = usages.findLastIndex(({ sequence }) => sequence <= after.usage);
      const { sequence, usage, stamp } = positionAt(events[lastTaken], usages[lastUsed]);
      if (sequence !== after.sequence || usage !== after.usage || stamp !== after.stamp) return undefined;
      const since = events.slice(lastTaken + 1);
      const ids = new Set(
        since.filter(({ link, settings }) => !link && !settings).map((each) => each.memoryId),
      );
      const used = usages.slice(lastUsed + 1).flatMap((each) => each.used);
      return {
        position: position(),
        written: [...ids].map((id) => ({ key: keyOf(id), id, sameText: false })),
        used: [...new Set(used.map(({ id }) => id))].filter((id) => memories.has(id)),
        linked: since.flatMap(({ link }) => link?.link.ids ?? []),
        relations: relationsVersion(state, numbers),
      };
    },
    *indexed(keys) {
      const wanted = keys ? keys.map(at) : [...memories.values()];
      const found = wanted.filter((each) => each !== undefined);
      yield found.map(({ memory, terms, vector }): IndexedRow => {
        const termIds = [...terms.keys()].map((term) => {
          const number = numbers.terms.get(term) ?? numbers.terms.size;
          numbers.terms.set(term, number);
          return number;
        });
        return { key: keyOf(memory.id), memory, termIds, termCounts: [...terms.values()], vector };
      });
    },
    relations: () => relationsOf(state, keyOf),
    size: () => memories.size,
    pages: () => undefined,
    vectors: (keys) => keys.map((key) => at(key)?.vector),
    records: (keys) => keys.map((key) => (at(key) as SearchableMemory).memory),
    keysOf: (ids) => ids.map((id) => (memories.has(id) ? keyOf(id) : undefined)),
    idsOf: (keys) => keys.map((key) => at(key)?.memory.id),
    termsOf(ids) {
      const terms = [...numbers.terms.keys()];
      return ids.map((id) => terms[id]);
    },
    termIds: (terms) => terms.map((term) => numbers.terms.get(term)),
    keysWithMetadata: (conditions) =>
      new Set(keysWhere(({ memory }) => meetsMetadata(memory.metadata, conditions))),
    keysContaining: (text) => keysWhere(({ memory }) => containsText(memory, text)),
  };
}

/** Identifies the relations of a state by its `pairs` map: only a write changes relations, and each write creates a new map. */
function relationsVersion({ pairs }: State, { relations }: Numbers): number {
  const known = relations.get(pairs);
  if (known !== undefined) return known;
  const version = nextVersion++;
  relations.set(pairs, version);
  return version;
}

let nextVersion = 0;

/** Returns which memories supersede or may update which, by key. */
function relationsOf(state: State, keyOf: (id: string) => number): Relations<number> {
  const { memories, pairs } = searchable(state);
  const both = (older: string, newer: string) =>
    state.memories.has(older) && state.memories.has(newer) ? [[keyOf(older), keyOf(newer)] as const] : [];
  const successors = memories.flatMap(({ memory }) =>
    memory.supersedes.flatMap((older) => both(older, memory.id)),
  );
  const newer = pairs
    .filter(isRelation)
    .flatMap((pair) =>
      both(pair.older, pair.newer).map(
        ([older, key]) => [older, { key, similarity: pair.similarity }] as const,
      ),
    );
  return { successors: grouped(successors), newer: grouped(newer) };
}

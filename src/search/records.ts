import { meetsMetadata } from '../domain/metadata-condition.ts';
import { signalsOf } from '../scoring/signals.ts';
import { grouped, type Relations } from '../store/standing.ts';
import { lastSequence, type SearchableMemory, type SearchableSpace, type State } from '../store/state.ts';
import { readerOf, searchable } from '../store/state-reader.ts';
import type { Snapshot } from '../store/store.ts';
import { containsText } from '../store/substring.ts';
import { conductInspection, conductSearch, type ResidentState, type RowSource } from './conduct.ts';
import { createResidentIndex, putMemory, reserve, turnOf } from './resident-index.ts';

/** A state that is held in memory, ranked like any store: its index is made from the records when it is first asked. */
export function snapshotOfState(state: State): Snapshot {
  let indexed: ReturnType<typeof indexRecords> | undefined;
  const ranked = () => {
    indexed ??= indexRecords(searchable(state));
    return indexed;
  };
  return {
    ...readerOf(() => state),
    sequence: lastSequence(state),
    async search(request) {
      const { resident, source } = ranked();
      return conductSearch(resident, source, request);
    },
    async inspect(ids, request) {
      const { resident, source } = ranked();
      return conductInspection(resident, source, ids, request);
    },
    vectors: async (ids) => ids.map((id) => state.memories.get(id)?.vector?.slice()),
  };
}

/** The index of some memories, each under its place in the list, and its source. */
export function indexRecords(space: SearchableSpace): {
  readonly resident: ResidentState;
  readonly source: RowSource;
} {
  const { memories, sequence } = space;
  const index = createResidentIndex();
  const termIds = new Map<string, number>();
  const idOf = (term: string) => {
    const id = termIds.get(term) ?? termIds.size;
    termIds.set(term, id);
    return id;
  };
  reserve(index, memories.length);
  memories.forEach(({ memory, terms, vector }, key) => {
    putMemory(index, {
      key,
      ordinal: memory.ordinal,
      signals: signalsOf(memory),
      tags: memory.tags,
      turn: turnOf(memory),
      termIds: [...terms.keys()].map(idOf),
      termCounts: [...terms.values()],
      vector,
    });
  });
  const keys = new Map(memories.map(({ memory }, key) => [memory.id, key]));
  const at = (key: number) => memories[key] as SearchableMemory;
  const keysWhere = (holds: (each: SearchableMemory) => boolean) =>
    [...memories.keys()].filter((key) => holds(at(key)));
  return {
    resident: { index, relations: relationsOf(space, keys), sequence },
    source: {
      vectors: (wanted) => wanted.map((key) => at(key).vector),
      records: (wanted) => wanted.map((key) => at(key).memory),
      keysOf: (ids) => ids.map((id) => keys.get(id)),
      termIds: (terms) => terms.map((term) => termIds.get(term)),
      keysWithMetadata: (conditions) =>
        new Set(keysWhere(({ memory }) => meetsMetadata(memory.metadata, conditions))),
      keysContaining: (text) => keysWhere(({ memory }) => containsText(memory, text)),
    },
  };
}

/** How the memories stand to each other, by key; what is not there stands to nothing. */
function relationsOf(
  { memories, pairs }: SearchableSpace,
  keys: ReadonlyMap<string, number>,
): Relations<number> {
  const both = (older: string, newer: string) => {
    const ends = [keys.get(older), keys.get(newer)] as const;
    return ends[0] === undefined || ends[1] === undefined ? [] : [[ends[0], ends[1]] as const];
  };
  const successors = memories.flatMap(({ memory }) =>
    memory.supersedes.flatMap((older) => both(older, memory.id)),
  );
  const newer = pairs
    .filter(({ kind }) => kind === 'update')
    .flatMap((pair) =>
      both(pair.older, pair.newer).map(
        ([older, key]) => [older, { key, similarity: pair.similarity }] as const,
      ),
    );
  return { successors: grouped(successors), newer: grouped(newer) };
}

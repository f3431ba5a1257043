import type { MemoryRecord } from '../domain/memory.ts';
import { endsOf, foldedName, namesOfEntity, relationIds } from '../domain/relation.ts';
import { normalisedContent } from '../domain/statement.ts';
import { grouped } from './belief-state.ts';
import { compareCreated } from './comparison.ts';
import {
  checkListRequest,
  comparePlaces,
  decodeCursor,
  type ListPlace,
  meetsFields,
  notListed,
  offsetAround,
  orderOf,
  pageOf,
  placeOf,
} from './cursor.ts';
import { filterExclusionOf } from './eligibility.ts';
import { operationsOf } from './operations.ts';
import { recordingsOf } from './recording.ts';
import { buriedKey, type KeptPair, lastSequence, type SearchableSpace, type State } from './state.ts';
import type {
  FindBy,
  ListAnswer,
  ListRequest,
  Session,
  SimilarPair,
  SpaceInfo,
  StoreReader,
} from './store.ts';
import { fullContent } from './tiers.ts';

/** Creates a reader over a state. Each call reads the state that `present` returns at that time. */
export function readerOf(present: () => State): StoreReader {
  return {
    async get(ids) {
      const { memories } = present();
      return ids.map((id) => memories.get(id)?.memory);
    },
    async storedLinks(ids, { among = false } = {}) {
      const wanted = new Set(ids);
      const isWanted = (id: string) => wanted.has(id);
      const links = [...present().links.values()];
      return links.filter(({ ids: ends }) => (among ? ends.every(isWanted) : ends.some(isWanted)));
    },
    async stated(query) {
      const ends = new Set('ends' in query ? query.ends : []);
      const subjects = new Set(
        'ends' in query ? [] : query.subjects.map(({ from, name }) => JSON.stringify([from, name])),
      );
      return [...present().memories.values()].flatMap(({ memory }) =>
        (memory.relations ?? [])
          .filter(
            ({ from, name, to }) =>
              ends.has(from) || ends.has(to) || subjects.has(JSON.stringify([from, name])),
          )
          .map((relation) => ({ memory, relation })),
      );
    },
    async standing(ids) {
      const { memories } = present();
      return ids.map((id) => memories.get(id)?.memory);
    },
    async neighbours(ids) {
      const records = inOrder([...present().memories.values()].map(({ memory }) => memory));
      const sessions = grouped(records.map((memory) => [memory.bornIn, memory] as const));
      return ids.map((id) => {
        const session = present().memories.get(id)?.memory.bornIn;
        if (session === undefined) return undefined;
        const beside = sessions.get(session) ?? [];
        const at = beside.findIndex((memory) => memory.id === id);
        return { memory: beside[at] as MemoryRecord, before: beside[at - 1], after: beside[at + 1] };
      });
    },
    async pairs(query) {
      if ('waiting' in query) {
        const waiting = pendingPairsOf(present()).filter(({ sequence }) => sequence > query.after);
        return waiting.slice(0, query.waiting);
      }
      const known = [...present().pairs.values()].filter(({ dropped }) => !dropped);
      if ('sequence' in query) return known.filter(({ sequence }) => sequence === query.sequence).map(pairOf);
      const wanted = new Set(query.of);
      return known.filter(({ older, newer }) => wanted.has(older) || wanted.has(newer)).map(pairOf);
    },
    async find(by, values) {
      const { memories, events } = present();
      const fold = by === 'content' ? normalisedContent : by === 'names' ? foldedName : String;
      const wanted = new Set(values.map(fold));
      const found = [...memories.values()].filter(({ memory }) =>
        valuesOf(memory, by, events).some((value) => wanted.has(value)),
      );
      return inOrder(found.map(({ memory }) => memory));
    },
    async around({ id, createdAt, ordinal }, count) {
      const records = inOrder([...present().memories.values()].map(({ memory }) => memory));
      const others = records.filter((memory) => memory.id !== id);
      const earlier = others.filter((memory) => compareCreated(memory, { createdAt, ordinal }) < 0);
      return {
        before: earlier.slice(Math.max(0, earlier.length - count)),
        after: others.slice(earlier.length, earlier.length + count),
      };
    },
    async session(id) {
      const sessions = [...present().sessions.values()];
      if (id !== undefined) return sessions.find((session) => session.id === id);
      return sessions.filter(({ endedAt }) => endedAt === undefined).sort(compareSessions)[0];
    },
    async votes(id) {
      const latest = new Map(
        present()
          .votes.filter(({ memoryId }) => memoryId === id)
          .map(({ voter, vote, operation }) => [voter, { voter, vote, operation }]),
      );
      return [...latest.values()].sort((a, b) => Buffer.compare(Buffer.from(a.voter), Buffer.from(b.voter)));
    },
    async tombstones(statements) {
      const { tombstones } = present();
      return statements.map((statement) => tombstones.get(buriedKey(statement)));
    },
    async uncompared(limit) {
      const { memories, compared } = present();
      const records = [...memories.values()].map(({ memory }) => memory);
      return records.filter(({ id, tier }) => tier === 'hot' && !compared.has(id)).slice(0, limit);
    },
    async events(query) {
      const { events, memories } = present();
      if ('memory' in query) return events.filter(({ memoryId }) => memoryId === query.memory);
      if ('run' in query) return events.filter(({ run }) => run === query.run);
      if ('operation' in query) return events.filter(({ operation }) => operation === query.operation);
      if ('after' in query) {
        return events.filter(({ sequence }) => sequence > query.after).slice(0, query.limit);
      }
      const last = new Map(
        events.flatMap((event) =>
          event.before && !memories.has(event.memoryId) ? [[event.memoryId, event] as const] : [],
        ),
      );
      return [...last.values()].sort((a, b) => a.sequence - b.sequence);
    },
    async list(request) {
      return listOf(present(), request);
    },
    async state() {
      const { settings, embedding, analyzer } = present();
      return { settings, embedding, analyzer };
    },
    async place() {
      const state = present();
      return {
        sequence: lastSequence(state),
        usage: state.usages.at(-1)?.sequence ?? 0,
        pair: state.lastPair,
        waiting: pendingPairsOf(state).length,
      };
    },
    async recordings(request) {
      return recordingsOf(present(), request);
    },
    async usage(after = 0, limit) {
      return present()
        .usages.filter(({ sequence }) => sequence > after)
        .slice(0, limit);
    },
    async operations(request) {
      return operationsOf(present(), request);
    },
  };
}

function valuesOf(memory: MemoryRecord, by: FindBy, events: State['events']): readonly string[] {
  if (by === 'content') return [statementOf(memory, events)];
  if (by === 'names') return namesOfEntity(memory);
  if (by === 'ends') return endsOf(memory.relations);
  if (by === 'relations') return relationIds(memory.relations);
  return [memory[by] ?? []].flat();
}

function pairOf({
  older,
  newer,
  kind,
  similarity,
  sequence,
  at,
  attempts,
  resolution,
}: KeptPair): SimilarPair {
  return { older, newer, kind, similarity, sequence, at, attempts, resolution };
}

function pendingPairsOf(state: State): readonly SimilarPair[] {
  return [...state.pairs.values()].filter(({ endedAt }) => endedAt === undefined).map(pairOf);
}

/** The parts of a state that a search reads. */
export function searchable(state: State): SearchableSpace {
  return {
    memories: [...state.memories.values()],
    pairs: pendingPairsOf(state),
    sequence: lastSequence(state),
  };
}

/** Latest first. */
function compareSessions(a: Session, b: Session): number {
  return b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1);
}

function inOrder(memories: readonly MemoryRecord[]): readonly MemoryRecord[] {
  return memories.toSorted(compareCreated);
}

function listOf(state: State, request: ListRequest): ListAnswer {
  checkListRequest(request);
  const { filter, where, limit, cursor, around, count } = request;
  const order = orderOf(request);
  const compare = (a: ListPlace, b: ListPlace) => comparePlaces(a, b, order.direction);
  const listed = [...state.memories.values()]
    .map(({ memory }) => memory)
    .filter((memory) => filterExclusionOf(memory, filter) === undefined && meetsFields(memory, where))
    .sort((a, b) => compare(placeOf(a, order), placeOf(b, order)));
  let { offset = 0 } = request;
  if (around !== undefined) {
    const found = listed.findIndex(({ id }) => id === around);
    if (found < 0) throw notListed(around);
    offset = offsetAround(found, listed.length, limit);
  }
  if (cursor !== undefined) {
    const after = decodeCursor(cursor, request);
    offset = listed.filter((memory) => compare(placeOf(memory, order), after) <= 0).length;
  }
  const page = pageOf(listed.slice(offset), request);
  return count ? { ...page, total: listed.length, position: Math.min(offset, listed.length) } : page;
}

/** See `SpaceStore.info`. */
export function infoOf(name: string, state: State): SpaceInfo {
  const stored = [...state.memories.values()];
  const count = (key: (memory: MemoryRecord) => string) => {
    const counts = new Map<string, number>();
    for (const { memory } of stored) counts.set(key(memory), (counts.get(key(memory)) ?? 0) + 1);
    return Object.fromEntries(counts);
  };
  return {
    name,
    memories: stored.length,
    vectors: stored.filter(({ vector }) => vector).length,
    terms: new Set(stored.flatMap(({ terms }) => [...terms.keys()])).size,
    byType: count((memory) => memory.type),
    byScope: count((memory) => memory.scope),
    byTier: count((memory) => memory.tier),
    links: state.links.size,
    pendingPairs: pendingPairsOf(state).length,
    events: state.events.length,
    sequence: lastSequence(state),
    embedding: state.embedding,
    analyzer: state.analyzer,
    settings: state.settings,
    bytes: 0,
    path: undefined,
    schemaVersion: 0,
  };
}

const statements = new WeakMap<MemoryRecord, string>();

/** The normalised content of a memory; for a stub, of its full text. Cached per record: stored records never change. */
function statementOf(memory: MemoryRecord, events: State['events']): string {
  let statement = statements.get(memory);
  if (statement === undefined) {
    const history = memory.tier === 'stub' ? events.filter(({ memoryId }) => memoryId === memory.id) : [];
    statement = normalisedContent(memory.tier === 'stub' ? fullContent(memory, history) : memory.content);
    statements.set(memory, statement);
  }
  return statement;
}

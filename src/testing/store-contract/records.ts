import fc from 'fast-check';
import { expect } from 'vitest';
import type { MemoryRecord } from '../../domain/memory.ts';
import { arbitraryMemory } from '../arbitrary-memory.ts';
import { sampleIndexed, sampleMemory } from '../sample-memory.ts';
import { type ContractTest, getOne, insert, onSpace, replace, start, write } from './harness.ts';

const full: MemoryRecord = {
  id: 'ID-1/ü',
  ordinal: 7,
  scope: 'team:a/project:b',
  type: 'recipe',
  title: 'Title “quoted” 🫖',
  content: 'line one\nline two\ttab \'single\' "double" 東京 𝒳',
  tags: ['b', 'a', 'b', ''],
  metadata: { nested: { list: [1, -2.5, null, true, 'x'], empty: {} }, '': 'no name' },
  topicKey: 'topic',
  aliases: ['Its other name', '別名'],
  kind: 'person',
  relations: [
    { from: 'ID-1/ü', name: 'knows', to: 'other', weight: 1 / 3, confidence: 0.1, validFrom: start + 9 },
    { from: 'other', name: 'lives_in', to: '東京', weight: 1, confidence: 1, validUntil: -1 },
  ],
  author: 'Zoë 東京',
  role: 'user',
  sessionId: 'session',
  bornIn: 'first session',
  createdAt: -1,
  updatedAt: start + 1,
  textChangedAt: start + 10,
  lastAccessedAt: start + 2,
  seen: start + 8,
  validFrom: start + 3,
  validUntil: start + 4,
  expiresAt: start + 5,
  invalidatedAt: 0,
  coldSince: start + 6,
  consolidatedAt: start + 7,
  importance: 0.1 + 0.2,
  importanceSource: 'model',
  confidence: 1,
  usefulness: 0,
  weight: 1 / 3,
  stability: 2 ** -60,
  accessCount: 123_456_789,
  sessions: ['s1', 's2'],
  revisionCount: 7,
  tier: 'cold',
  core: true,
  invalidReason: 'It was wrong',
  supersedes: ['older', 'oldest'],
  source: 'imported',
  sourceRef: 'file.md#L3',
  derivedFrom: ['part', 'other part'],
};

export const recordTests: readonly ContractTest[] = [
  onSpace('every field comes back as it was written', async (space) => {
    await write(space, [{ kind: 'insert', memory: full, indexed: sampleIndexed(full) }]);
    expect(await getOne(space, full.id)).toStrictEqual(full);
    expect((await space.list({ filter: {}, limit: 1 })).memories).toStrictEqual([full]);
    const changed = { ...full, content: 'other', title: undefined, core: false, invalidatedAt: undefined };
    await write(space, [{ kind: 'replace', memory: changed }]);
    expect(await getOne(space, full.id)).toStrictEqual(changed);
    expect((await space.history(full.id))[1]?.before).toStrictEqual(full);
  }),
  onSpace('absent fields stay absent', async (space) => {
    const memory = sampleMemory({ id: 'a' });
    await write(space, [{ kind: 'insert', memory, indexed: sampleIndexed(memory) }]);
    expect(await getOne(space, 'a')).toStrictEqual({ ...memory, ordinal: 1 });
  }),
  {
    title: 'any memory comes back as it was written, and so does what it was before',
    async run({ store }) {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(arbitraryMemory, arbitraryMemory, async (drawn, second) => {
          await using space = await store.openSpace(`run-${run++}`);
          // A memory keeps its ordinal, whatever a change says. A new memory without one gets the next.
          const first = { ...drawn, ordinal: drawn.ordinal || 1 };
          const next = { ...second, id: first.id, ordinal: first.ordinal };
          await write(space, [{ kind: 'insert', memory: drawn, indexed: sampleIndexed(drawn) }]);
          expect(await getOne(space, first.id)).toStrictEqual(first);
          await write(space, [
            { kind: 'replace', memory: { ...next, ordinal: 0 }, indexed: sampleIndexed(next) },
          ]);
          expect(await getOne(space, first.id)).toStrictEqual(next);
          await write(space, [{ kind: 'remove', id: first.id }]);
          expect(await getOne(space, first.id)).toBeUndefined();
          const befores = (await space.history(first.id)).map((event) => event.before);
          expect(befores).toStrictEqual([undefined, first, next]);
        }),
        { numRuns: 25 },
      );
    },
  },
  onSpace('ordinals follow the order of insertion, and none is given twice', async (space) => {
    const ordinals = async (...ids: string[]) => (await space.get(ids)).map((memory) => memory?.ordinal);
    await write(space, [insert({ id: 'c' }), insert({ id: 'a' })]);
    await write(space, [{ kind: 'remove', id: 'a' }, insert({ id: 'b' })]);
    expect(await ordinals('c', 'b')).toEqual([1, 3]);
    // A memory that comes back keeps its ordinal. A higher ordinal that is given moves the next one on.
    await write(space, [insert({ id: 'a', ordinal: 2 }), insert({ id: 'z', ordinal: 10 })]);
    await write(space, [insert({ id: 'y' })]);
    await write(space, [replace({ id: 'c', content: 'other', ordinal: 99 })]);
    expect(await ordinals('c', 'a', 'b', 'z', 'y')).toEqual([1, 2, 3, 10, 11]);
    // The highest ordinal is not given again after its memory was removed in an earlier write.
    await write(space, [{ kind: 'remove', id: 'y' }]);
    await write(space, [insert({ id: 'x' })]);
    expect(await ordinals('x')).toEqual([12]);
  }),
  onSpace('get answers in the order of the ids, with gaps', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
    const found = await space.get(['b', 'x', 'a', 'b']);
    expect(found.map((memory) => memory?.id)).toEqual(['b', undefined, 'a', 'b']);
    expect(await space.get([])).toEqual([]);
  }),
  onSpace('what a caller does to its objects afterwards changes nothing', async (space) => {
    const tags = ['before'];
    const memory = sampleMemory({ id: 'a', tags });
    await write(space, [{ kind: 'insert', memory, indexed: sampleIndexed(memory) }]);
    tags[0] = 'after';
    expect((await getOne(space, 'a'))?.tags).toEqual(['before']);
    await write(space, [replace({ id: 'a', content: 'new' })]);
    expect((await space.history('a'))[1]?.before?.tags).toEqual(['before']);
  }),
];

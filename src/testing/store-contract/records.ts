import fc from 'fast-check';
import { expect } from 'vitest';
import type { MemoryRecord } from '../../model/memory.ts';
import { arbitraryMemory } from '../arbitrary-memory.ts';
import { sampleIndexed, sampleMemory } from '../sample-memory.ts';
import { type ContractTest, getOne, insert, onSpace, replace, start, write } from './harness.ts';

const full: MemoryRecord = {
  id: 'ID-1/ü',
  scope: 'team:a/project:b',
  type: 'recipe',
  title: 'Title “quoted” 🫖',
  content: 'line one\nline two\ttab \'single\' "double" 東京 𝒳',
  tags: ['b', 'a', 'b', ''],
  metadata: { nested: { list: [1, -2.5, null, true, 'x'], empty: {} }, '': 'no name' },
  topicKey: 'topic',
  sessionId: 'session',
  createdAt: -1,
  updatedAt: start + 1,
  lastAccessedAt: start + 2,
  validFrom: start + 3,
  validUntil: start + 4,
  expiresAt: start + 5,
  invalidatedAt: 0,
  coldSince: start + 6,
  consolidatedAt: start + 7,
  importance: 0.1 + 0.2,
  importanceJudge: 'model',
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
    expect(await getOne(space, 'a')).toStrictEqual(memory);
  }),
  {
    title: 'any memory comes back as it was written, and so does what it was before',
    async run({ store }) {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(arbitraryMemory, arbitraryMemory, async (first, second) => {
          await using space = await store.openSpace(`run-${run++}`);
          const next = { ...second, id: first.id };
          await write(space, [{ kind: 'insert', memory: first, indexed: sampleIndexed(first) }]);
          expect(await getOne(space, first.id)).toStrictEqual(first);
          await write(space, [{ kind: 'replace', memory: next, indexed: sampleIndexed(next) }]);
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

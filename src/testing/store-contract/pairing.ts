import { expect } from 'vitest';
import type { Change, SimilarPair, SpaceReader, SpaceStore } from '../../store/store.ts';
import { sampleIndexed } from '../sample-memory.ts';
import {
  type ContractTest,
  everything,
  expectCode,
  getOne,
  insert,
  model,
  onSpace,
  replace,
  start,
  write,
} from './harness.ts';

const pair = (a: string, b: string, similarity = 0.9, at: number = start): SimilarPair => ({
  ids: [a, b],
  similarity,
  at,
});
const queue = (...args: Parameters<typeof pair>): Change => ({ kind: 'queue-pair', pair: pair(...args) });
const settle = (a: string, b: string): Change => ({ kind: 'settle-pair', ids: [a, b] });
const compared = (...ids: readonly string[]): Change => ({ kind: 'compared', ids });
const toCompare = async (reader: SpaceReader, limit = 10) =>
  (await reader.uncompared(limit)).map(({ id }) => id);

async function withMemories(space: SpaceStore): Promise<void> {
  await write(
    space,
    ['a', 'b', 'c', 'd'].map((id) => insert({ id }, [1, 0, 0])),
  );
}

export const pairTests: readonly ContractTest[] = [
  onSpace(
    'the queue holds pairs in the order in which they came, each once, whichever way round',
    async (space) => {
      await withMemories(space);
      await write(space, [queue('d', 'c', 0.1 + 0.2, start + 9), queue('a', 'b', 1, start - 1)]);
      await write(space, [queue('b', 'c'), queue('c', 'd', 0.5), queue('b', 'a')]);
      const expected = [pair('c', 'd', 0.1 + 0.2, start + 9), pair('a', 'b', 1, start - 1), pair('b', 'c')];
      expect(await space.pendingPairs(10)).toStrictEqual(expected);
      expect(await space.pendingPairs(2)).toStrictEqual(expected.slice(0, 2));
      expect(await space.knownPairs(['b', 'x', 'b'])).toStrictEqual(expected.slice(1));
      expect(await space.knownPairs(['d'])).toStrictEqual(expected.slice(0, 1));
      expect(await space.knownPairs([])).toEqual([]);
      expect(await space.check()).toEqual([]);
    },
  ),
  onSpace('a settled pair leaves the queue and does not come back', async (space) => {
    await withMemories(space);
    await write(space, [
      queue('a', 'b'),
      queue('b', 'c'),
      settle('b', 'a'),
      settle('a', 'd'),
      settle('a', 'x'),
    ]);
    expect(await space.pendingPairs(10)).toStrictEqual([pair('b', 'c')]);
    await write(space, [queue('a', 'b', 0.95)]);
    expect(await space.pendingPairs(10)).toStrictEqual([pair('b', 'c')]);
    expect(await space.knownPairs(['a'])).toStrictEqual([pair('a', 'b')]);
  }),
  onSpace(
    'a pair of memories that are not both there, or are one, is refused, and nothing is written',
    async (space) => {
      await withMemories(space);
      const before = await everything(space);
      await expectCode(write(space, [queue('a', 'b'), queue('a', 'x')]), 'not_found');
      await expectCode(write(space, [compared('a'), queue('a', 'a')]), 'invalid_argument');
      expect(await everything(space)).toEqual(before);
    },
  ),
  onSpace('hot memories are compared once, in the order in which they were written', async (space) => {
    await withMemories(space);
    await write(space, [insert({ id: 'cold', tier: 'cold' }), insert({ id: 'stub', tier: 'stub' })]);
    expect(await toCompare(space)).toEqual(['a', 'b', 'c', 'd']);
    expect(await toCompare(space, 3)).toEqual(['a', 'b', 'c']);
    await write(space, [compared('c', 'a', 'x')]);
    expect(await toCompare(space)).toEqual(['b', 'd']);
    const first = (await space.uncompared(1))[0];
    expect(first).toStrictEqual(await getOne(space, 'b'));
    // One that warms up is compared then.
    await write(space, [replace({ id: 'cold', tier: 'hot' })]);
    expect(await toCompare(space)).toEqual(['b', 'd', 'cold']);
  }),
  onSpace('another text ends what was found out about the old one; nothing else does', async (space) => {
    await withMemories(space);
    await write(space, [
      queue('a', 'b'),
      queue('b', 'c'),
      settle('b', 'c'),
      queue('c', 'd'),
      compared('a', 'b', 'c', 'd'),
    ]);
    await write(space, [replace({ id: 'b', tags: ['new'], importance: 1, revisionCount: 2 })]);
    expect(await toCompare(space)).toEqual([]);
    expect(await space.knownPairs(['b'])).toHaveLength(2);
    await write(space, [replace({ id: 'b', content: 'something else' })]);
    expect(await toCompare(space)).toEqual(['b']);
    expect(await space.knownPairs(['a', 'b', 'c', 'd'])).toStrictEqual([pair('c', 'd')]);
    await write(space, [replace({ id: 'd', title: 'A title' })]);
    expect(await toCompare(space)).toEqual(['b', 'd']);
    expect(await space.pendingPairs(10)).toEqual([]);
    await write(space, [queue('b', 'c', 0.7)]);
    expect(await space.pendingPairs(10)).toStrictEqual([pair('b', 'c', 0.7)]);
  }),
  onSpace('with a memory its pairs go; one that comes back is compared again', async (space) => {
    await withMemories(space);
    await write(space, [queue('a', 'b'), queue('b', 'c'), queue('c', 'd'), compared('a', 'b', 'c', 'd')]);
    await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
    expect(await space.pendingPairs(10)).toStrictEqual([pair('b', 'c'), pair('c', 'd')]);
    await write(space, [{ kind: 'remove', id: 'c' }]);
    expect(await space.pendingPairs(10)).toEqual([]);
    await write(space, [insert({ id: 'c' })]);
    expect(await toCompare(space)).toEqual(['c']);
    expect(await space.knownPairs(['b', 'c', 'd'])).toEqual([]);
    expect(await space.check()).toEqual([]);
  }),
  onSpace('the queue is work and not belief: it makes no events, and nothing to undo', async (space) => {
    await withMemories(space);
    const { events, sequence } = await space.info();
    const last = await space.operation();
    await write(space, [queue('a', 'b'), compared('a')], { verb: 'maintain' });
    await write(space, [settle('a', 'b')], { verb: 'maintain' });
    expect(await space.info()).toMatchObject({ events, sequence });
    expect(await space.operation()).toEqual(last);
    expect(await space.history('a')).toHaveLength(1);
  }),
  onSpace('a decision reads the queue as it is inside its transaction', async (space) => {
    await withMemories(space);
    await Promise.all(
      [1, 2, 3].map(() =>
        space.write({ verb: 'maintain', at: start }, async (reader) => {
          const ids = await toCompare(reader, 1);
          return { changes: [compared(...ids)], result: undefined };
        }),
      ),
    );
    expect(await toCompare(space)).toEqual(['d']);
  }),
  onSpace('another model has everything compared anew; the same one nothing', async (space) => {
    await withMemories(space);
    await write(space, [queue('a', 'b'), compared('a', 'b', 'c', 'd')]);
    const reindex = (name: string) =>
      space.reindex({
        analyzer: 'simple-1',
        embedding: { ...model, model: name },
        derive: async (memories) => memories.map((memory) => sampleIndexed(memory, [0, 1, 0])),
      });
    await reindex(model.model);
    expect(await toCompare(space)).toEqual([]);
    await reindex('test-4');
    expect(await toCompare(space)).toEqual(['a', 'b', 'c', 'd']);
    expect(await space.pendingPairs(10)).toStrictEqual([pair('a', 'b')]);
  }),
];

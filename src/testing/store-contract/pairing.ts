import { expect } from 'vitest';
import { checkProfile, resolveProfile } from '../../scoring/profile.ts';
import type { Change, NewPair, PairKind, SimilarPair, SpaceReader, SpaceStore } from '../../store/store.ts';
import { sampleIndexed } from '../sample-memory.ts';
import {
  type ContractTest,
  everything,
  expectCode,
  getOne,
  insert,
  inspectIn,
  latestUndoable,
  model,
  onSpace,
  replace,
  searchIn,
  start,
  write,
} from './harness.ts';

const pair = (older: string, newer: string, similarity = 0.9, kind: PairKind = 'similar'): NewPair => ({
  older,
  newer,
  kind,
  similarity,
});
const queue = (...args: Parameters<typeof pair>): Change => ({ kind: 'queue-pair', pair: pair(...args) });
const settle = (sequence: number, resolution = 'keep-both'): Change => ({
  kind: 'settle-pair',
  sequence,
  resolution,
});
const pending = async (space: SpaceReader, limit = 10) => (await space.pendingPairs(limit)).map(said);
const known = async (space: SpaceReader, ids: readonly string[]) => (await space.knownPairs(ids)).map(said);
const said = ({ older, newer, kind, similarity }: SimilarPair): NewPair => ({
  older,
  newer,
  kind,
  similarity,
});
const compared = (...ids: readonly string[]): Change => ({ kind: 'compared', ids });
const toCompare = async (reader: SpaceReader, limit = 10) =>
  (await reader.uncompared(limit)).map(({ id }) => id);

/** A profile whose score is 1 − conflict. */
const withoutConflict = {
  profile: resolveProfile(
    checkProfile(
      {
        name: 'without-conflict',
        description: 'What nothing contests.',
        score: {
          op: 'sum',
          terms: [
            { weight: 1, of: 1 },
            { weight: -1, of: { op: 'signal', name: 'conflict' } },
          ],
        },
      },
      () => undefined,
    ),
  ),
  query: { terms: [] },
  filter: {},
  now: start,
};

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
      await write(space, [queue('d', 'c', 0.1 + 0.2), queue('a', 'b', 1)], { at: start + 9 });
      await write(space, [queue('b', 'c'), queue('c', 'd', 0.5), queue('b', 'a')]);
      const expected = [pair('d', 'c', 0.1 + 0.2), pair('a', 'b', 1), pair('b', 'c')];
      expect(await pending(space, 10)).toStrictEqual(expected);
      expect(await pending(space, 2)).toStrictEqual(expected.slice(0, 2));
      expect(await known(space, ['b', 'x', 'b'])).toStrictEqual(expected.slice(1));
      expect(await known(space, ['d'])).toStrictEqual(expected.slice(0, 1));
      expect(await known(space, [])).toEqual([]);
      const between = Array.from({ length: 3000 }, (_, at) => `nothing ${at}`);
      expect(await known(space, ['b', ...between, 'a', 'c'])).toStrictEqual(expected);
      const [first, second] = await space.pendingPairs(2);
      expect(first).toStrictEqual({
        ...expected[0],
        sequence: first?.sequence,
        at: start + 9,
        attempts: 0,
        resolution: undefined,
      });
      expect(second?.sequence).toBeGreaterThan(first?.sequence as number);
      expect(await space.pair(second?.sequence as number)).toStrictEqual(second);
      const after = await space.pendingPairs(1, first?.sequence);
      expect(after).toStrictEqual([second]);
      expect((await space.pendingPairs(10, second?.sequence)).map(said)).toStrictEqual(expected.slice(2));
      expect(await space.pair(1_000_000)).toBeUndefined();
      expect(await space.check()).toEqual([]);
    },
  ),
  onSpace('a settled pair leaves the queue and does not come back', async (space) => {
    await withMemories(space);
    await write(space, [queue('a', 'b'), queue('b', 'c')]);
    const [first] = await space.pendingPairs(1);
    const sequence = first?.sequence as number;
    await write(space, [settle(sequence, 'supersede'), settle(1_000_000)]);
    // A pair that is settled stays settled.
    await write(space, [settle(sequence, 'delete')]);
    expect(await space.pair(sequence)).toMatchObject({ resolution: 'supersede' });
    expect((await space.info()).pendingPairs).toBe(1);
    expect(await pending(space, 10)).toStrictEqual([pair('b', 'c')]);
    await write(space, [queue('a', 'b', 0.95)]);
    expect(await pending(space, 10)).toStrictEqual([pair('b', 'c')]);
    expect(await known(space, ['a'])).toStrictEqual([pair('a', 'b')]);
  }),
  onSpace(
    'a possible update takes the place of a similar pair that waits; nothing else takes any place',
    async (space) => {
      await withMemories(space);
      await write(space, [queue('a', 'b', 0.9), queue('b', 'c', 0.9), queue('c', 'd', 0.4, 'update')]);
      const [similar, settled, update] = (await space.pendingPairs(3)) as [
        SimilarPair,
        SimilarPair,
        SimilarPair,
      ];
      await write(space, [settle(settled.sequence)]);
      await write(space, [
        queue('b', 'a', 0.3, 'update'),
        queue('b', 'c', 0.8, 'update'),
        queue('d', 'c', 0.99),
        queue('c', 'd', 0.8, 'update'),
      ]);
      expect(await pending(space)).toStrictEqual([
        pair('c', 'd', 0.4, 'update'),
        pair('b', 'a', 0.3, 'update'),
      ]);
      expect(await known(space, ['b'])).toStrictEqual([pair('b', 'c', 0.9), pair('b', 'a', 0.3, 'update')]);
      expect(await space.pair(similar.sequence)).toBeUndefined();
      expect(await space.pair(update.sequence)).toStrictEqual(update);
      expect((await space.info()).pendingPairs).toBe(2);
      expect(await space.check()).toEqual([]);
    },
  ),
  onSpace('only a possible update that waits and is believed contests what is older', async (space) => {
    await withMemories(space);
    const conflictAt = async (at = start) => {
      const found = await inspectIn(space, ['a', 'b', 'c'], { ...withoutConflict, now: at });
      return found.map((each) => [each?.signals.conflict, each?.score]);
    };
    await write(space, [
      queue('a', 'b', 0.95),
      queue('b', 'c', 0.4, 'update'),
      queue('b', 'd', 0.3, 'update'),
    ]);
    expect(await conflictAt()).toEqual([
      [0, 1],
      [0.4, 0.6],
      [0, 1],
    ]);
    const { hits } = await searchIn(space, { ...withoutConflict, limit: 4 });
    expect(hits.map(({ memory, score }) => [memory.id, score])).toEqual([
      ['d', 1],
      ['c', 1],
      ['a', 1],
      ['b', 0.6],
    ]);
    await write(space, [replace({ id: 'c', invalidatedAt: start + 5 })]);
    expect((await conflictAt(start + 4))[1]).toEqual([0.4, 0.6]);
    expect((await conflictAt(start + 5))[1]).toEqual([0.3, 0.7]);
    // The kind of a pair is part of what was known at a moment.
    const noticed = start + 20;
    await write(space, [queue('a', 'b', 0.5, 'update')], { at: noticed });
    expect((await conflictAt())[0]).toEqual([0.5, 0.5]);
    await using past = await space.asKnown(noticed - 1, async () => []);
    const [then] = await inspectIn(past, ['a'], withoutConflict);
    expect(then?.signals.conflict).toBe(0);
    expect(await pending(past)).toContainEqual(pair('a', 'b', 0.95));
  }),
  onSpace(
    'a possible update ends when one of the two says something else, or is forgotten',
    async (space) => {
      await withMemories(space);
      const contested = async (id: string) => {
        const [found] = await inspectIn(space, [id], withoutConflict);
        return found?.signals.conflict;
      };
      const ends: readonly (readonly [string, readonly Change[]])[] = [
        ['a', [replace({ id: 'a', content: 'the older one says something else' })]],
        ['b', [replace({ id: 'c', content: 'the newer one says something else' })]],
        ['a', [{ kind: 'redact', id: 'd' }]],
      ];
      for (const [at, [older, changes]] of ends.entries()) {
        await write(space, [queue(older, ['b', 'c', 'd'][at]!, 0.4, 'update')]);
        expect(await contested(older)).toBe(0.4);
        await write(space, changes);
        expect(await contested(older)).toBe(0);
      }
    },
  ),
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
  onSpace('questions without an answer are counted with their pair', async (space) => {
    await withMemories(space);
    await write(space, [queue('a', 'b'), queue('b', 'c')]);
    const [first, second] = await space.pendingPairs(9);
    await write(space, [{ kind: 'attempt-pairs', sequences: [first!.sequence] }]);
    await write(space, [{ kind: 'attempt-pairs', sequences: [first!.sequence, second!.sequence, 999] }]);
    expect((await space.pendingPairs(9)).map(({ attempts }) => attempts)).toEqual([2, 1]);
  }),
  onSpace('hot memories are compared once, in the order in which they were written', async (space) => {
    await withMemories(space);
    await write(space, [insert({ id: 'cold', tier: 'cold' }), insert({ id: 'stub', tier: 'stub' })]);
    expect(await toCompare(space)).toEqual(['a', 'b', 'c', 'd']);
    expect(await toCompare(space, 3)).toEqual(['a', 'b', 'c']);
    await write(space, [compared('c', 'a', 'x')]);
    expect(await toCompare(space)).toEqual(['b', 'd']);
    const first = (await space.uncompared(1))[0];
    expect(first).toStrictEqual(await getOne(space, 'b'));
    // A cold memory that becomes hot is compared then.
    await write(space, [replace({ id: 'cold', tier: 'hot' })]);
    expect(await toCompare(space)).toEqual(['b', 'd', 'cold']);
    // A memory that was created long ago and imported now comes last.
    await write(space, [insert({ id: 'imported', createdAt: start - 9 })]);
    expect(await toCompare(space)).toEqual(['b', 'd', 'cold', 'imported']);
  }),
  onSpace(
    'only a change of the text drops the pairs of a memory and has it compared again',
    async (space) => {
      await withMemories(space);
      await write(space, [queue('a', 'b'), queue('b', 'c'), queue('c', 'd'), compared('a', 'b', 'c', 'd')]);
      const second = (await space.pendingPairs(2))[1];
      await write(space, [settle(second?.sequence as number)]);
      await write(space, [replace({ id: 'b', tags: ['new'], importance: 1, revisionCount: 2 })]);
      expect(await toCompare(space)).toEqual([]);
      expect(await known(space, ['b'])).toHaveLength(2);
      await write(space, [replace({ id: 'b', content: 'something else' })]);
      expect(await toCompare(space)).toEqual(['b']);
      expect(await known(space, ['a', 'b', 'c', 'd'])).toStrictEqual([pair('c', 'd')]);
      await write(space, [replace({ id: 'd', title: 'A title' })]);
      expect(await toCompare(space)).toEqual(['b', 'd']);
      expect(await pending(space, 10)).toEqual([]);
      await write(space, [queue('b', 'c', 0.7)]);
      expect(await pending(space, 10)).toStrictEqual([pair('b', 'c', 0.7)]);
    },
  ),
  onSpace(
    'removing a memory removes its pairs; a memory that comes back is compared again',
    async (space) => {
      await withMemories(space);
      await write(space, [queue('a', 'b'), queue('b', 'c'), queue('c', 'd'), compared('a', 'b', 'c', 'd')]);
      await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
      expect(await pending(space, 10)).toStrictEqual([pair('b', 'c'), pair('c', 'd')]);
      await write(space, [{ kind: 'remove', id: 'c' }]);
      expect(await pending(space, 10)).toEqual([]);
      await write(space, [insert({ id: 'c' })]);
      expect(await toCompare(space)).toEqual(['c']);
      expect(await known(space, ['b', 'c', 'd'])).toEqual([]);
      expect(await space.check()).toEqual([]);
    },
  ),
  onSpace('the queue is work and not belief: it makes no events, and nothing to undo', async (space) => {
    await withMemories(space);
    const { events, sequence } = await space.info();
    const last = await latestUndoable(space);
    await write(space, [queue('a', 'b'), compared('a')], { verb: 'maintain' });
    const [waiting] = await space.pendingPairs(1);
    await write(space, [settle(waiting?.sequence as number)], { verb: 'maintain' });
    expect(await space.info()).toMatchObject({ events, sequence });
    expect(await latestUndoable(space)).toEqual(last);
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
    expect(await pending(space, 10)).toStrictEqual([pair('a', 'b')]);
  }),
  onSpace(
    'what an operation did to the queue is taken back with it, at the end of the queue',
    async (space) => {
      await withMemories(space);
      await write(space, [queue('a', 'b', 0.7), queue('b', 'c'), queue('c', 'd')]);
      const [first, second] = await space.pendingPairs(2);
      // In one operation, one pair is judged, and one is dropped because a text changes.
      await write(space, [settle(first?.sequence as number), replace({ id: 'c', content: 'other' })]);
      const operation = (await latestUndoable(space))[0]?.operation as number;
      expect(await pending(space)).toEqual([]);
      await write(space, [{ kind: 'requeue-pairs', operation: operation + 100 }]);
      expect(await pending(space)).toEqual([]);
      await write(space, [{ kind: 'remove', id: 'd' }]);
      await write(space, [replace({ id: 'c' }), { kind: 'requeue-pairs', operation }]);
      expect(await pending(space)).toStrictEqual([pair('a', 'b', 0.7), pair('b', 'c')]);
      const [again] = await space.pendingPairs(1);
      expect(again?.sequence).toBeGreaterThan(second?.sequence as number);
      // Requeueing again, or queueing a known pair, adds nothing.
      await write(space, [{ kind: 'requeue-pairs', operation }]);
      expect(await pending(space)).toHaveLength(2);
      expect(await space.check()).toEqual([]);
    },
  ),
  onSpace('what ended a pair still holds for memories that an undo left unchanged', async (space) => {
    await withMemories(space);
    await write(space, [queue('a', 'b'), queue('b', 'd'), queue('c', 'd'), queue('a', 'c')]);
    const [first, second] = await space.pendingPairs(2);
    const settled = [first, second].map((each) => settle(each?.sequence as number));
    await write(space, [...settled, replace({ id: 'c', content: 'other' })]);
    const operation = (await latestUndoable(space))[0]?.operation as number;
    expect(await pending(space)).toEqual([]);
    const requeue = (unchanged: readonly string[]) =>
      write(space, [{ kind: 'requeue-pairs', operation, unchanged }]);
    await requeue(['b', 'c', 'd']);
    expect(await pending(space)).toEqual([]);
    await requeue(['b', 'c']);
    expect(await pending(space)).toStrictEqual([pair('b', 'd')]);
    expect(await space.check()).toEqual([]);
  }),
  onSpace('judging without an event belongs to no operation that could be taken back', async (space) => {
    await withMemories(space);
    await write(space, [queue('a', 'b')]);
    const [first] = await space.pendingPairs(1);
    await write(space, [settle(first?.sequence as number)]);
    await write(space, [replace({ id: 'd', importance: 1 })]);
    const operation = (await latestUndoable(space))[0]?.operation as number;
    await write(space, [{ kind: 'requeue-pairs', operation }]);
    expect(await pending(space)).toEqual([]);
  }),
];

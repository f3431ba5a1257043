import { expect, test } from 'vitest';
import { openMemory } from '../../open.ts';
import { chooseEmbedder } from '../../providers/choose.ts';
import { cosine } from '../../scoring/similarity.ts';
import { angleEmbedder } from '../../testing/angle-embedder.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { live, liveFading } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';

const lisbon = [
  { id: 'a', content: 'Anna flies to Lisbon on Monday morning' },
  { id: 'b', content: 'Anna flies to Lisbon on Tuesday morning' },
  { id: 'c', content: 'The tax return is due in May' },
];

const idsOf = ({ older, newer }: { readonly older: string; readonly newer: string }) => [older, newer].sort();

test('similar memories are queued once, unordered, and by whoever comes later', async () => {
  const { memory, space, pass } = await live();
  await memory.rememberMany(lisbon);
  const expected = [{ older: 'a', newer: 'b', kind: 'similar', similarity: expect.any(Number) }];
  expect(await memory.maintain({ dryRun: true })).toMatchObject({ compared: 3, similarPairs: expected });
  expect(await memory.conflicts()).toEqual([]);
  const { compared, similarPairs } = await memory.maintain();
  expect({ compared, similarPairs }).toEqual({ compared: 3, similarPairs: expected });
  const threshold = (await chooseEmbedder('builtin'))?.thresholds.similarPair as number;
  expect(similarPairs[0]?.similarity).toBeGreaterThanOrEqual(threshold);
  expect(similarPairs[0]?.similarity).toBeLessThan(1);
  const [queued] = await memory.conflicts();
  expect(queued).toEqual({
    conflictId: expect.stringMatching(/^\d+$/),
    older: await memory.get('a'),
    newer: await memory.get('b'),
    kind: 'similar',
    similarity: similarPairs[0]?.similarity,
    at: '2026-01-01T00:00:00.000Z',
  });
  expect(await memory.maintain()).toMatchObject({ compared: 0, similarPairs: [] });

  pass(1);
  await memory.rememberMany([{ content: 'Anna flies to Lisbon on Wednesday morning', id: 'd' }]);
  const next = await memory.maintain();
  expect(next.compared).toBe(1);
  expect(next.similarPairs.map(idsOf).sort()).toEqual([
    ['a', 'd'],
    ['b', 'd'],
  ]);
  expect((await space.pendingPairs(10)).map(idsOf)[0]).toEqual(['a', 'b']);
  expect(await memory.conflicts({ limit: 2 })).toHaveLength(2);

  // A judged pair does not come back; another text is another matter.
  await memory.resolve(queued?.conflictId as string, 'keep-both');
  await memory.update('c', { tags: ['money'] });
  expect(await memory.maintain()).toMatchObject({ compared: 0, similarPairs: [] });
  await memory.update('b', { content: 'Anna flies to Lisbon on Sunday morning' });
  const anew = await memory.maintain();
  expect(anew.compared).toBe(1);
  expect(anew.similarPairs.map(idsOf).sort()).toEqual([
    ['a', 'b'],
    ['b', 'd'],
  ]);
});

test('similar memories are looked for within one scope and one type, among what holds now', async () => {
  const { memory } = await live();
  const content = 'Anna flies to Lisbon on Monday morning';
  await memory.rememberMany([
    { id: 'fact', content },
    { id: 'event', content, type: 'event' },
    { id: 'elsewhere', content, scope: 'project:a' },
    { id: 'over', content: `${content}.`, validUntil: '2025-12-31' },
  ]);
  expect(await memory.maintain()).toMatchObject({ compared: 4, similarPairs: [] });
  await memory.rememberMany([{ content: `${content}!`, id: 'twin' }]);
  expect((await memory.maintain()).similarPairs.map(idsOf)).toEqual([['fact', 'twin']]);
});

test('what a memory supersedes is not compared, unless that memory is no longer believed', async () => {
  const superseding = async (fields: object = {}) => {
    const { memory, pass } = await live();
    await memory.remember('Ann lives in Oslo with her two cats', { id: 'old' });
    pass(1);
    await memory.remember('Ann lives in Bergen with her two cats', {
      id: 'new',
      supersedes: 'old',
      ...fields,
    });
    return memory;
  };
  const decided = await superseding();
  expect(await decided.maintain({ dryRun: true })).toMatchObject({ compared: 2, similarPairs: [] });
  expect(await decided.maintain()).toMatchObject({ compared: 2, similarPairs: [] });
  expect(await decided.conflicts()).toEqual([]);

  const over = await superseding({ validUntil: '2026-01-01T12:00:00Z', createdAt: '2026-01-01T06:00:00Z' });
  await over.rememberMany([{ id: 'other', content: 'Ann lives in Oslo with her two cats!' }]);
  expect((await over.maintain()).similarPairs.map(idsOf)).toEqual([['old', 'other']]);
});

test('without an embedder nothing is similar; with one everything is compared anew', async () => {
  const clock = createFakeClock();
  const store = createReferenceStore();
  const opened = { path: 'test', space: 'default', store, clock: () => clock.now() };
  const memory = await openMemory({ ...opened, embedder: 'none' });
  await memory.rememberMany(lisbon);
  expect(await memory.maintain()).toMatchObject({ compared: 3, similarPairs: [] });
  const embedding = await openMemory(opened);
  await embedding.reindex();
  const { compared, similarPairs } = await embedding.maintain();
  expect([compared, similarPairs.map(idsOf)]).toEqual([3, [['a', 'b']]]);
});

test('what changes while it is compared is compared again, and its stale pairs are not queued', async () => {
  let meanwhile: (() => Promise<unknown>) | undefined;
  const store = createReferenceStore();
  const { memory, space } = await live({
    store: {
      ...store,
      async openSpace(name, options) {
        const opened = await store.openSpace(name, options);
        return {
          ...opened,
          async snapshot(work) {
            const task = meanwhile;
            meanwhile = undefined;
            const result = await opened.snapshot(work);
            await task?.();
            return result;
          },
        };
      },
    },
  });
  await memory.rememberMany(lisbon);
  meanwhile = async () => {
    await memory.update('b', { content: 'Cows graze on the hill' });
    await memory.forget('c');
  };
  expect(await memory.maintain()).toMatchObject({ compared: 1, similarPairs: [] });
  expect((await space.uncompared(10)).map(({ id }) => id)).toEqual(['b']);
  expect(await memory.maintain()).toMatchObject({ compared: 1, similarPairs: [] });
});

test('a run takes 500 memories, and the next ones the rest, which find no pair again', async () => {
  const { memory } = await live();
  const others = Array.from({ length: 600 }, (_, at) => ({ id: `m${at}`, content: `xq${at}zv` }));
  await memory.rememberMany([lisbon[0]!, ...others, lisbon[1]!]);
  const first = await memory.maintain();
  expect(first).toMatchObject({ compared: 500, similarPairs: [{ older: 'a', newer: 'b' }] });
  const dry = await memory.maintain({ dryRun: true });
  expect(dry).toMatchObject({ compared: 102, similarPairs: [] });
  expect(await memory.maintain()).toMatchObject({ compared: 102, similarPairs: [] });
  expect(await memory.maintain()).toMatchObject({ compared: 0, similarPairs: [] });
  expect(await memory.conflicts()).toHaveLength(1);
});

test('a pair as similar as the threshold is queued, one a hair below it is not', async () => {
  const near = angleEmbedder({ one: 0, two: 25 });
  const [one, two] = await near.embed(['one', 'two']);
  const similarity = cosine(one!, two!);
  const pairsAt = async (similarPair: number) => {
    const { memory } = await live({ embedder: { ...near, thresholds: { ...near.thresholds, similarPair } } });
    await memory.rememberMany([{ content: 'one' }, { content: 'two' }]);
    return (await memory.maintain()).similarPairs.map((pair) => pair.similarity);
  };
  expect(await pairsAt(similarity)).toEqual([similarity]);
  expect(await pairsAt(similarity + Number.EPSILON)).toEqual([]);
});

test('in a dry run, what would cool takes no place among the nearest', async () => {
  const angles = { one: 0, two: 10, 'faded a': 9, 'faded b': 8, 'faded c': 2, 'faded d': 1 };
  const { memory, pass } = await liveFading({ embedder: angleEmbedder(angles) });
  await memory.rememberMany(
    Object.keys(angles).map((content, at) => ({
      content,
      id: content,
      type: 'event',
      importance: at < 2 ? 1 : 0,
    })),
  );
  pass(60);
  const dry = await memory.maintain({ dryRun: true });
  expect(dry.cooled).toHaveLength(4);
  expect(dry.similarPairs).toMatchObject([{ older: 'one', newer: 'two' }]);
  expect((await memory.maintain()).similarPairs).toEqual(dry.similarPairs);
});

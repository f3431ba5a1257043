import { expect, test } from 'vitest';
import { live, liveOnDisk } from '../../testing/live-memory.ts';

test.each([
  ['the reference store', async () => live({ embedder: 'none' })],
  ['SQLite', async () => liveOnDisk({ embedder: 'none' })],
])('a memory that was used and then rewritten is found by its new words, in %s', async (_, open) => {
  const { memory } = await open();
  await memory.remember('Anna drinks coffee in Lisbon', { id: 'a', topicKey: 'drink' });
  // A use and a change that one catching up takes in together.
  await memory.recall('coffee', { strategy: 'retention' });
  await memory.remember('The train to Porto leaves at nine', { topicKey: 'drink' });
  const idsOf = async (query: string) =>
    (await memory.recall(query, { strategy: 'bm25' })).hits.map((hit) => hit.memory.id);
  expect(await idsOf('coffee')).toEqual([]);
  expect(await idsOf('train')).toEqual(['a']);
  await memory.close();
});

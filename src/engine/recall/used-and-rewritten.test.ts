import { expect, test } from 'vitest';
import { live, liveOnDisk } from '../../testing/live-memory.ts';

const stores = [
  ['the reference store', async () => live({ embedder: 'none' })],
  ['SQLite', async () => liveOnDisk({ embedder: 'none' })],
] as const;

test.each(stores)(
  'a memory that was used and then rewritten is found by its new words, in %s',
  async (_, open) => {
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
  },
);

test.each([
  ['the reference store', async () => live()],
  ['SQLite', async () => liveOnDisk()],
] as const)('a memory that was gone and came back is a turn of its session again, in %s', async (_, open) => {
  const { memory } = await open();
  await memory.remember('Anna drinks tea in Lisbon', { id: 'tea' });
  await memory.remember('Anna drinks coffee in Lisbon', { id: 'coffee', sessionId: 's' });
  await memory.remember('The train to Porto leaves at nine');
  const signals = async () => (await memory.recall('coffee in Lisbon', { track: false })).hits[0]?.signals;
  const before = await signals();
  expect(before?.sessionLexical).toBeGreaterThan(0.85);
  const [conflict] = await memory.conflicts();
  // One catching up takes in both.
  await memory.resolve(conflict!.conflictId, 'update');
  expect(await memory.get('coffee')).toBeUndefined();
  await memory.undo();
  expect(await signals()).toEqual(before);
  await memory.close();
});

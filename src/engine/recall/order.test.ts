import { expect, test } from 'vitest';
import { openMemory } from '../../index.ts';

const now = '2026-01-01T00:00:00.000Z';

async function openSample() {
  let ids = 0;
  // Ids whose order is the opposite of the order of insertion.
  return openMemory({
    path: ':memory:',
    space: 'alice',
    embedder: 'none',
    clock: () => Date.parse(now),
    newId: () => `m${String(900 - ids++)}`,
  });
}

const turns = Array.from(
  { length: 12 },
  (_, at) => `turn ${String(at).padStart(2, '0')} of the conversation`,
);

test('turns of one instant keep their order in the timeline, in links and in lists', async () => {
  await using memory = await openSample();
  const written = await memory.rememberMany(turns.map((content) => ({ content, sessionId: 's' })));
  const ids = written.map(({ id }) => id);
  const { before, after } = await memory.timeline(ids[5] as string);
  expect(before.map(({ id }) => id)).toEqual(ids.slice(0, 5));
  expect(after.map(({ id }) => id)).toEqual(ids.slice(6, 11));
  const links = await memory.links(ids[5] as string);
  expect(links.map(({ kind }) => kind)).toEqual(['sequence', 'sequence']);
  expect(links.map(({ id }) => id).toSorted()).toEqual([ids[6], ids[4]]);
  const { memories } = await memory.list({ sort: 'inserted', limit: 100 });
  expect(memories.map(({ id }) => id)).toEqual(ids);
  expect((await memory.list({ limit: 100 })).memories.map(({ id }) => id)).toEqual(ids.toReversed());
});

test('an export in the order of insertion brings the order along', async () => {
  await using memory = await openSample();
  await memory.rememberMany(turns.map((content) => ({ content, sessionId: 's' })));
  const { memories } = await memory.list({ sort: 'inserted', limit: 100 });
  await using copy = await openMemory({ path: ':memory:', embedder: 'none', space: 'bob' });
  await copy.remember('there before');
  await copy.importMemories(memories);
  const restored = await copy.list({ sort: 'inserted', limit: 100 });
  expect(restored.memories.map(({ content }) => content)).toEqual(['there before', ...turns]);
  expect(restored.memories.map(({ bornIn }) => bornIn)).toEqual([undefined, ...turns.map(() => 's')]);
});

test('undoing a removal gives a memory its place back', async () => {
  await using memory = await openSample();
  const [first] = await memory.rememberMany([{ content: 'one' }, { content: 'two' }]);
  await memory.update(first!.id, { content: 'one, changed' });
  await memory.undo();
  await memory.undo();
  await memory.remember('three');
  expect(
    (await memory.list({ sort: 'inserted' })).memories.map(({ content, ordinal }) => [content, ordinal]),
  ).toEqual([['three', 3]]);
});

test('among equals the one that was said last ranks first', async () => {
  await using memory = await openSample();
  const written = await memory.rememberMany([
    { content: 'green tea', scope: 'project:a' },
    { content: 'green tea', scope: 'project:b' },
    { content: 'green tea', scope: 'project:c' },
  ]);
  const { hits } = await memory.recall('tea', { strategy: 'bm25' });
  expect(hits.map((hit) => hit.memory.id)).toEqual(written.map(({ id }) => id).toReversed());
});

test('who said it is kept, and can be changed and taken away', async () => {
  await using memory = await openSample();
  const { id } = await memory.remember('likes tea', { author: 'Zoë', role: 'user', sessionId: 's' });
  expect(await memory.get(id)).toMatchObject({ author: 'Zoë', role: 'user', bornIn: 's', sessionId: 's' });
  await memory.update(id, { author: null, role: 'assistant' });
  const changed = await memory.get(id);
  expect([changed?.author, changed?.role]).toEqual([undefined, 'assistant']);
  await expect(memory.remember('x', { author: 'a'.repeat(201) })).rejects.toThrow(/author/);
});

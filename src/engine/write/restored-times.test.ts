import { expect, test } from 'vitest';
import { importAll } from '../../../test/import/import-text.ts';
import { live } from '../../testing/live-memory.ts';

test('a memory that was updated before it was created is refused, by name, and nothing is written', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('Anna likes tea', { id: 'a', createdAt: '2025-03-02' });
  const exported = (await memory.get('a'))!;
  const wrong = { ...exported, id: 'b', content: 'Ben likes tea', updatedAt: '2025-03-01T23:59:59.999Z' };
  const fine = { ...exported, id: 'c', content: 'Carl likes tea' };
  await expect(memory.importMemories([fine, wrong])).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('memory 2 of 2: updatedAt: it must not lie before createdAt'),
    details: { field: 'updatedAt', index: 1 },
  });
  await expect(
    memory.remember('Dora likes tea', { createdAt: '2025-03-02', updatedAt: '2025-03-01' }),
  ).rejects.toMatchObject({ code: 'invalid_argument', details: { field: 'updatedAt' } });
  expect((await memory.stats()).memories).toBe(1);
  await memory.importMemories([fine]);
  expect(await memory.get('c')).toMatchObject({ updatedAt: fine.updatedAt, createdAt: fine.createdAt });
});

test('a memory of which only the last change is dated was known by then', async () => {
  const { memory } = await live({ embedder: 'none' });
  const at = '2025-03-02T00:00:00.000Z';
  await memory.remember('Anna likes tea', { id: 'a', updatedAt: at });
  expect(await memory.get('a')).toMatchObject({ createdAt: at, updatedAt: at });
});

test('an import reports the line of such a memory, and goes on', async () => {
  const lines = [
    { id: 'a', content: 'Anna likes tea', createdAt: '2025-03-02', updatedAt: '2025-03-01' },
    { id: 'b', content: 'Ben likes tea', createdAt: '2025-03-02', updatedAt: '2025-03-03' },
  ];
  const file = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const { counts, memories } = await importAll('a.jsonl', [file]);
  expect(counts).toMatchObject([{ imported: 1, skipped: 1 }]);
  expect(memories.map(({ id }) => id)).toEqual(['b']);
});

test('a cold memory that was imported, and is said again, is hot', async () => {
  const { memory } = await live();
  await memory.remember('Anna likes green tea', { id: 'a' });
  const exported = (await memory.get('a'))!;
  const { memory: other } = await live();
  await other.importMemories([{ ...exported, tier: 'cold', coldSince: exported.updatedAt }]);
  expect((await other.recall('green tea')).hits).toEqual([]);
  expect(await other.remember('Anna likes green tea')).toEqual({ id: 'a', outcome: 'deduplicated' });
  expect((await other.recall('green tea')).hits.map((hit) => hit.memory.id)).toEqual(['a']);
});

test('what a recall took as its session comes back from an export', async () => {
  const { memory } = await live({ embedder: 'none', fading: { mode: 'retention' } });
  const session = 'u\u0007 <private>kept</private>';
  await memory.remember('Anna likes tea', { id: 'a', sessionId: session });
  await memory.recall('tea', { strategy: 'retention', sessionId: session });
  const { memories } = await memory.list();
  expect(memories[0]).toMatchObject({ sessions: [session], sessionId: session, bornIn: session });
  const other = await live({ embedder: 'none' });
  await other.memory.importMemories(memories);
  expect(await other.memory.get('a')).toMatchObject({ sessions: [session], bornIn: session });
});

test('a memory that was made in no session, and said again in one, comes back as made in none', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('Anna lives in Oslo', { id: 'a', topicKey: 'home' });
  await memory.remember('Anna lives in Bergen', { topicKey: 'home', sessionId: 's' });
  const { memories } = await memory.list();
  expect(memories).toMatchObject([{ id: 'a', sessionId: 's', bornIn: undefined }]);
  const other = await live({ embedder: 'none' });
  await other.memory.importMemories(memories);
  expect((await other.memory.list()).memories).toEqual(memories);
  const file = memories.map((each) => `${JSON.stringify(each)}\n`);
  expect((await importAll('a.jsonl', file)).memories).toEqual(memories);
});

test('what is imported from elsewhere was made in the session that it names', async () => {
  const { memory } = await live({ embedder: 'none' });
  const elsewhere = { id: 'a', content: 'Anna likes tea', createdAt: '2025-03-02', sessionId: 's' };
  await memory.importMemories([elsewhere as never]);
  expect(await memory.get('a')).toMatchObject({ sessionId: 's', bornIn: 's' });
  const { memories } = await importAll('a.jsonl', [`${JSON.stringify({ ...elsewhere, id: 'b' })}\n`]);
  expect(memories).toMatchObject([{ id: 'b', sessionId: 's', bornIn: 's' }]);
});

import { expect, test } from 'vitest';
import { importAll } from '../../../test/import/import-text.ts';
import { live } from '../../testing/live-memory.ts';

/** A memory as an earlier version exported it. */
async function formerExport() {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('Anna likes tea', { id: 'a', importance: 0.9 });
  const { importanceSource, ...rest } = (await memory.get('a'))!;
  expect(importanceSource).toBe('caller');
  return { present: { ...rest, importanceSource }, former: { ...rest, importanceJudge: importanceSource } };
}

test('importMemories takes a field under the name that earlier versions gave it', async () => {
  const { former, present } = await formerExport();
  const { memory } = await live({ embedder: 'none' });
  await memory.importMemories([former as unknown as typeof present]);
  expect(await memory.get('a')).toEqual({ ...present, space: memory.space });
});

test('importMemories refuses both names of a field at once', async () => {
  const { present } = await formerExport();
  const { memory } = await live({ embedder: 'none' });
  const both = { ...present, importanceJudge: 'model' };
  await expect(memory.importMemories([both])).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('importanceJudge'),
  });
});

test('JSON Lines of an earlier version are imported whole', async () => {
  const { former } = await formerExport();
  const { counts, memories } = await importAll('old.jsonl', [`${JSON.stringify(former)}\n`]);
  expect(counts).toMatchObject([{ imported: 1 }]);
  expect(memories).toMatchObject([{ id: 'a', importance: 0.9, importanceSource: 'caller' }]);
});

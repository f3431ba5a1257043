import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMemory } from '../../src/open.ts';
import { angleEmbedder } from '../../src/testing/angle-embedder.ts';
import { expectCode } from '../../src/testing/store-contract/harness.ts';

const statements = { one: 0, two: 20, three: 200 };
const embedder = (model: string, turned = 0) => ({
  ...angleEmbedder(Object.fromEntries(Object.entries(statements).map(([text, at]) => [text, at + turned]))),
  model,
});

test('who has a space open that somebody else reindexes is told, and compares no vectors of two models', async () => {
  const place = { path: mkdtempSync(join(tmpdir(), 'salience-reindexed-')), space: 's' };
  await using former = await openMemory({ ...place, embedder: embedder('former') });
  for (const text of Object.keys(statements)) await former.remember(text, { id: text });
  const vector = { strategy: 'vector', limit: 1 } as const;
  expect((await former.recall('one', vector)).hits[0]?.score.value).toBeCloseTo(1);
  await using other = await openMemory({ ...place, embedder: embedder('other', 90), reindex: true });
  expect((await other.recall('one', vector)).hits[0]?.score.value).toBeCloseTo(1);
  for (const ask of [
    () => former.recall('one', vector),
    () => former.recall('one'),
    () => former.context('one', { maxTokens: 100 }),
    () => former.compare('one', { strategies: ['vector', 'hybrid'] }),
    () => former.whyNot('three', { query: 'one', ...vector }),
    () => former.explain('three', { query: 'one', ...vector }),
    () => former.remember('two', { scope: 'project:a' }),
    () => former.maintain(),
  ]) {
    const error = await expectCode(ask() as Promise<unknown>, 'embedder_mismatch');
    expect(error.message).toContain('other (2 dimensions)');
  }
  // Words are words.
  expect((await former.recall('one', { strategy: 'bm25' })).hits[0]?.memory.id).toBe('one');
});

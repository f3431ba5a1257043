import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
beforeAll(() => {
  work = createWorkplace();
});
afterAll(() => work[Symbol.dispose]());

const memory = (id: string, content: string, createdAt: string, extra: object = {}) =>
  JSON.stringify({ kind: 'memory', space: 's/1', id, content, createdAt, ...extra });
const query = (id: string, text: string, relevant: string[], extra: object = {}) =>
  JSON.stringify({
    kind: 'query',
    space: 's/1',
    id,
    query: text,
    now: '2026-03-01T00:00:00Z',
    type: 'plain',
    relevant,
    ...extra,
  });

const dataset = [
  memory('tea', 'Ann drinks green tea', '2026-01-01T00:00:00Z', { session: 'S1', role: 'user' }),
  memory('bus', 'Bob drives a red bus', '2026-01-02T00:00:00Z'),
  // Longer than a store takes by default, which must not matter here.
  memory('old', `The door code is 1111. ${'filler '.repeat(6000)}`, '2026-01-03T00:00:00Z'),
  memory('new', 'The door code is 2222 now', '2026-02-03T00:00:00Z', { type: 'event' }),
  query('q1', 'green tea', ['tea']),
  query('q2', 'red bus', ['bus']),
  query('q3', 'door code', ['new'], { stale: ['old'], type: 'update' }),
  query('q4', 'nothing of the kind', [], { type: 'none' }),
].join('\n');

it('measures strategies on a dataset, and leaves nothing behind', async () => {
  writeFileSync(join(work.directory, 'tiny.jsonl.gz'), gzipSync(dataset));
  const temporary = join(work.directory, 'temporary');
  mkdirSync(temporary);
  const env = { TMPDIR: temporary };
  const args = ['eval', 'tiny.jsonl.gz', '--strategy', 'bm25,hybrid', '--k', '1,2'];
  const { results } = (await work.json(args, { env })) as { results: Record<string, unknown>[] };
  expect(results.map(({ strategy }) => strategy)).toEqual(['bm25', 'hybrid']);
  expect(results[0]).toMatchObject({
    dataset: 'tiny',
    embedder: 'builtin',
    n: 3,
    metrics: { 'recall@1': 1, 'hit@1': 1, 'ndcg@1': 1, 'mrr@1': 1, 'recall@2': 1, mrr: 1 },
    byType: { plain: { n: 2, 'recall@1': 1 }, update: { n: 1 } },
    updatedAboveStale: { won: 1, of: 1 },
    abstention: { n: 1 },
    latencyMs: { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) },
  });
  const table = await work.salience([...args, '--embedder', 'none'], { env });
  expect(table.code).toBe(0);
  expect(table.stdout).toMatch(/tiny: 3 queries.+embedder none/);
  expect(table.stdout).toMatch(/bm25 .*1\.000/);
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(work.directory)).not.toContain('memory');
});

it('refuses datasets, strategies and depths that cannot be', async () => {
  work.file('tiny.jsonl', dataset);
  work.file('bad.jsonl', `${dataset}\n{"kind":"query"}\n`);
  const run = async (...args: string[]) => {
    const { code, stderr } = await work.salience(['eval', ...args, '--json']);
    const { error } = JSON.parse(stderr) as { error: { code: string; details: unknown } };
    return { exit: code, ...error };
  };
  expect(await run('bad.jsonl')).toMatchObject({ exit: 1, code: 'unreadable_file', details: { line: 9 } });
  expect(await run('absent.jsonl')).toMatchObject({ exit: 1, code: 'unreadable_file' });
  expect(await run('tiny.jsonl', '--strategy', 'best')).toMatchObject({ exit: 2, code: 'unknown_strategy' });
  expect(await run('tiny.jsonl', '--strategy', 'bm25,bm25')).toMatchObject({
    exit: 1,
    code: 'invalid_argument',
  });
  expect(await run('tiny.jsonl', '--k', '0')).toMatchObject({ exit: 1, code: 'invalid_argument' });
  expect(await run('tiny.jsonl', '--k', 'ten')).toMatchObject({ exit: 2, code: 'usage' });
  expect(await run()).toMatchObject({ exit: 2, code: 'usage' });
});

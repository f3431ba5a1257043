import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillDemo } from '../../src/cli/demo-memory.ts';
import type { VerbName } from '../../src/domain/verbs.ts';
import { type MemoryEngine, openMemory } from '../../src/index.ts';
import { commandOf } from '../../web/parts/command.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));
const run = promisify(execFile);
const SPACE = "ann's shop";

let directory: string;
let memory: MemoryEngine;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'salience-command-'));
  const shim = join(directory, 'salience');
  writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(shim, 0o755);
  const demo = { now: Date.now() };
  let filled = false;
  memory = await openMemory({
    path: directory,
    space: SPACE,
    clock: () => (filled ? Date.now() : demo.now),
  });
  await fillDemo(memory, demo);
  filled = true;
  await memory.remember('-x is a flag, and --limit another', {
    id: '-x',
    metadata: { status: '12', level: 3 },
  });
});
afterAll(async () => {
  await memory.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Pastes a command into a shell where the store is. */
async function pasted(verb: VerbName, fields: Readonly<Record<string, unknown>>) {
  const command = commandOf(verb, fields, SPACE);
  if (command === undefined) return undefined;
  const env = {
    ...process.env,
    PATH: `${directory}${delimiter}${process.env['PATH']}`,
    SALIENCE_PATH: directory,
  };
  const { stdout } = await run('sh', ['-c', command.replace('salience', 'salience --json')], { env });
  return JSON.parse(stdout);
}

const idsOf = ({ hits = [] }: { readonly hits?: readonly { readonly memory: { readonly id: string } }[] }) =>
  hits.map((hit) => hit.memory.id);

describe('a copied command', () => {
  it('recalls what the page shows: parameters, filters, floor and look back', async () => {
    const known = new Date(Date.now() - 60 * 86_400_000).toISOString();
    for (const fields of [
      { query: "what's Ann's “coffee”? $HOME `id`", limit: 7, types: ['fact', 'preference'] },
      { query: '--limit', strategy: 'bm25' },
      { query: 'coffee', strategy: 'hybrid', parameters: { 'weights.context': 0.5, similarityFloor: 0.4 } },
      { query: 'coffee', minRelevance: 0.2, deep: true, scope: 'project:shop' },
      { query: 'which database does the shop run on?', asOf: { known } },
      { query: 'coffee', asOf: { known, valid: known } },
      { strategy: 'ambient', limit: 20 },
    ]) {
      const { query, ...options } = fields as { query?: string };
      const expected = await memory.recall(query, { ...options, track: false });
      expect(idsOf(expected).length, JSON.stringify(fields)).toBeGreaterThan(0);
      const answer = await pasted('recall', { ...fields, track: false });
      expect(idsOf(answer), JSON.stringify(fields)).toEqual(idsOf(expected));
    }
  });

  it('compares two strategies by the parameters of each', async () => {
    const fields = {
      strategies: ['hybrid', 'five-factor'],
      parameters: {
        hybrid: { 'weights.context': 0, 'weights.similarity': 9 },
        'five-factor': { relevanceFloor: 0.75 },
      },
      limit: 8,
    };
    const idsBy = ({
      rankings,
    }: {
      readonly rankings: readonly { readonly failure?: string | undefined }[];
    }) => rankings.map((each) => each.failure ?? idsOf(each as never));
    const usual = await memory.compare('coffee', { strategies: fields.strategies, limit: 8 });
    const expected = await memory.compare('coffee', fields);
    for (const side of [0, 1]) expect(idsBy(expected)[side]).not.toEqual(idsBy(usual)[side]);
    expect(idsBy(await pasted('compare', { query: 'coffee', ...fields }))).toEqual(idsBy(expected));
  });

  it('lists by the same filters, and is not offered where no command says the same', async () => {
    for (const fields of [
      { sort: 'importance', direction: 'asc' },
      { types: ['fact'], tags: ['coffee'], sort: 'updated', direction: 'desc' },
      { metadata: { status: '12' } },
      { metadata: { level: { atLeast: 3, below: 4 }, status: { exists: true } } },
      { author: 'Ann', createdAfter: '2020-01-01' },
    ]) {
      const expected = await memory.list({ ...fields, limit: 100 } as object);
      const answer = await pasted('list', { ...fields, limit: 100 });
      const ids = ({ memories }: { readonly memories: readonly { readonly id: string }[] }) =>
        memories.map(({ id }) => id);
      expect(ids(answer), JSON.stringify(fields)).toEqual(ids(expected));
      expect(ids(answer).length, JSON.stringify(fields)).toBeGreaterThan(0);
    }
    expect(commandOf('list', { core: true })).toBe('salience list --core');
    expect(commandOf('list', { core: false })).toBeUndefined();
    expect(commandOf('list', { metadata: { 'a=b': 'c' } })).toBeUndefined();
    expect(commandOf('fit', { questions: [] })).toBeUndefined();
  });

  it('says everything else that a view shows', async () => {
    expect(await pasted('get', { id: '-x' })).toMatchObject({ id: '-x' });
    expect((await pasted('conflicts', { limit: 2 })).conflicts).toHaveLength(2);
    expect((await pasted('recalls', { limit: 3 })).recalls).toHaveLength(3);
    expect(await pasted('stats', {})).toMatchObject({ name: SPACE });
    expect(await pasted('maintain', { dryRun: true })).toMatchObject({ dryRun: true });
    const [recalled] = await memory.recalls({ limit: 1 });
    expect(await pasted('replay', { recallId: recalled?.recallId })).toMatchObject({
      recallId: recalled?.recallId,
    });
    const around = { entity: 'ann', depth: 2, limit: 200, links: true, texts: true };
    const { entity, ...options } = around;
    const expected = await memory.neighbours(entity, options);
    expect((await pasted('neighbours', around)).neighbours).toEqual(
      JSON.parse(JSON.stringify(expected.neighbours)),
    );
    expect(commandOf('activity', { after: 'end', wait: 30_000 })).toBe('salience activity end --follow');
    for (const verb of ['context', 'pinned', 'bootstrap'] as const) {
      const fields = {
        ...(verb === 'context' ? { query: 'coffee' } : {}),
        maxTokens: 300,
        format: 'markdown',
      };
      const answer = await pasted(verb, fields);
      expect(answer.maxTokens, verb).toBe(300);
      expect(answer.items.length, verb).toBeGreaterThan(0);
    }
  });
});

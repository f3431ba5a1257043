import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openMemory } from './open.ts';
import type { Embedder } from './providers/embedder.ts';
import { createSqliteStore } from './stores/sqlite/index.ts';
import { expectCode } from './testing/store-contract/harness.ts';
import { copyForTrial } from './trial.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'salience-tried-'));
  // Other tests may try something at the same time.
  vi.stubEnv('TMPDIR', join(directory, 'temporary'));
  mkdirSync(tmpdir());
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

const trials = () => readdirSync(tmpdir());
const contentsOf = async (path: string, space: string) => {
  await using memory = await openMemory({ path, space, readOnly: true });
  return (await memory.list({})).memories.map(({ content }) => content);
};

/** A store with the space `alice`. */
async function withAlice(): Promise<string> {
  const path = join(directory, 'memory');
  await using memory = await openMemory({ path, space: 'alice' });
  await memory.remember('Likes tea');
  return path;
}

test.each(['files', 'a store'] as const)('what is tried on copies of %s changes nothing', async (from) => {
  const path = await withAlice();
  await using store = createSqliteStore({ directory: path });
  const opening = from === 'files' ? { path } : { store };
  const progress: number[] = [];
  {
    await using trial = await copyForTrial(opening, ['alice', 'bob'], {
      progress: (done) => progress.push(done),
    });
    for (const space of ['alice', 'bob']) {
      await using memory = await openMemory({ ...trial.opening, space });
      await memory.remember('Likes coffee');
    }
    const copies = trial.opening.path ?? '';
    expect(await contentsOf(copies, 'alice')).toEqual(['Likes coffee', 'Likes tea']);
    expect(await contentsOf(copies, 'bob')).toEqual(['Likes coffee']);
    expect(trials()).toHaveLength(1);
  }
  expect(progress.length > 0).toBe(from === 'a store');
  expect(trials()).toEqual([]);
  expect(await contentsOf(path, 'alice')).toEqual(['Likes tea']);
  expect(await store.listSpaces()).toEqual(['alice']);
});

test('no store is created', async () => {
  const path = join(directory, 'none');
  await using trial = await copyForTrial({ path }, ['alice']);
  expect(readdirSync(trial.opening.path ?? '')).toEqual([]);
  expect(existsSync(path)).toBe(false);
});

test('neither an embedder nor a language model is asked, and other options stay', async () => {
  const asked: string[] = [];
  const embedder: Embedder = {
    model: 'of-a-server',
    dimensions: 2,
    calibration: { floor: 0, ceiling: 1 },
    thresholds: { conflict: 0.9, birthLink: 0.9, consolidation: 0.9, similarPair: 0.9 },
    async embed(texts) {
      asked.push(...texts);
      return texts.map(() => Float32Array.of(1, 0));
    },
  };
  const languageModel = { name: 'a model', generate: async () => expect.unreachable() };
  const clock = () => Date.UTC(2026, 0, 1);
  await using trial = await copyForTrial({ path: directory, embedder, languageModel, clock }, []);
  expect(trial.opening).not.toHaveProperty('languageModel');
  await using memory = await openMemory({ ...trial.opening, space: 'alice' });
  const { id } = await memory.remember('Likes tea');
  expect(await memory.get(id)).toMatchObject({ createdAt: '2026-01-01T00:00:00.000Z' });
  expect(asked).toEqual([]);
});

test('what fails leaves no copies, and what a killed process left is removed', async () => {
  const path = await withAlice();
  await using store = createSqliteStore({ directory: path });
  const signal = AbortSignal.abort();
  for (const opening of [{ path }, { store }]) {
    await expectCode(copyForTrial(opening, ['alice'], { signal }), 'aborted');
    expect(trials()).toEqual([]);
  }
  await using first = await copyForTrial({ path }, ['alice']);
  const [own = ''] = trials();
  // The id of a process that does not exist.
  const left = join(tmpdir(), own.replace(`-${process.pid}-`, '-4194305-'));
  mkdirSync(left);
  await using second = await copyForTrial({ path }, ['alice']);
  expect(existsSync(left)).toBe(false);
  expect(existsSync(first.opening.path ?? '')).toBe(true);
  expect(existsSync(second.opening.path ?? '')).toBe(true);
});

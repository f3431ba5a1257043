import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { whatIsKept } from '../../../test/fixtures/what-is-kept.mjs';
import { openMemory } from '../../index.ts';
import { fileNameOf } from './files.ts';
import { SCHEMA_VERSION } from './schema.ts';

const fixture = (name: string) => new URL(`../../../test/fixtures/${name}`, import.meta.url);

/** Versions of which there is a file with what its build read from it: scripts/store-fixture.mjs writes both. */
const VERSIONS = [6, 7, 8];

/** A space with the file of a version, as its build left it, or as `change` makes it. */
async function open(version: number, change = (_file: Buffer) => {}) {
  const directory = await mkdtemp(join(tmpdir(), 'salience-fixtures-'));
  const file = gunzipSync(readFileSync(fixture(`version-${version}.db.gz`)));
  change(file);
  await writeFile(join(directory, fileNameOf('alice')), file);
  const memory = await openMemory({ path: directory, space: 'alice', clock: () => Date.UTC(2026, 1, 1) });
  onTestFinished(async () => {
    await memory.close();
    await rm(directory, { recursive: true });
  });
  return memory;
}

it('there is a file of the present version: run scripts/store-fixture.mjs when it changes, and keep the old ones', () => {
  expect(VERSIONS).toContain(SCHEMA_VERSION);
  for (const version of VERSIONS) expect(existsSync(fixture(`version-${version}.db.gz`))).toBe(true);
});

describe.each(VERSIONS)('a file of version %i', (version) => {
  it('is read as the build read it that wrote it', async () => {
    const memory = await open(version);
    expect(await memory.check()).toEqual([]);
    const kept = JSON.parse(readFileSync(fixture(`version-${version}.json`), 'utf8'));
    expect(kept.memories.length).toBeGreaterThan(8);
    // Later versions may say more of a thing, and nothing else of what was said.
    expect(await whatIsKept(memory)).toMatchObject(kept);
  });

  it('is known to be damaged, whatever is computed anew when it is brought up to date', async () => {
    const memory = await open(version, (file) => {
      file[file.indexOf('Black tea at eight')]! ^= 1;
    });
    expect(await memory.check()).toEqual([
      '1 rows of memory are damaged, the first is 1: restore the space from a backup',
    ]);
  });

  it('can be written to, and remembers what was forgotten and invalidated', async () => {
    const memory = await open(version);
    expect((await memory.remember('Plays the cello')).outcome).toBe('deduplicated');
    expect((await memory.get('cello'))?.invalidReason).toBe('it was a viola');
    expect((await memory.recall('door code', { minRelevance: 'auto' })).hits).toEqual([]);
    expect((await memory.remember('Has a cat', { id: 'cat' })).outcome).toBe('created');
    expect((await memory.recall('a cat', { limit: 1 })).hits[0]?.memory.id).toBe('cat');
    expect((await memory.undo()).verb).toBe('remember');
    // Version 8 notes when a text changed; of what earlier ones changed last, it is when that was.
    const { updatedAt } = (await memory.get('tea'))!;
    expect(await memory.update('tea', { confidence: 0.9 })).toMatchObject({ textChangedAt: updatedAt });
    expect(await memory.check()).toEqual([]);
  });
});

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openSpaces } from '../../src/index.ts';

const script = fileURLToPath(new URL('maintaining.mjs', import.meta.url));
const built = existsSync(new URL('../../build/index.js', import.meta.url));
const PROCESSES = 3;

test('several processes that maintain one store at once maintain each space once', {
  timeout: 120_000,
}, async () => {
  expect(built, 'run "npm run build" first').toBe(true);
  const directory = await mkdtemp(join(tmpdir(), 'salience-maintaining-'));
  try {
    const now = Date.UTC(2026, 0, 1);
    const names = Array.from({ length: 12 }, (_, at) => `user ${String(at).padStart(2, '0')}`);
    const spaces = openSpaces({ path: directory, embedder: 'none', clock: () => now });
    for (const name of names) {
      await (await spaces.get(name)).remember('To be gone', { expiresAt: new Date(now + 1) });
    }
    await spaces.close();
    const run = () => promisify(execFile)(process.execPath, [script, directory, String(now + 2)]);
    const running = Array.from({ length: PROCESSES }, run);
    const isReady = () =>
      readdirSync(directory).filter((file) => file.startsWith('ready-')).length === PROCESSES;
    while (!isReady()) await setImmediate();
    writeFileSync(join(directory, 'go'), '');
    const said = (await Promise.all(running)).map(({ stdout }) => JSON.parse(stdout));
    expect(said.flatMap(({ maintained }) => maintained).toSorted()).toEqual(names);
    expect(said.map(({ maintained, left }) => maintained.length + left)).toEqual([12, 12, 12]);
    expect(said.reduce((sum, { expired }) => sum + expired, 0)).toBe(12);
    expect(said.flatMap(({ failed }) => failed)).toEqual([]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

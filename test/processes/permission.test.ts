import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const script = fileURLToPath(new URL('permission.mjs', import.meta.url));
const built = new URL('../../dist/index.js', import.meta.url);
const flag = ['--permission', '--experimental-permission'].find((each) =>
  process.allowedNodeEnvironmentFlags.has(each),
);

describe.skipIf(flag === undefined)(
  'under the permission model of Node.js (needs a Node.js that has it)',
  () => {
    async function remembered(allowed: (store: string) => readonly string[]) {
      expect(existsSync(built), 'run "npm run build" first').toBe(true);
      const directory = await realpath(await mkdtemp(join(tmpdir(), 'salience-permission-')));
      const store = join(directory, 'store');
      await mkdir(store);
      // The driver of SQLite is an addon where the runtime has none of its own; on Node.js 20 addons need no permission.
      const addons = process.allowedNodeEnvironmentFlags.has('--allow-addons') ? ['--allow-addons'] : [];
      const flags = [flag!, ...addons, '--no-warnings', '--allow-fs-read=*', ...allowed(store)];
      try {
        const { stdout } = spawnSync(process.execPath, [...flags, script, built.href, store], {
          encoding: 'utf8',
        });
        return { store, found: JSON.parse(stdout) as unknown };
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    }

    test('a write is confirmed, where the directory may be written to', async () => {
      const { found } = await remembered((store) => [`--allow-fs-write=${join(store, '/')}`]);
      expect(found).toEqual({ memories: 3 });
    });

    test('a directory that may not be written to is an error that names the flags', async () => {
      const { store, found } = await remembered(() => []);
      expect(found).toMatchObject({ name: 'SalienceError', code: 'store_failed' });
      const { message } = found as { readonly message: string };
      expect(message).toContain(store);
      expect(message).toMatch(/--allow-fs-write/);
    });
  },
);

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// In memory where there is such a disk: the test is about descriptors.
const fastest = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const script = fileURLToPath(new URL('many-spaces.mjs', import.meta.url));
const built = existsSync(new URL('../../dist/index.js', import.meta.url));

/** With five descriptors each, more than a process may open. */
const SPACES = 300;

test.skipIf(process.platform === 'win32')(
  `${SPACES} spaces in one process that may open 1,024 files (needs ulimit)`,
  { timeout: 1_200_000 },
  async () => {
    expect(built, 'run "npm run build" first').toBe(true);
    const directory = await mkdtemp(join(fastest, 'salience-many-'));
    try {
      const { stdout, stderr, status } = spawnSync(
        'sh',
        ['-c', 'ulimit -n 1024; exec "$@"', 'sh', process.execPath, script, directory, String(SPACES)],
        { encoding: 'utf8' },
      );
      expect(stderr).toBe('');
      expect(status).toBe(0);
      const found = JSON.parse(stdout) as Readonly<Record<string, number>>;
      expect(found).toMatchObject({ right: SPACES, written: SPACES / 10, open: 100, beside: 0 });
      // Five for each of a hundred spaces, and what the process has open anyway.
      expect(found['descriptors']).toBeLessThan(600);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
);

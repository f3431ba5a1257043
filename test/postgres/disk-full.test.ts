import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { findBinaries, startServer } from '../../scripts/postgres-server.mjs';
import { openMemory } from '../../src/index.ts';
import { postgres } from '../../src/stores/postgres/index.ts';
import { SERVER, WITHOUT_SERVER } from './server.ts';

const binaries = findBinaries();

/** A small disk for the tables of a server of its own; `undefined` where none may be mounted. */
function smallDisk(): string | undefined {
  if (SERVER === undefined || binaries === undefined || process.getuid?.() !== 0) return undefined;
  const directory = mkdtempSync(join(tmpdir(), 'salience-disk-'));
  const made = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'none', directory]);
  if (made.status !== 0) {
    rmSync(directory, { recursive: true });
    return undefined;
  }
  const idOf = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  chownSync(directory, idOf('-u'), idOf('-g'));
  return directory;
}

const disk = smallDisk();
afterAll(() => {
  if (disk === undefined) return;
  spawnSync('umount', [disk]);
  rmSync(disk, { recursive: true });
});

describe.skipIf(disk === undefined)(`a disk that is full (${WITHOUT_SERVER}, as root)`, () => {
  it('is an error that says so: nothing is half written, reads go on, and so do writes once there is room', async () => {
    const server = await startServer(binaries ?? '');
    const admin = new pg.Client(server.url);
    await admin.connect();
    try {
      await admin.query(`CREATE TABLESPACE small LOCATION '${disk}'`);
      await admin.query('ALTER ROLE salience SET default_tablespace = small');
      await using store = postgres(server.url);
      await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
      const acknowledged: string[] = [];
      // What cannot be compressed, else the server makes little of it.
      const text = (at: number) =>
        Array.from({ length: 1500 }, (_, word) =>
          ((at * 7919 + word * 104_729) % 1_000_003).toString(36),
        ).join(' ');
      const filling = async () => {
        for (let at = 0; at < 5000; at++) {
          const id = `m${at}`;
          await memory.remember(`Statement ${at}: ${text(at)}`, { id });
          acknowledged.push(id);
        }
      };
      await expect(filling()).rejects.toMatchObject({
        code: 'store_full',
        message: expect.stringMatching(/no space is left on its disk; nothing was changed/),
      });
      expect(acknowledged.length).toBeGreaterThan(3);
      const listed = async () =>
        (await memory.list({ limit: 1000, sort: 'inserted' })).memories.map(({ id }) => id);
      expect((await listed()).sort()).toEqual([...acknowledged].sort());
      expect(
        (await memory.recall('statement', { strategy: 'bm25', track: false })).hits.length,
      ).toBeGreaterThan(0);
      spawnSync('mount', ['-o', 'remount,size=64m', disk ?? '']);
      await memory.remember('There is room again', { id: 'after' });
      expect((await listed()).sort()).toEqual([...acknowledged, 'after'].sort());
      expect(await memory.check()).toEqual([]);
    } finally {
      await admin.end();
      await server.stop();
    }
  });
});

import { spawnSync } from 'node:child_process';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { findBinaries, startServer } from '../../scripts/postgres-server.mjs';
import { type MemoryEngine, openMemory } from '../../src/index.ts';
import { type PostgresPool, postgres } from '../../src/stores/postgres/index.ts';
import { freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

const binaries = findBinaries();
const has = (program: string) => spawnSync(program, ['--version']).status === 0;

const idsOf = async (memory: MemoryEngine) => {
  const { hits, trace } = await memory.recall('prefers', { strategy: 'bm25', track: false });
  return { ids: hits.map((hit) => hit.memory.id).sort(), rebuilt: trace.indexRebuilt };
};

/** Waits for the server, not for a time. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe.skipIf(SERVER === undefined || !has('pg_dump'))(
  `a dump that is restored under running processes (${WITHOUT_SERVER}, and pg_dump)`,
  () => {
    it('is noticed: indexes are made anew, also where the log has become as long again', async () => {
      await using fresh = freshSchema();
      const open = () => openMemory({ store: fresh.open(), space: 'alice', embedder: 'none' });
      const [writer, follower] = [await open(), await open()];
      await writer.remember('Prefers tea', { id: 'a' });
      const dump = spawnSync('pg_dump', ['--clean', '--if-exists', '-n', fresh.schema, fresh.url], {
        encoding: 'utf8',
      });
      expect(dump.stderr).toBe('');
      await writer.remember('Prefers coffee', { id: 'b' });
      for (const memory of [writer, follower]) expect((await idsOf(memory)).ids).toEqual(['a', 'b']);
      const restored = spawnSync('psql', ['-q', '-1', '-v', 'ON_ERROR_STOP=1', fresh.url], {
        input: dump.stdout,
        encoding: 'utf8',
      });
      expect(restored.stderr).not.toMatch(/ERROR/);
      expect(restored.status).toBe(0);
      expect(await idsOf(writer)).toEqual({ ids: ['a'], rebuilt: true });
      // As many events as before, of which the last is another one.
      await writer.remember('Prefers water', { id: 'c' });
      expect(await idsOf(follower)).toEqual({ ids: ['a', 'c'], rebuilt: true });
      expect((await idsOf(writer)).rebuilt).toBeUndefined();
      expect(await writer.check()).toEqual([]);
      await writer.close();
      await follower.close();
    });
  },
);

describe.skipIf(SERVER === undefined || binaries === undefined || !has('pg_basebackup'))(
  `a standby that is promoted without the last commits (${WITHOUT_SERVER}, and pg_basebackup)`,
  () => {
    it('is noticed: what it lacks is found by nobody, and it is written to from there on', async () => {
      const primary = await startServer(binaries ?? '');
      const standby = await startServer(binaries ?? '', {}, { standbyOf: primary.url });
      const poolTo = (url: string) => {
        const made = new pg.Pool({ connectionString: url });
        // Connections of a server that was ended leave it.
        made.on('error', () => {});
        return made;
      };
      let at = poolTo(primary.url);
      // As a name that leads to another server after a failover.
      const pool: PostgresPool = {
        query: (query) => at.query(query as never) as never,
        connect: () => at.connect() as never,
      };
      const open = () => openMemory({ store: postgres(pool), space: 'alice', embedder: 'none' });
      const [writer, follower] = [await open(), await open()];
      await writer.remember('Prefers tea', { id: 'a' });
      const other = new pg.Client(standby.url);
      await other.connect();
      try {
        await until(async () => {
          const { rows } = await at.query('SELECT pg_current_wal_lsn() AS lsn');
          const reached = await other.query('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS yes', [
            rows[0].lsn,
          ]);
          return reached.rows[0].yes as boolean;
        });
        await expect(openMemory({ store: postgres(standby.url), space: 'bob' })).rejects.toMatchObject({
          code: 'store_read_only',
          message: expect.stringContaining('Connect to the primary'),
        });
        await other.query(`ALTER SYSTEM SET primary_conninfo = ''`);
        await other.query('SELECT pg_reload_conf()');
        await until(async () => (await other.query('SELECT 1 FROM pg_stat_wal_receiver')).rows.length === 0);
        await writer.remember('Prefers coffee', { id: 'b' });
        for (const memory of [writer, follower]) expect((await idsOf(memory)).ids).toEqual(['a', 'b']);
        await other.query('SELECT pg_promote()');
        await at.end();
        await primary.crash();
        at = poolTo(standby.url);
        expect(await idsOf(writer)).toEqual({ ids: ['a'], rebuilt: true });
        await writer.remember('Prefers water', { id: 'c' });
        expect(await idsOf(follower)).toEqual({ ids: ['a', 'c'], rebuilt: true });
        expect(await follower.check()).toEqual([]);
      } finally {
        await writer.close();
        await follower.close();
        await other.end();
        await at.end();
        await standby.stop();
        await primary.stop();
      }
    });
  },
);

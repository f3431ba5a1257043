import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { migratePostgres, postgres } from '../../src/stores/postgres/index.ts';
import { type FreshSchema, freshSchema, SERVER } from './server.ts';

/*
 * pgbouncer in transaction mode gives every transaction another connection of the server: what is left in a session, by a
 * SET or a prepared statement, is somebody else's.
 */
const BINARY = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) => existsSync(path));

describe.skipIf(SERVER === undefined || BINARY === undefined)(
  'behind pgbouncer in transaction mode (needs a server, and pgbouncer)',
  () => {
    let fresh: FreshSchema;
    let pooler: ChildProcess;
    let directory: string;
    let url: string;

    beforeAll(async () => {
      fresh = freshSchema();
      directory = mkdtempSync(join(tmpdir(), 'salience-pooler-'));
      chmodSync(directory, 0o755);
      const port = await freePort();
      const server = new URL(fresh.url);
      writeFileSync(
        join(directory, 'pgbouncer.ini'),
        `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
`,
      );
      // It does not run as root.
      const owner = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
      pooler = spawn(BINARY ?? '', ['-q', join(directory, 'pgbouncer.ini')], { stdio: 'ignore', ...owner });
      server.port = String(port);
      url = String(server);
      await untilReady(url);
    });
    afterAll(async () => {
      pooler?.kill('SIGKILL');
      await fresh?.[Symbol.asyncDispose]();
      if (directory) rmSync(directory, { recursive: true, force: true });
    });

    it('migrates, writes, recalls and learns; writers that overtake each other lose nothing', async () => {
      expect((await migratePostgres(url, { schema: fresh.schema })).from).toBe(0);
      const stores = [1, 2, 3].map(() => postgres(url, { schema: fresh.schema, maxConnections: 4 }));
      const memories = await Promise.all(stores.map((store) => openMemory({ store, space: 'alice' })));
      await Promise.all(
        memories.map(async (memory, at) => {
          for (let index = 0; index < 15; index++) {
            const content = `Statement ${index} of ${at} about harbour${at}x${index}`;
            const { id } = await memory.remember(content);
            const query = `harbour${at}x${index}`;
            await memory.recall(query, { strategy: 'five-factor', limit: 3 });
            const { hits } = await memory.recall(query, { strategy: 'bm25', limit: 1 });
            expect(hits.map((hit) => hit.memory.id)).toEqual([id]);
          }
        }),
      );
      const stats = await memories[0]?.stats();
      expect(stats?.memories).toBe(45);
      for (const store of stores) {
        const space = await store.openSpace('alice', { readOnly: true });
        expect(await space.check()).toEqual([]);
      }
      await Promise.all(stores.map((store) => store.close()));
      // What a write sets for itself is no setting of the connection that the next one gets.
      const client = new pg.Client(url);
      await client.connect();
      const { rows } = await client.query("SELECT current_setting('lock_timeout') AS value");
      expect(rows).toEqual([{ value: '0' }]);
      await client.end();
    });
  },
);

function idOf(flag: string): number {
  return Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function untilReady(url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const client = new pg.Client(url);
    try {
      await client.connect();
      await client.query('SELECT 1');
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await client.end().catch(() => {});
    }
  }
}

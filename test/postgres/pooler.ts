import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { SERVER } from './server.ts';

const BINARY = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) => existsSync(path));

/** Whether there is a server, and pgbouncer to stand before it. */
export const HAS_POOLER = SERVER !== undefined && BINARY !== undefined;

/*
 * pgbouncer in transaction mode gives every transaction another connection of the server: what is left in a session, by a
 * SET or a prepared statement, is somebody else's.
 */
export async function startPooler(): Promise<{ readonly url: string; stop(): Promise<void> } | undefined> {
  if (!HAS_POOLER) return undefined;
  const directory = mkdtempSync(join(tmpdir(), 'salience-pooler-'));
  chmodSync(directory, 0o755);
  const port = await freePort();
  const server = new URL(SERVER ?? '');
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
  const pooler: ChildProcess = spawn(BINARY ?? '', ['-q', join(directory, 'pgbouncer.ini')], {
    stdio: 'ignore',
    ...owner,
  });
  server.port = String(port);
  const url = String(server);
  await untilReady(url);
  return {
    url,
    async stop() {
      const ended = new Promise((resolve) => pooler.once('exit', resolve));
      pooler.kill('SIGKILL');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

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

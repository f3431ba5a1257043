// A PostgreSQL server for tests and benchmarks, from installed binaries.
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

/** Finds the directory with `initdb` and `postgres`, on the path or in Debian's directory of each version. */
export function findBinaries() {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const places = [
    ...(process.env.PATH ?? '').split(':'),
    ...versions
      .filter((name) => Number(name) >= 15)
      .sort((a, b) => Number(b) - Number(a))
      .map((name) => `/usr/lib/postgresql/${name}/bin`),
  ];
  return places.find(
    (place) => place !== '' && existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')),
  );
}

const INITDB = [
  '-U',
  'salience',
  '--auth=trust',
  '--encoding=UTF8',
  '--locale=C.UTF-8',
  '--data-checksums',
  '--no-sync',
];

/** How often a start is tried: under load, the children of a killed server may take seconds to end. */
const MOST_STARTS = 100;

/**
 * Starts a separate server in a new directory, on a free port of localhost, without authentication. As root, it runs as
 * the user `postgres`. With `standbyOf`, it is a standby of the server at this URL.
 */
export async function startServer(bin, settings = {}, { standbyOf } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'salience-postgres-'));
  const owner = process.getuid?.() === 0 ? ownerOf() : undefined;
  if (owner) chownSync(directory, owner.uid, owner.gid);
  const data = join(directory, 'data');
  const making = { cwd: directory, encoding: 'utf8', ...owner };
  const made =
    standbyOf === undefined
      ? spawnSync(join(bin, 'initdb'), ['-D', data, ...INITDB], making)
      : // Debian has the programs of clients in another place.
        spawnSync('pg_basebackup', ['-D', data, '-d', standbyOf, '-R', '-X', 'stream', '-c', 'fast'], making);
  if (made.status !== 0)
    throw new Error(`the data directory could not be made: ${made.stderr ?? made.error}`);
  const port = await freePort();
  const url = `postgresql://salience@127.0.0.1:${port}/postgres`;
  const options = Object.entries({
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: directory,
    max_connections: 60,
    log_min_messages: 'panic',
    ...settings,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let server;
  let ended;
  const start = async () => {
    // A group of its own, so that it can be ended as a whole.
    server = spawn(join(bin, 'postgres'), ['-D', data, ...options], {
      cwd: directory,
      detached: true,
      stdio: 'ignore',
      ...owner,
    });
    ended = new Promise((resolve) => server.once('exit', resolve));
    await untilReady(url, server);
  };
  const end = async (signal) => {
    endGroup(server.pid, signal);
    await ended;
  };
  const onExit = () => {
    endGroup(server.pid, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  };
  process.once('exit', onExit);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  await start();
  return {
    url,
    data,
    /** Kills the server, like a power failure, and starts it again. */
    async crash() {
      await end('SIGKILL');
      // Until the children of the killed server have ended, a new server refuses the data directory and exits at once.
      for (let attempt = 1; ; attempt++) {
        try {
          return await start();
        } catch (error) {
          if (server.exitCode === null || attempt === MOST_STARTS) throw error;
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      }
    },
    async stop() {
      await end('SIGINT');
      process.off('exit', onExit);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function ownerOf() {
  const ask = (flag) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim());
  const [uid, gid] = [ask('-u'), ask('-g')];
  if (!uid) throw new Error('PostgreSQL does not run as root, and there is no user "postgres"');
  return { uid, gid };
}

function endGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}

/** Ready is who answers a query. */
async function untilReady(url, server) {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (server.exitCode !== null) throw new Error('the server ended at its start');
    const client = new pg.Client(url);
    try {
      await client.connect();
      await client.query('SELECT 1');
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    } finally {
      await client.end().catch(() => {});
    }
  }
  throw new Error('the server was not ready within 30 seconds');
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

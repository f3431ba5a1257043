// PostgreSQL beside SQLite: recalls of one space in both, a cold space, many spaces in turn, bytes, and kills under load. It runs on a
// server of its own, from installed binaries, over loopback.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { copySpaces, openMemory, openSpaces } from '../build/index.js';
import { builtinEmbedder } from '../build/providers/builtin/embedder.js';
import { postgres } from '../build/stores/postgres/index.js';
import { createSqliteStore } from '../build/stores/sqlite/index.js';
import { findBinaries, startServer } from '../scripts/postgres-server.mjs';
import { makeMemories, makeQueries } from './data.mjs';
import { quantile, round, summary } from './measure.mjs';

const BATCH = 1000;
const COLD = 10_000;
const OPEN = 100;

export async function benchPostgres({ size = 100_000, spaces = 1000, kills = 20 }, log) {
  const binaries = findBinaries();
  if (!binaries) throw new Error('this benchmark needs PostgreSQL: apt-get install postgresql');
  const directory = mkdtempSync(join(tmpdir(), 'salience-bench-'));
  const server = await startServer(binaries);
  const load = () => round(loadavg()[0]);
  try {
    const result = { size, load: { before: load() } };
    const step = async (name, work) => {
      const started = performance.now();
      try {
        result[name] = await work();
      } finally {
        for (const each of open.splice(0).reverse()) await each.close();
      }
      log(name, { ...result[name], seconds: round((performance.now() - started) / 1000) });
    };
    await step('bytes', () => fill(server.url, directory, size));
    await step('recall', () => recalls(server.url, directory));
    await step('pgvector', () => vectorsBeside(directory, size));
    await step('cold', () => coldSpace(server.url, directory, Math.min(COLD, size)));
    await step('spaces', () => manySpaces(server.url, spaces));
    await step('neighbour', () => besideALoad(server.url));
    await step('kills', () => killsUnderLoad(server, kills));
    result.load.after = load();
    return result;
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What a step has opened is closed at its end. */
const open = [];
function kept(resource) {
  open.push(resource);
  return resource;
}

const tail = (times) => ({ ...summary(times), p99: round(quantile(times, 0.99)) });

async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function written(memory, count) {
  const memories = makeMemories(count, Date.now());
  for (let at = 0; at < count; at += BATCH) await memory.rememberMany(memories.slice(at, at + BATCH));
}

async function ask(url, text) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Writes the same space to a file and to the database. Returns the bytes per memory there. */
async function fill(url, directory, size) {
  const files = kept(createSqliteStore({ directory, synchronous: 'normal' }));
  const memory = await openMemory({ store: files, space: 'large' });
  await written(memory, size);
  await memory.close();
  const store = kept(postgres(url));
  const wal = () => ask(url, `SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS bytes`);
  const [before] = await wal();
  await copySpaces({ from: files, to: store, spaces: ['large'] });
  const [after] = await wal();
  await ask(url, 'VACUUM ANALYZE');
  const [row] = await ask(
    url,
    `SELECT sum(pg_relation_size(c.oid))::float8 AS tables, sum(pg_indexes_size(c.oid))::float8 AS indexes,
      sum(coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0))::float8 AS toast
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'salience' AND c.relkind = 'r'`,
  );
  const each = (bytes) => Math.round(Number(bytes) / size);
  return {
    memories: size,
    bytesPerMemory: {
      tables: each(row.tables),
      indexes: each(row.indexes),
      toast: each(row.toast),
      wal: each(after.bytes - before.bytes),
    },
  };
}

/** How often the queries are asked: as in `timeWarm`, the last two times are what is measured. */
const PASSES = 5;

/** Asks both stores in turn, so that other load on the machine affects both. */
async function recalls(url, directory) {
  const files = kept(createSqliteStore({ directory }));
  const store = kept(postgres(url));
  const memories = {
    sqlite: await openMemory({ store: files, space: 'large' }),
    postgres: await openMemory({ store, space: 'large' }),
  };
  const result = {};
  for (const [kind, options] of [
    ['balanced', { strategy: 'balanced', track: false }],
    ['hybrid', { strategy: 'hybrid', track: false }],
    ['withEffects', { strategy: 'five-factor' }],
  ]) {
    const queries = makeQueries(200);
    const times = { sqlite: [], postgres: [] };
    for (let pass = 0; pass < PASSES; pass++) {
      for (const query of queries) {
        for (const name of ['sqlite', 'postgres'])
          times[name].push(await timed(() => memories[name].recall(query, options)));
      }
    }
    const warm = (all) => ({
      ...summary(all.slice(-2 * queries.length)),
      after: (PASSES - 2) * queries.length,
      first: summary(all.slice(0, queries.length)),
    });
    result[kind] = { sqlite: warm(times.sqlite), postgres: warm(times.postgres) };
  }
  for (const memory of Object.values(memories)) await memory.close();
  return result;
}

/** What the older native measurement found for the same query over 100,000 vectors, on another machine. */
const NATIVE_MS = 33;

/**
 * The ten nearest vectors by `ORDER BY embedding <=> q LIMIT 10`, exact, in PGlite: PostgreSQL and pgvector as WebAssembly, in this
 * process. Its packages are those of bench/peers, and of nothing else.
 */
async function vectorsBeside(directory, size) {
  const what = 'PGlite with pgvector: WebAssembly, not a native server';
  if (!existsSync(new URL('./peers/node_modules', import.meta.url)))
    return { what, missing: 'npm install --prefix bench/peers', nativeMs: NATIVE_MS };
  const { peer } = await import('./peers/pgvector.mjs');
  const database = await peer.open(join(directory, 'pglite'));
  try {
    const embedder = builtinEmbedder();
    const memories = makeMemories(size, Date.now());
    for (let at = 0; at < size; at += BATCH) {
      const batch = memories.slice(at, at + BATCH);
      const vectors = await embedder.embed(batch.map(({ content }) => content));
      await database.ingest(
        batch.flatMap(({ content }, each) => {
          const vector = vectors[each];
          return vector ? [{ id: String(at + each), content, vector }] : [];
        }),
      );
    }
    const times = [];
    for (const [at, vector] of (await embedder.embed(makeQueries(60))).entries()) {
      if (!vector) continue;
      const time = await timed(() => database.recall({ vector }));
      if (at >= 10) times.push(time);
    }
    return { what, version: peer.version, memories: size, nearest: tail(times), nativeMs: NATIVE_MS };
  } finally {
    await database.close();
  }
}

/** The first recall of a process: from the rows, and from the index that the one before saved. */
async function coldSpace(url, directory, size) {
  const files = kept(createSqliteStore({ directory, synchronous: 'normal' }));
  const source = await openMemory({ store: files, space: 'cold' });
  await written(source, size);
  await source.close();
  const target = kept(postgres(url));
  await copySpaces({ from: files, to: target, spaces: ['cold'] });
  const first = async () => {
    let statements = 0;
    const pool = new pg.Pool({ connectionString: url });
    const noting = (asked) => ({
      query(query) {
        statements++;
        return asked.query(query);
      },
    });
    const counted = {
      ...noting(pool),
      async connect() {
        const connection = await pool.connect();
        const { query } = noting({ query: connection.query.bind(connection) });
        return Object.assign(Object.create(connection), { query });
      },
    };
    const store = postgres(counted);
    // Opening it makes the connection, which is not what is measured.
    const memory = await openMemory({ store, space: 'cold' });
    statements = 0;
    const ms = await timed(() => memory.recall('the first question', { track: false }));
    const said = { ms: round(ms), statements };
    await memory.close();
    await store.close();
    await pool.end();
    return said;
  };
  const fromRows = await first();
  const saved = [];
  for (let each = 0; each < 10; each++) saved.push(await first());
  return {
    memories: size,
    fromRows,
    fromSaved: {
      p50: quantile(
        saved.map(({ ms }) => ms),
        0.5,
      ),
      all: saved.map(({ ms }) => ms),
      statements: saved[0].statements,
    },
  };
}

async function manySpaces(url, count) {
  const store = kept(postgres(url));
  const spaces = kept(openSpaces({ path: 'none', store, maxOpenSpaces: OPEN }));
  const names = Array.from({ length: count }, (_, at) => `tenant-${at}`);
  const memories = makeMemories(20, Date.now());
  for (const name of names) await (await spaces.get(name)).rememberMany(memories);
  const queries = makeQueries(50);
  const times = [];
  for (const [at, name] of [...names, ...names].entries()) {
    const query = queries[at % queries.length];
    times.push(await timed(async () => (await spaces.get(name)).recall(query, { track: false })));
  }
  return { spaces: count, maxOpenSpaces: OPEN, memories: 20, recall: tail(times) };
}

/** How often the large space is loaded beside a warm one: one load is over after some dozens of recalls. */
const LOADS = 12;

/** Measures a warm space alone and while the large one is loaded in the same process, in turn. */
async function besideALoad(url) {
  const store = kept(postgres(url));
  const memory = await openMemory({ store, space: 'tenant-0' });
  const queries = makeQueries(50);
  const recall = (at) => memory.recall(queries[at % queries.length], { track: false });
  for (let at = 0; at < 1000; at++) await recall(at);
  const alone = [];
  const beside = [];
  for (let load = 0; load < LOADS; load++) {
    for (let at = 0; at < 100; at++) alone.push(await timed(() => recall(at)));
    const neighbour = await openMemory({ store, space: 'large' });
    let isLoaded = false;
    const loading = neighbour.recall('anything', { track: false }).then(() => {
      isLoaded = true;
    });
    for (let at = 0; !isLoaded; at++) beside.push(await timed(() => recall(at)));
    await loading;
    await neighbour.close();
  }
  await memory.close();
  return { loads: LOADS, alone: tail(alone), whileLoading: tail(beside) };
}

async function killsUnderLoad(server, kills) {
  const store = kept(postgres(server.url, { busyTimeout: 60_000 }));
  const memories = await Promise.all(
    ['a', 'b', 'c'].map((space) => openMemory({ store, space, embedder: 'none' })),
  );
  const acknowledged = memories.map(() => []);
  let isRunning = true;
  const load = memories.map(async (memory, at) => {
    for (let index = 0; isRunning; index++) {
      const id = `${at}-${index}`;
      try {
        await memory.remember(`statement ${id}`, { id });
        acknowledged[at].push(id);
      } catch (error) {
        if (error.code !== 'store_failed') throw error;
      }
    }
  });
  for (let kill = 0; kill < kills; kill++) {
    const goal = acknowledged.flat().length + 50;
    while (acknowledged.flat().length < goal) await new Promise((resolve) => setTimeout(resolve, 5));
    await server.crash();
  }
  isRunning = false;
  await Promise.all(load);
  let lost = 0;
  for (const [at, memory] of memories.entries()) {
    const { hits } = await memory.recall('statement', { strategy: 'bm25', limit: 1_000_000, track: false });
    const there = new Set(hits.map((hit) => hit.memory.id));
    lost += acknowledged[at].filter((id) => !there.has(id)).length;
    await memory.close();
  }
  return { kills, acknowledged: acknowledged.flat().length, lost };
}

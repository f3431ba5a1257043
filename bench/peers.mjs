// Compares Salience with others on the same memories and vectors. Each peer has a small adapter in peers/ and runs in
// its own processes. Salience runs again before each of them, so that both meet the same load.
import { fork } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { getPriority, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtinEmbedder } from '../build/providers/builtin/embedder.js';
import { makeMemories, makeQueries } from './data.mjs';
import { quantile, round } from './measure.mjs';

const SALIENCE = 'salience.mjs';
const PEERS = [
  'sqlite-vec.mjs',
  'libsql.mjs',
  'pgvector.mjs',
  'lancedb.mjs',
  'usearch.mjs',
  'orama.mjs',
  'minisearch.mjs',
  'mem0.mjs',
  'mastra.mjs',
  'mcp-memory.mjs',
];
const QUERIES = 100;
// For each series of recalls; what is slower answers fewer queries.
const ASK_SECONDS = 1;
const K = 10;
const now = Date.UTC(2026, 0, 1);
const folder = new URL('./peers/', import.meta.url);

/**
 * Measures all peers at each of `sizes`, except those that would write for longer than `ingestSeconds` and those not
 * started after `totalSeconds`.
 */
export async function benchPeers({ sizes = [1000, 10_000], ingestSeconds = 180, totalSeconds = 3600 }, log) {
  if (!existsSync(new URL('node_modules', folder)))
    throw new Error('peers: install what is compared first: npm install --prefix bench/peers');
  const end = performance.now() + 1000 * totalSeconds;
  const loadBefore = load();
  const results = [];
  for (const size of sizes) {
    const root = mkdtempSync(join(tmpdir(), 'salience-peers-'));
    try {
      results.push(await atSize(size, root, { ingestSeconds, end }, log));
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
  return {
    date: new Date().toISOString().slice(0, 10),
    load: [loadBefore, load()],
    nice: getPriority(),
    results,
  };
}

async function atSize(size, root, { ingestSeconds, end }, log) {
  const data = await writeData(size, root);
  const storeOf = (file) => join(root, `store-${file}`);
  const write = (file) => ingest(file, storeOf(file), data.directory, size, ingestSeconds);
  const ask = (file) => inProcess([file, 'ask', storeOf(file), data.directory, ASK_SECONDS]);
  const written = await write(SALIENCE);
  // Once with enough time for every query: its answers are the exact ranking.
  const { recall, missing } = await inProcess([SALIENCE, 'ask', storeOf(SALIENCE), data.directory, 120]);
  if (!recall) throw new Error(`Salience itself did not run: ${missing}`);
  const composite = recall.answers;
  const asked = [];
  const rows = [];
  for (const file of PEERS) {
    if (asked.length > 0 && performance.now() > end) {
      rows.push({
        name: file.replace('.mjs', ''),
        missing: 'the time for the whole run was over before its turn',
      });
      continue;
    }
    asked.push(await ask(SALIENCE));
    const own = { ...written, ...asked.at(-1) };
    if (own.missing) throw new Error(`Salience itself did not run: ${own.missing}`);
    let peer = await write(file);
    if (!peer.missing) peer = { ...peer, ...(await ask(file)) };
    rows.push(judged(peer, composite, data, own));
    log(`${peer.name} at ${size}`, rows.at(-1));
    rmSync(storeOf(file), { recursive: true, force: true });
  }
  const own = judged({ ...written, ...middle(asked) }, composite, data);
  log(`${own.name} at ${size}`, own);
  return { memories: size, peers: [own, ...rows] };
}

async function ingest(file, directory, data, size, seconds) {
  mkdirSync(directory);
  const written = await inProcess([file, 'ingest', directory, data, seconds]);
  if (written.missing) return { name: file.replace('.mjs', ''), ...written };
  const { done, perSecond, ...about } = written;
  const found = { ...about, ingestPerSecond: perSecond, diskMiB: round(bytesIn(directory) / 2 ** 20) };
  if (done === size) return found;
  const { diskMiB: _, ...unfinished } = found;
  return {
    ...unfinished,
    missing: `at ${perSecond} memories a second, writing would take over ${seconds} s`,
  };
}

/** Returns the answer of a process of child.mjs, or `missing` with the reason why there is none. */
function inProcess(args) {
  return new Promise((resolve) => {
    const script = fileURLToPath(new URL('child.mjs', folder));
    // Twice its time and a margin, because opening and the last batch are not interrupted from inside.
    const timeout = 1000 * (2 * args.at(-1) + 60);
    const child = fork(script, args.map(String), {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: ['--max-old-space-size=8192'],
      timeout,
    });
    let errors = '';
    let answer;
    child.stderr.on('data', (text) => {
      errors += text;
    });
    child.on('message', (message) => {
      answer = message;
    });
    child.on('close', (code, signal) => resolve(answer ?? { missing: reason(errors, code, signal) }));
  });
}

function reason(errors, code, signal) {
  const lines = errors.split('\n').map((line) => line.trim());
  const told = lines.find((line) => /^(?:\w*Error\b|thread .* panicked)/.test(line));
  return told ?? `the process ended with ${signal ?? `code ${code}`}`;
}

/** Returns a row of the result, with the answers replaced by their agreement with the exact ones. */
function judged({ recall, nearest, ...rest }, composite, { exact }, salience) {
  if (!recall) return rest;
  const vectors = nearest ?? (rest.ranksByVector ? recall : undefined);
  return {
    ...rest,
    recallMs: times(recall),
    ...(nearest && { nearestMs: times(nearest) }),
    // Of the run of Salience just before.
    ...(salience && { recallOverSalience: round(recall.p50 / salience.recall.p50) }),
    composite: agreement(recall.answers, (found, query) => {
      const wanted = new Set(composite[query]);
      return wanted.size === 0 ? undefined : found.filter((id) => wanted.has(id)).length / wanted.size;
    }),
    ...(vectors && {
      vectors: agreement(
        vectors.answers,
        (found, query) => found.filter((id) => exact[query].has(id)).length / K,
      ),
    }),
  };
}

function times({ answers: _, ...rest }) {
  return rest;
}

/** The mean over queries of the share of the exact ten that was found. */
function agreement(answers, share) {
  const shares = answers
    .map((found, query) => share([...new Set(found)].slice(0, K), query))
    .filter((each) => each !== undefined);
  return Number((shares.reduce((sum, each) => sum + each, 0) / shares.length).toFixed(3));
}

/** Returns the median of each figure over several runs of Salience, which all give the same answers. */
function middle(runs) {
  const median = (of) => round(quantile(runs.map(of), 0.5));
  const part = (name) => ({
    ...runs[0][name],
    p50: median((run) => run[name].p50),
    p99: median((run) => run[name].p99),
    cpu: median((run) => run[name].cpu),
  });
  return {
    ...runs[0],
    openMs: median((run) => run.openMs),
    rssMiB: median((run) => run.rssMiB),
    recall: part('recall'),
    nearest: part('nearest'),
    runs: runs.length,
  };
}

/** Writes the input of all processes, and for each query the ids of the exact nearest memories, computed in float64. */
async function writeData(size, root) {
  const directory = join(root, 'data');
  mkdirSync(directory);
  const memories = makeMemories(size, now);
  const queries = makeQueries(QUERIES).map((text) => ({ text }));
  const ofMemories = await write(directory, 'memories', memories, ({ content }) => content);
  const ofQueries = await write(directory, 'queries', queries, ({ text }) => text);
  const exact = ofQueries.map((query) => nearestTo(query, ofMemories, memories));
  return { directory, exact };
}

async function write(directory, name, items, textOf) {
  const vectors = await builtinEmbedder().embed(items.map(textOf));
  const at = vectors.indexOf(undefined);
  if (at >= 0) throw new Error(`the embedder knows no word of "${textOf(items[at])}"`);
  writeFileSync(join(directory, `${name}.json`), JSON.stringify(items));
  writeFileSync(
    join(directory, `${name}.bin`),
    Buffer.concat(
      vectors.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
    ),
  );
  return vectors;
}

/** Returns all ids at least as near as the tenth: if several tie for the last places, each of them is right. */
function nearestTo(query, vectors, memories) {
  const cosines = vectors.map((vector) => cosine(query, vector));
  const tenth = [...cosines].sort((a, b) => b - a)[K - 1];
  return new Set(memories.filter((_, row) => cosines[row] >= tenth).map(({ id }) => id));
}

function cosine(a, b) {
  let [product, ofA, ofB] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    product += a[at] * b[at];
    ofA += a[at] * a[at];
    ofB += b[at] * b[at];
  }
  return product / Math.sqrt(ofA * ofB);
}

function bytesIn(directory) {
  return readdirSync(directory, { recursive: true })
    .map((name) => statSync(join(directory, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.blocks * 512 : 0), 0);
}

function load() {
  return round(loadavg()[0]);
}

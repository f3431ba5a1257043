// How the time of ingest, opening and recall grows with the store, with words distributed as in real conversations. One
// process writes each store and another opens and asks it, so that the memory measured is that of a reader only.
import { fork } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAnalyzer } from '../build/text/analyze.js';
import { openMemory } from '../dist/index.js';
import { seeded, vocabulary } from './data.mjs';
import { millisecondsToRead, quantile, round } from './measure.mjs';

const now = Date.UTC(2026, 0, 1);
const year = 365 * 86_400_000;
const STRATEGIES = ['hybrid', 'balanced', 'vector', 'bm25'];
const QUERIES = 100;
/** Asked before, of each strategy: other questions, while V8 still compiles. */
const WARM_QUERIES = 200;
const BATCH = 1000;
const TOPICS = 2000;

/** `stores` are texts such as `100000x256`, `100000x256:equal` or `100000x256:near`. */
export async function benchScale(stores, log) {
  const results = [];
  for (const name of stores) {
    const directory = mkdtempSync(join(tmpdir(), 'salience-scale-'));
    try {
      const written = await inProcess('write', name, directory);
      log(`${name} written`, written);
      const read = await inProcess('read', name, directory);
      log(`${name} read`, read);
      // The load of the machine. Above its number of cores, the times are those of a busy machine.
      results.push({ store: name, ...written, ...read, load: round(loadavg()[0]) });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  return results;
}

function inProcess(task, name, directory) {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [task, name, directory], {
      execArgv: ['--expose-gc'],
    });
    let result;
    child.on('message', (message) => {
      result = message;
    });
    child.on('exit', (code) =>
      result ? resolve(result) : reject(new Error(`${task} ${name}: exit ${code}`)),
    );
  });
}

function parse(name) {
  const [size, kind] = name.split(':');
  const [count, dimensions] = size.split('x').map(Number);
  return { count, dimensions, kind };
}

/**
 * Words by the law of Zipf and Mandelbrot, 1 / (rank + 8)^1.24: fitted by least squares of logarithms to the 17,184 distinct
 * words of beam-dev (1.7 million in all).
 */
function wordDrawer(random) {
  const words = vocabulary().slice(0, 17_184);
  const sums = new Float64Array(words.length);
  let sum = 0;
  for (let rank = 0; rank < words.length; rank++) {
    sum += 1 / (rank + 1 + 8) ** 1.24;
    sums[rank] = sum;
  }
  return () => {
    const at = random() * sum;
    let [low, high] = [0, words.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] < at) low = middle + 1;
      else high = middle;
    }
    return words[low];
  };
}

/** 80 % of the memories in sessions of 20 to 200 turns, each 8 to 40 words. */
function* memories(count, seed = 1) {
  const random = seeded(seed);
  const word = wordDrawer(random);
  let session = 0;
  let left = 0;
  let at = now - year;
  for (let index = 0; index < count; index++) {
    if (left === 0 && random() < 0.8 / 110 / (1 - 0.8)) left = 20 + Math.floor(random() * 181);
    const isTurn = left > 0;
    if (isTurn) left--;
    at += year / count;
    yield {
      id: `m${index}`,
      content: Array.from({ length: 8 + Math.floor(random() * 33) }, word).join(' '),
      importance: Math.round(random() * 100) / 100,
      createdAt: new Date(at),
      ...(isTurn ? { sessionId: `s${session}`, role: left % 2 ? 'user' : 'assistant' } : {}),
    };
    if (isTurn && left === 0) session++;
  }
}

/** Three to seven words of a memory. */
function queriesOf(count) {
  const random = seeded(7);
  const analyzer = createAnalyzer();
  const queries = [];
  const wantedQueries = WARM_QUERIES + QUERIES;
  for (const { content } of memories(Math.min(count, 20_000))) {
    if (random() > (3 * wantedQueries) / Math.min(count, 20_000)) continue;
    const words = [...new Set(content.split(' '))].filter((word) => analyzer.analyze(word).length > 0);
    const wanted = 3 + Math.floor(random() * 5);
    if (words.length >= wanted) queries.push(words.slice(0, wanted).join(' '));
  }
  return queries.slice(0, wantedQueries);
}

/** Further measurements, in postings per memory: questions of rare words, and those in a space of one conversation. */
const POSTINGS = [0.05, 0.9];

/**
 * Returns `QUERIES` questions and as many for the warm-up, whose words have about `wanted` postings per memory
 * together.
 */
function queriesWithPostings(wanted) {
  const analyzer = createAnalyzer();
  const texts = [];
  for (const { content } of memories(20_000)) texts.push(content);
  const shares = new Map();
  for (const text of texts) {
    for (const term of new Set(analyzer.analyze(text)))
      shares.set(term, (shares.get(term) ?? 0) + 1 / texts.length);
  }
  const shareOf = (word) => analyzer.analyze(word).reduce((sum, term) => sum + (shares.get(term) ?? 0), 0);
  const random = seeded(11);
  const made = texts.slice(0, 10_000).map((text) => {
    const words = [...new Set(text.split(' '))]
      .map((word) => ({ word, share: shareOf(word) }))
      .filter(({ share }) => share > 0);
    let left = 3 + Math.floor(random() * 5);
    let missing = wanted;
    const chosen = [];
    // Each word is the one that comes nearest to its part of what is still wanted.
    for (; left > 0 && words.length > 0; left--) {
      const part = missing / left;
      words.sort((a, b) => Math.abs(b.share - part) - Math.abs(a.share - part));
      const { word, share } = words.pop();
      chosen.push(word);
      missing -= share;
    }
    return { query: chosen.join(' '), missing: Math.abs(missing) };
  });
  made.sort((a, b) => a.missing - b.missing);
  return made.slice(0, QUERIES + WARM_QUERIES).map(({ query }) => query);
}

/** Unit vectors given by the text: around one of many topics; a fifth of them equal, or nearly so, where that is asked for. */
function givenVectors(dimensions, kind) {
  const normal = (random) => {
    const vector = Float32Array.from({ length: dimensions }, () => random() + random() + random() - 1.5);
    const norm = Math.hypot(...vector);
    return vector.map((each) => each / norm);
  };
  let making = 0;
  const topics = Array.from({ length: TOPICS }, (_, topic) => normal(seeded(topic + 1)));
  const vectorOf = (text) => {
    const hash = hashOf(text);
    const random = seeded(hash);
    const isAlike = kind !== undefined && hash % 5 === 0;
    const topic = topics[isAlike ? 0 : hash % TOPICS];
    if (isAlike && kind === 'equal') return topic;
    const noise = normal(random);
    // A cosine of .99 and more of what is nearly equal; else about .7 to the topic.
    const share = isAlike ? 0.1 : 1;
    const mixed = topic.map((each, at) => each + share * noise[at]);
    const norm = Math.hypot(...mixed);
    return mixed.map((each) => each / norm);
  };
  return {
    model: `given:${dimensions}`,
    dimensions,
    calibration: { floor: 0.2, ceiling: 0.8 },
    thresholds: { conflict: 0.9, birthLink: 0.8, consolidation: 0.999, similarPair: 0.999 },
    async embed(texts) {
      const started = performance.now();
      const vectors = texts.map(vectorOf);
      making += performance.now() - started;
      return vectors;
    },
    /** How long vectors were made since the last time: where they are given, that is no part of the work. */
    spent() {
      const before = making;
      making = 0;
      return before;
    },
  };
}

function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

async function write(name, directory) {
  const { count, dimensions, kind } = parse(name);
  const embedder = givenVectors(dimensions, kind);
  const memory = await openMemory({ path: directory, space: 'bench', embedder, clock: () => now });
  let batch = [];
  let spent = 0;
  for (const each of memories(count)) {
    batch.push(each);
    if (batch.length < BATCH) continue;
    const started = performance.now();
    await memory.rememberMany(batch);
    spent += performance.now() - started - embedder.spent();
    batch = [];
  }
  await memory.close();
  const bytes = readdirSync(directory).reduce((sum, file) => sum + statSync(join(directory, file)).size, 0);
  return {
    ingestPerSecond: Math.round(count / (spent / 1000)),
    diskBytesPerMemory: Math.round(bytes / count),
  };
}

async function read(name, directory) {
  const { count, dimensions, kind } = parse(name);
  const embedder = givenVectors(dimensions, kind);
  const queries = queriesOf(count);
  globalThis.gc();
  const before = process.memoryUsage.rss();
  const started = performance.now();
  const memory = await openMemory({
    path: directory,
    space: 'bench',
    embedder,
    clock: () => now,
    readOnly: true,
  });
  await memory.recall(queries[0], { track: false });
  const openMs = performance.now() - started;
  const limit = millisecondsToRead(count * dimensions * 4);
  const recallMs = {};
  const looked = [];
  for (const strategy of STRATEGIES) {
    for (const query of queries.slice(QUERIES)) await memory.recall(query, { strategy, track: false });
    const times = [];
    for (const query of queries.slice(0, QUERIES)) {
      const from = performance.now();
      const { trace } = await memory.recall(query, { strategy, track: false });
      times.push(performance.now() - from);
      if (strategy === 'bm25')
        looked.push(trace.stages.find(({ name: of }) => of === 'bm25_search').survivors);
    }
    recallMs[strategy] = {
      p50: round(quantile(times, 0.5)),
      p99: round(quantile(times, 0.99)),
      overLimit: round(quantile(times, 0.5) / limit),
    };
  }
  globalThis.gc();
  const bytes = process.memoryUsage.rss() - before;
  const hybridByPostings = [];
  for (const wanted of POSTINGS)
    hybridByPostings.push(await timeWithPostings(memory, queriesWithPostings(wanted)));
  await memory.close();
  return {
    openToFirstAnswerMs: round(openMs),
    residentBytesPerMemory: Math.round(bytes / count),
    rowsWithAWordPerMemory: round(looked.reduce((sum, each) => sum + each, 0) / looked.length / count),
    floatVectorsReadOnceMs: round(limit),
    recallMs,
    hybridByPostings,
  };
}

async function timeWithPostings(memory, queries) {
  const [times, postings] = [[], []];
  const { memories: count } = await memory.stats();
  for (const query of queries.slice(QUERIES)) await memory.recall(query, { track: false });
  for (const query of queries.slice(0, QUERIES)) {
    const from = performance.now();
    await memory.recall(query, { track: false });
    times.push(performance.now() - from);
  }
  for (const query of queries.slice(0, QUERIES)) {
    let sum = 0;
    for (const word of query.split(' ')) {
      const { trace } = await memory.recall(word, { strategy: 'bm25', limit: 1, track: false });
      sum += trace.stages.find(({ name: of }) => of === 'bm25_search').survivors;
    }
    postings.push(sum / count);
  }
  return {
    postingsPerMemory: round(postings.reduce((sum, each) => sum + each, 0) / postings.length),
    p50: round(quantile(times, 0.5)),
    p99: round(quantile(times, 0.99)),
  };
}

const [task, name, directory] = process.argv.slice(2);
if (process.send && (task === 'write' || task === 'read')) {
  process.send(await (task === 'write' ? write : read)(name, directory));
}

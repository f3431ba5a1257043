// How long the verbs take, beside the same work done naively and by FTS5, in one run.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import { builtinEmbedder } from '../build/providers/builtin/embedder.js';
import { createAnalyzer } from '../build/text/analyze.js';
import { openMemory } from '../dist/index.js';
import { makeMemories, makeQueries } from './data.mjs';
import { round, summary, timeEach, timeProcess, timeWarm, WARM_INPUTS } from './measure.mjs';

const now = Date.UTC(2026, 0, 1);
const clock = () => now;

/** Everything about a store of `count` memories. */
export async function benchSize(count, log) {
  const directory = mkdtempSync(join(tmpdir(), 'salience-bench-'));
  try {
    const memories = makeMemories(count, now);
    const queries = makeQueries(WARM_INPUTS);
    const written = await timeWriting(directory, memories, log);
    written.vectorsGivenPerSecond = await timeGiven(memories, log);
    const opening = await timeOpening(directory, queries[0], log);
    const open = () => openMemory({ path: directory, space: 'default', clock, readOnly: true });
    const recall = {};
    for (const strategy of ['hybrid', 'bm25', 'vector', 'balanced', 'retention']) {
      // What one strategy has read is not known to the next.
      const memory = await open();
      recall[strategy] = await timeWarm(queries, (query) =>
        memory.recall(query, { strategy, now: new Date(now) }),
      );
      await memory.close();
      log(`recall ${strategy}`, recall[strategy]);
    }
    const rarely = await timeRarely(directory, queries, log);
    const scopes = await timeScopes(open, queries, log);
    const memory = await open();
    const { hits, trace } = await memory.recall(queries[0]);
    await memory.close();
    const naive = await timeNaive(memories, queries.slice(0, count > 20_000 ? 20 : 100), log);
    const fts5 = await timeFts5(memories, queries, log);
    const cli = timeCli(directory, queries[1], log);
    return {
      memories: count,
      written,
      opening,
      recall,
      aMinuteApart: rarely,
      eightScopesInTurn: scopes,
      naiveScan: naive,
      fts5,
      cliRecallProcess: cli,
      hybridOverNaive: round(recall.hybrid.p50 / naive.p50),
      example: { hits: hits.length, bound: trace.upperBound, completeness: trace.completeness },
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** `hybrid` as an agent asks it, a minute and more after the question before: what follows from the time of day has changed. */
async function timeRarely(directory, queries, log) {
  let at = now;
  const memory = await openMemory({ path: directory, space: 'default', clock: () => at, readOnly: true });
  const result = await timeWarm(queries, (query) => {
    at += 61_000;
    return memory.recall(query, { strategy: 'hybrid' });
  });
  await memory.close();
  log('recall hybrid, a minute apart', result);
  return result;
}

/** `hybrid` on behalf of eight projects in turn. */
async function timeScopes(open, queries, log) {
  const memory = await open();
  let turn = 0;
  const result = await timeWarm(queries, (query) =>
    memory.recall(query, { strategy: 'hybrid', now: new Date(now), scope: `project:${turn++ % 8}` }),
  );
  await memory.close();
  log('recall hybrid, eight scopes in turn', result);
  return result;
}

async function timeWriting(directory, memories, log) {
  const memory = await openMemory({ path: directory, space: 'default', clock });
  const perSecond = await timeBatches(memory, memories);
  const single = await timeEach(makeMemories(60, now, 9), ({ content }) => memory.remember(content));
  const unnoticed = await timeEach(makeMemories(60, now, 10), ({ content }) =>
    memory.rememberMany([{ content }]),
  );
  await memory.close();
  const result = {
    batchesOf1000PerSecond: perSecond,
    singleMs: single,
    // A batch leaves contradictions to maintenance.
    batchOfOneMs: unnoticed,
    synchronous: 'full',
  };
  log('remember', result);
  return result;
}

/** Batches of 1,000 whose vectors are there already, as a model elsewhere makes them. */
async function timeGiven(memories, log) {
  const directory = mkdtempSync(join(tmpdir(), 'salience-bench-'));
  const builtin = builtinEmbedder();
  const vectors = await builtin.embed(memories.map(({ content }) => content));
  const known = new Map(memories.map(({ content }, at) => [content, vectors[at]]));
  const embed = async (texts) => texts.map((text) => known.get(text));
  const embedder = { ...builtin, model: 'given', embed };
  try {
    const memory = await openMemory({ path: directory, space: 'default', clock, embedder });
    const perSecond = await timeBatches(memory, memories);
    await memory.close();
    log('remember, vectors given', perSecond);
    return perSecond;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function timeBatches(memory, memories) {
  const started = performance.now();
  for (let at = 0; at < memories.length; at += 1000) await memory.rememberMany(memories.slice(at, at + 1000));
  return Math.round(memories.length / ((performance.now() - started) / 1000));
}

async function timeOpening(directory, query, log) {
  const times = [];
  for (let run = 0; run < 6; run++) {
    const started = performance.now();
    const memory = await openMemory({ path: directory, space: 'default', clock, readOnly: true });
    await memory.recall(query);
    times.push(performance.now() - started);
    await memory.close();
  }
  const result = summary(times.slice(1));
  log('open to first answer', result);
  return result;
}

/** A full scan as one would write it: terms and float vectors in objects, every memory scored, all sorted. */
async function timeNaive(memories, queries, log) {
  const analyzer = createAnalyzer();
  const embedder = builtinEmbedder();
  const vectors = await embedder.embed(memories.map(({ content }) => content));
  const documents = memories.map((memory, index) => {
    const terms = new Map();
    for (const term of analyzer.analyze(memory.content)) terms.set(term, (terms.get(term) ?? 0) + 1);
    return {
      id: memory.id,
      terms,
      vector: vectors[index],
      updatedAt: Date.parse(memory.createdAt),
      importance: memory.importance,
    };
  });
  const lengths = documents.map(({ terms }) => [...terms.values()].reduce((sum, each) => sum + each, 0));
  const average = lengths.reduce((sum, each) => sum + each, 0) / documents.length;
  const result = await timeEach(queries, async (query) => {
    const [vector] = await embedder.embed([query]);
    const terms = [...new Set(analyzer.analyze(query))];
    const idf = terms.map((term) => {
      const n = documents.reduce((count, { terms: all }) => count + (all.has(term) ? 1 : 0), 0);
      return Math.log(1 + (documents.length - n + 0.5) / (n + 0.5));
    });
    const scored = documents.map((document, index) => {
      let bm25 = 0;
      terms.forEach((term, at) => {
        const frequency = document.terms.get(term) ?? 0;
        bm25 += (idf[at] * frequency * 2.2) / (frequency + 1.2 * (0.25 + (0.75 * lengths[index]) / average));
      });
      let cosine = 0;
      if (vector && document.vector) {
        for (let at = 0; at < vector.length; at++) cosine += vector[at] * document.vector[at];
      }
      const recency = 2 ** (-(now - document.updatedAt) / 86_400_000 / 30);
      return {
        id: document.id,
        score: (0.6 * bm25) / 20 + 0.4 * cosine + 0.05 * recency + 0.03 * document.importance,
      };
    });
    return scored.sort((a, b) => b.score - a.score).slice(0, 10);
  });
  log('naive full scan', result);
  return result;
}

async function timeFts5(memories, queries, log) {
  const database = new DatabaseSync(':memory:');
  database.exec("CREATE VIRTUAL TABLE document USING fts5(content, tokenize='porter unicode61')");
  const insert = database.prepare('INSERT INTO document (content) VALUES (?)');
  const started = performance.now();
  database.exec('BEGIN');
  for (const { content } of memories) insert.run(content);
  database.exec('COMMIT');
  const insertPerSecond = Math.round(memories.length / ((performance.now() - started) / 1000));
  const find = database.prepare(
    'SELECT rowid, bm25(document) AS score FROM document WHERE document MATCH ? ORDER BY score LIMIT 10',
  );
  const analyzer = createAnalyzer();
  const result = await timeWarm(queries, (query) => {
    const words = query.split(' ').filter((word) => analyzer.analyze(word).length > 0);
    return words.length === 0 ? [] : find.all(words.map((word) => `"${word}"`).join(' OR '));
  });
  database.close();
  const row = { ...result, insertPerSecond, what: 'words alone, in memory' };
  log('fts5', row);
  return row;
}

function timeCli(directory, query, log) {
  const main = fileURLToPath(new URL('../dist/cli/main.cjs', import.meta.url));
  const args = [main, 'recall', query, '--path', directory, '--now', '2026-01-01T00:00:00Z', '--json'];
  const result = timeProcess(process.execPath, args);
  log('cli recall, whole process', result);
  return result;
}

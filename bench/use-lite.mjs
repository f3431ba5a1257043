// Whether salience/use-lite is worth its packages: recall with it and with the built-in embedder on the same questions, and
// where its calibration, its thresholds and its floor of relevance come from. Of beam-dev the first spaces, because long
// texts take long.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtinEmbedder } from '../build/providers/builtin/embedder.js';
import { compareRuns, createEvaluationEngine, evaluate, readDataset, recallAtK } from '../dist/eval/index.js';
import { openMemory } from '../dist/index.js';
import { useLite } from '../dist/providers/use-lite.js';
import { endingAtDepth, SETS } from './evaluation.mjs';

const BEAM_SPACES = 6;
const METRICS = ['recall@10', 'ndcg@10'];
const STRATEGIES = ['hybrid', 'vector'];
const FLOORS = [0, 0.1, 0.2, 0.3, 0.4];
const CEILINGS = [0.7, 0.8, 0.9, 1];
const RELEVANCE = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4];

export async function benchUseLite(directory, log, embedder = useLite()) {
  const lite = embedOnce(embedder);
  const builtin = embedOnce(builtinEmbedder());
  const locomo = await readDataset(join(directory, 'locomo-dev.jsonl.gz'));
  const beam = await firstSpaces(join(directory, 'beam-dev.jsonl.gz'), BEAM_SPACES);
  const speed = await speedOf(embedder, locomo);
  log('speed', speed);
  const thresholds = await thresholdsOf(join(directory, 'stsb', 'stsb-en-dev.csv'), lite, builtin);
  log('thresholds', thresholds);
  const results = [];
  for (const dataset of [locomo, beam]) results.push(...(await differences(dataset, lite, builtin, log)));
  const grid = await gridOf(locomo, lite);
  log('grid', { ...grid, points: grid.points.length });
  const floors = [];
  for (const dataset of [locomo, beam]) floors.push(await floorsOf(dataset, lite, log));
  return { speed, thresholds, results, grid, floors };
}

async function firstSpaces(file, count) {
  const dataset = await readDataset(file);
  return { ...dataset, spaces: new Map([...dataset.spaces].slice(0, count)) };
}

/** Texts a second, one after another and many at a time, after a warm-up. */
async function speedOf(embedder, { spaces }) {
  const [{ memories }] = spaces.values();
  const texts = memories.map(({ content }) => content);
  await embedder.embed(texts.slice(0, 5));
  const started = performance.now();
  for (const text of texts.slice(0, 50)) await embedder.embed([text]);
  const middle = performance.now();
  await embedder.embed(texts.slice(0, 200));
  const perSecond = (count, ms) => round((count / ms) * 1000);
  return { alone: perSecond(50, middle - started), together: perSecond(200, performance.now() - middle) };
}

/** What lies above each threshold among pairs that people judged, and where as many pairs lie above the builtin's. */
async function thresholdsOf(file, lite, builtin) {
  const pairs = readPairs(readFileSync(file, 'utf8'));
  const [own, others] = [await cosines(lite, pairs), await cosines(builtin, pairs)];
  const sorted = own.toSorted((a, b) => b - a);
  const gold = pairs.map(([, , score]) => score);
  const above = (values, threshold) => {
    const kept = gold.filter((_, at) => values[at] >= threshold);
    const alike = kept.filter((score) => score >= 4).length;
    return { pairs: kept.length, alike: round(alike / kept.length) };
  };
  const rows = Object.entries(lite.thresholds).map(([rule, threshold]) => {
    const known = builtin.thresholds[rule];
    const sameShare = sorted[others.filter((value) => value >= known).length - 1];
    return {
      rule,
      threshold,
      ...above(own, threshold),
      builtin: { threshold: known, ...above(others, known) },
      sameShare: round(sameShare ?? 1),
    };
  });
  return {
    pairs: pairs.length,
    spearman: { useLite: spearman(own, gold), builtin: spearman(others, gold) },
    rows,
  };
}

async function cosines(embedder, pairs) {
  const [left, right] = [
    await embedder.embed(pairs.map(([a]) => a)),
    await embedder.embed(pairs.map(([, b]) => b)),
  ];
  return left.map(
    (vector, at) => vector?.reduce((sum, value, k) => sum + value * (right[at]?.[k] ?? 0), 0) ?? 0,
  );
}

/** First sentence, second sentence, what people say of them: 0–5. */
function readPairs(csv) {
  return csv.split(/\r?\n/).flatMap((line) => {
    const [left, right, score] = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
      ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
    );
    return score === undefined || score === '' ? [] : [[left, right, Number(score)]];
  });
}

function spearman(left, right) {
  const [a, b] = [ranks(left), ranks(right)];
  const middle = (left.length + 1) / 2;
  const sum = (term) => a.reduce((total, _, at) => total + term(a[at] - middle, b[at] - middle), 0);
  return round(sum((x, y) => x * y) / Math.sqrt(sum((x) => x * x) * sum((_, y) => y * y)));
}

/** Ranks from 1, ties sharing their mean. */
function ranks(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const rankOf = new Map();
  for (const [at, value] of sorted.entries()) {
    if (!rankOf.has(value)) rankOf.set(value, (at + 1 + sorted.lastIndexOf(value) + 1) / 2);
  }
  return values.map((value) => rankOf.get(value));
}

/** The metrics with both embedders, and USE-lite minus builtin with its interval, in all and by kind of question. */
async function differences(dataset, lite, builtin, log) {
  const excludeTypes = SETS[dataset.name].apart;
  const runsOf = async (embedder, strategies, name) => {
    const engine = await createEvaluationEngine({ embedder });
    try {
      const options = { datasets: [dataset], strategies, embedder: name, ks: [10], excludeTypes };
      return await evaluate(options, endingAtDepth(engine));
    } finally {
      await engine[Symbol.asyncDispose]();
    }
  };
  const before = await runsOf(builtin, STRATEGIES, 'builtin');
  const after = await runsOf(lite, STRATEGIES, 'use-lite');
  return STRATEGIES.map((strategy, at) => {
    const pair = [named(before[at], 'builtin'), named(after[at], 'use-lite')];
    const compared = compareRuns(pair, { excludeTypes, rounds: 1 }).filter(({ metric }) =>
      METRICS.includes(metric),
    );
    const row = {
      dataset: dataset.name,
      spaces: dataset.spaces.size,
      strategy,
      n: before[at].result.n,
      builtin: pick(before[at].result.metrics),
      useLite: pick(after[at].result.metrics),
      differences: compared.map(({ baseline, strategy, dataset, p, ...rest }) => rounded(rest)),
    };
    log(`${dataset.name} ${strategy}`, { builtin: row.builtin, useLite: row.useLite });
    return row;
  });
}

/** Comparisons are between strategies: here the embedder is what differs. */
function named(run, strategy) {
  return { ...run, strategy, result: { ...run.result, strategy } };
}

/** Recall of hybrid by floor and ceiling, and what each space has where the others choose. */
async function gridOf({ spaces }, embedder) {
  const grid = FLOORS.flatMap((floor) => CEILINGS.map((ceiling) => ({ floor, ceiling })));
  const perSpace = [];
  for (const [space, { memories, queries }] of spaces) {
    const memory = await openWith(space, memories, embedder);
    const judged = queries.filter(({ type, relevant }) => type !== 'adversarial' && relevant.length > 0);
    const recalls = grid.map(() => []);
    for (const { query, now, relevant } of judged) {
      for (const [point, { floor, ceiling }] of grid.entries()) {
        const { hits } = await memory.recall(query, {
          parameters: { similarityFloor: floor, similaritySpan: ceiling - floor },
          association: 'none',
          now: new Date(now),
          track: false,
        });
        recalls[point].push(
          recallAtK(
            hits.map((hit) => hit.memory.id),
            new Set(relevant),
            10,
          ),
        );
      }
    }
    perSpace.push(recalls);
    await memory.close();
  }
  const scoreOf = (point, chosen = perSpace) => mean(chosen.flatMap((recalls) => recalls[point]));
  const points = grid.map((settings, point) => ({ ...settings, recall: round(scoreOf(point)) }));
  const heldOut = perSpace.flatMap((recalls) => {
    const others = perSpace.filter((other) => other !== recalls);
    const scores = grid.map((_, point) => scoreOf(point, others));
    return recalls[scores.indexOf(Math.max(...scores))];
  });
  const best = points.reduce((a, b) => (b.recall > a.recall ? b : a));
  return { metric: 'recall@10 without adversarial', best, leaveOneSpaceOut: round(mean(heldOut)), points };
}

/**
 * By floor of relevance: which share of questions loses its best evidence, and which share of questions to another space of
 * the set is refused, in whole spaces and in the 30 memories around the evidence.
 */
async function floorsOf(dataset, embedder, log) {
  const spaces = [...dataset.spaces];
  const apart = SETS[dataset.name].apart;
  const asked = [];
  for (const [at, [space, { memories, queries }]] of spaces.entries()) {
    const foreign = spaces.flatMap(([, each], other) => (other === at ? [] : each.queries));
    const judged = queries.filter(({ type, relevant }) => !apart.includes(type) && relevant.length > 0);
    for (const [number, question] of judged.entries()) {
      const kept = around(memories, question.relevant, 30);
      const memory = await openWith(space, kept, embedder);
      const other = foreign[(number * 7919) % foreign.length];
      const all = await memory.recall(question.query, asks(question.now, kept.length));
      const wrong = await memory.recall(other.query, asks(question.now, kept.length));
      await memory.close();
      asked.push({
        evidence: all.hits.find((hit) => question.relevant.includes(hit.memory.id))?.features.match,
        foreign: wrong.hits.reduce((most, { features }) => Math.max(most, features.match), 0),
      });
    }
  }
  const share = (test) => round(asked.filter(test).length / asked.length);
  const row = {
    dataset: dataset.name,
    questions: asked.length,
    byFloor: Object.fromEntries(
      RELEVANCE.map((floor) => [
        floor,
        {
          lost: share(({ evidence }) => evidence !== undefined && evidence < floor),
          refused: share(({ foreign }) => foreign < floor),
        },
      ]),
    ),
  };
  log(`${dataset.name} floors`, row.byFloor);
  return row;
}

function asks(now, limit) {
  return { now: new Date(now), track: false, association: 'none', limit };
}

/** So many memories, those that lie nearest to the evidence. */
function around(memories, relevant, size) {
  const starts = memories.flatMap(({ id }, at) => (relevant.includes(id) ? [at] : []));
  const distance = memories.map((_, at) => Math.min(...starts.map((start) => Math.abs(start - at))));
  const nearest = [...memories.keys()].sort((a, b) => distance[a] - distance[b] || a - b);
  const chosen = new Set(nearest.slice(0, Math.max(size, starts.length)));
  return memories.filter((_, at) => chosen.has(at));
}

async function openWith(space, memories, embedder) {
  const memory = await openMemory({
    path: ':memory:',
    space,
    embedder,
    maxContentBytes: Number.POSITIVE_INFINITY,
  });
  const last = new Date(memories.reduce((latest, { createdAt }) => Math.max(latest, createdAt), 0));
  const inputs = memories.map(({ session, createdAt, ...fields }) => ({
    ...fields,
    sessionId: session,
    createdAt: new Date(createdAt),
  }));
  for (let start = 0; start < inputs.length; start += 1000) {
    await memory.rememberMany(inputs.slice(start, start + 1000), { now: last });
  }
  return memory;
}

/** The same texts are embedded in many stores. */
function embedOnce(embedder) {
  const known = new Map();
  return {
    ...embedder,
    async embed(texts) {
      const fresh = [...new Set(texts.filter((text) => !known.has(text)))];
      const vectors = await embedder.embed(fresh);
      for (const [at, text] of fresh.entries()) known.set(text, vectors[at]);
      return texts.map((text) => known.get(text));
    },
  };
}

function pick(metrics) {
  return rounded(Object.fromEntries(METRICS.map((name) => [name, metrics[name]])));
}

function mean(values) {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}

function round(value) {
  return Number(value.toFixed(4));
}

function rounded(value) {
  return JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'number' ? round(each) : each)));
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareRuns } from './compare.ts';
import { type Dataset, type DatasetMemory, readDataset } from './dataset.ts';
import { type EvaluationEngine, evaluate } from './run.ts';
import { formatReport } from './table.ts';

/** Ranks by the number of words shared with the query, or (`backwards`) by the reverse of that, then by id. */
function wordEngine() {
  const calls: string[] = [];
  const openSpaces = new Set<string>();
  const engine: EvaluationEngine = {
    async open(space) {
      calls.push(`open ${space}`);
      openSpaces.add(space);
      let loaded: readonly DatasetMemory[] = [];
      return {
        async load(memories) {
          calls.push(`load ${memories.length}`);
          loaded = memories;
          return new Map();
        },
        async rank(query, { strategy, limit, now }) {
          calls.push(`${strategy} ${limit} ${now}`);
          const words = new Set(query.split(' '));
          const direction = strategy === 'backwards' ? -1 : 1;
          const score = ({ content }: DatasetMemory) =>
            direction * content.split(' ').filter((word) => words.has(word)).length;
          const hits = [...loaded]
            .sort((left, right) => score(right) - score(left) || (left.id < right.id ? -1 : 1))
            .slice(0, limit)
            .map((memory) => ({ id: memory.id, score: score(memory) }));
          return { hits };
        },
        async close() {
          calls.push(`close ${space}`);
          openSpaces.delete(space);
        },
      };
    },
  };
  return { engine, calls, openSpaces };
}

let directory: string;
let dataset: Dataset;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-run-'));
  const contents = ['red house', 'red car', 'green tree', 'old green boat', 'new blue boat'];
  const now = '2024-01-02T00:00:00Z';
  const query = (
    space: string,
    id: string,
    type: string,
    text: string,
    relevant: string[],
    stale?: string[],
  ) => ({
    ...{ kind: 'query', space, id, query: text, now, type, relevant, stale },
  });
  const lines = [
    ...contents.map((content, index) => ({
      ...{ kind: 'memory', space: 'one', id: `m${index}`, content, createdAt: '2024-01-01' },
    })),
    query('one', 'q0', 'fact', 'red car', ['m1']),
    query('one', 'q1', 'update', 'blue boat', ['m4'], ['m3']),
    query('one', 'q2', 'nothing', 'quantum', []),
    { kind: 'memory', space: 'two', id: 'm0', content: 'red car', createdAt: '2024-01-01' },
    query('two', 'q0', 'fact', 'car', ['m0']),
    { kind: 'memory', space: 'three', id: 'm0', content: 'never asked', createdAt: '2024-01-01' },
  ];
  const path = join(directory, 'words.jsonl');
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  dataset = await readDataset(path);
});
afterAll(() => rm(directory, { recursive: true }));

const options = () => ({
  datasets: [dataset],
  strategies: ['words', 'backwards'],
  embedder: 'none',
  ks: [2, 1],
});

test('every strategy answers every query, measured over the full ranking', async () => {
  const { engine, calls } = wordEngine();
  const runs = await evaluate(options(), engine);
  expect(runs.map(({ result }) => [result.dataset, result.strategy])).toEqual([
    ['words', 'words'],
    ['words', 'backwards'],
  ]);
  const [words, backwards] = runs.map(({ result }) => result);
  expect(words).toMatchObject({
    embedder: 'none',
    n: 3,
    metrics: { 'recall@1': 1, 'hit@1': 1, 'recall@2': 1, 'ndcg@2': 1, mrr: 1 },
    byType: { fact: { n: 2 }, update: { n: 1 } },
    updatedAboveStale: { won: 1, of: 1 },
    abstention: { n: 1 },
  });
  // Backwards: in space one m1 and m4 come last of 5, beyond any k; in space two m0 is alone.
  expect(backwards!.metrics['recall@2']).toBeCloseTo(1 / 3, 12);
  expect(backwards!.metrics['mrr@2']).toBeCloseTo(1 / 3, 12);
  expect(backwards!.metrics['mrr']).toBeCloseTo((1 / 5 + 1 / 5 + 1) / 3, 12);
  expect(backwards!.updatedAboveStale).toEqual({ won: 0, of: 1 });
  expect(words!.latencyMs.p50).toBeGreaterThan(0);
  expect(words!.latencyMs.p99).toBeGreaterThanOrEqual(words!.latencyMs.p50);

  const now = Date.UTC(2024, 0, 2);
  expect(calls).toEqual([
    ...['open one', 'load 5'],
    // What is stale needs no longer ranking: the relevant memory is among the first.
    ...[`words 2 ${now}`, `words 2 ${now}`, `words 2 ${now}`],
    // Where it is not, the query is ranked to the end.
    ...[`backwards 2 ${now}`, `backwards 5 ${now}`, `backwards 2 ${now}`, `backwards 5 ${now}`],
    ...[`backwards 2 ${now}`, 'close one'],
    ...['open two', 'load 1', `words 2 ${now}`, `backwards 2 ${now}`, 'close two'],
  ]);
});

test('a longer answer is asked for first, then the whole space, until the evidence is found', async () => {
  const memories = Array.from({ length: 30 }, (_, at) => ({
    ...{ id: `m${at}`, content: 'x', createdAt: 0, session: undefined, type: undefined, metadata: {} },
  }));
  const query = { id: 'q', query: 'x', now: 0, type: 'one', stale: [] };
  const asked: number[] = [];
  const engine: EvaluationEngine = {
    open: async () => ({
      load: async () => new Map(),
      rank: async (_, { limit, contextTokens }) => {
        asked.push(limit);
        // A longer ranking is nobody's context.
        expect(contextTokens).toBe(limit === 2 ? 100 : undefined);
        return {
          hits: memories.slice(0, Math.min(limit, 25)).map(({ id }, at) => ({ id, score: 1 - at / 30 })),
        };
      },
      close: async () => {},
    }),
  };
  const askFor = async (...relevant: string[]) => {
    asked.length = 0;
    const datasets = [
      { name: 'd', spaces: new Map([['s', { memories, queries: [{ ...query, relevant }] }]]) },
    ];
    const given = { datasets, strategies: ['one'], embedder: 'none', ks: [2], contextTokens: 100 };
    const [run] = await evaluate(given, engine);
    return { asked: [...asked], mrr: run!.result.metrics['mrr'], ranked: run!.outcomes[0]!.ranking.length };
  };
  expect(await askFor('m1', 'm20')).toEqual({ asked: [2], mrr: 1 / 2, ranked: 2 });
  expect(await askFor('m9')).toEqual({ asked: [2, 10], mrr: 1 / 10, ranked: 10 });
  expect(await askFor('m10', 'm24')).toEqual({ asked: [2, 10, 30], mrr: 1 / 11, ranked: 25 });
  expect(await askFor('m29')).toEqual({ asked: [2, 10, 30], mrr: 0, ranked: 25 });
  expect(await askFor()).toMatchObject({ asked: [2], ranked: 2 });
});

test('ids of memories that say the same count as each other', async () => {
  const { engine } = wordEngine();
  const kept = new Map([
    ['m1', 'm0'],
    ['m3', 'm2'],
  ]);
  const mapping: EvaluationEngine = {
    async open(space) {
      const opened = await engine.open(space);
      return {
        ...opened,
        async load(memories) {
          await opened.load(memories.filter(({ id }) => !kept.has(id)));
          return kept;
        },
      };
    },
  };
  const [words] = await evaluate(options(), mapping);
  const one = words!.outcomes.slice(0, 2);
  expect(one.map(({ ranking, relevant, stale }) => ({ ranking, relevant, stale }))).toEqual([
    { ranking: ['m0', 'm2'], relevant: ['m0'], stale: [] },
    { ranking: ['m4', 'm0'], relevant: ['m4'], stale: ['m2'] },
  ]);
  expect(words!.result.metrics['recall@1']).toBe(1);
});

test('several spaces at a time give the same runs as one after the other', async () => {
  const { engine } = wordEngine();
  let [running, most] = [0, 0];
  const concurrent: EvaluationEngine = {
    concurrency: 2,
    async open(space) {
      most = Math.max(most, ++running);
      const opened = await engine.open(space);
      return {
        ...opened,
        async close() {
          running--;
          await opened.close();
        },
      };
    },
  };
  const without = (runs: Awaited<ReturnType<typeof evaluate>>) =>
    runs.map(({ outcomes }) => outcomes.map(({ milliseconds: _, ...outcome }) => outcome));
  const runs = await evaluate(options(), concurrent);
  expect(without(runs)).toEqual(without(await evaluate(options(), wordEngine().engine)));
  expect([most, running]).toEqual([2, 0]);
});

test('the engine may time answers itself, and say what a context takes', async () => {
  const { engine } = wordEngine();
  const asked: (number | undefined)[] = [];
  const timing: EvaluationEngine = {
    async open(space) {
      const opened = await engine.open(space);
      return {
        ...opened,
        async rank(query, options) {
          asked.push(options.contextTokens);
          const tokens = options.contextTokens === undefined ? undefined : query.length;
          return { ...(await opened.rank(query, options)), milliseconds: 7, tokens };
        },
      };
    },
  };
  const [run] = await evaluate({ ...options(), strategies: ['words'], contextTokens: 500 }, timing);
  expect(run!.result.latencyMs).toEqual({ p50: 7, p95: 7, p99: 7 });
  expect(run!.result.tokens).toEqual({ mean: (7 + 9 + 7 + 3) / 4, p50: 7, p95: 9 });
  expect(asked).toEqual([500, 500, 500, 500]);
});

test('placebos rank what the engine kept, from a seed', async () => {
  const strategies = ['words', 'placebo:random', 'placebo:shuffled', 'placebo:recent'];
  const run = async (seed?: number) =>
    (await evaluate({ ...options(), strategies, seed, ks: [3] }, wordEngine().engine)).map(({ outcomes }) =>
      outcomes[0]!.hits.map(({ id }) => id),
    );
  const [words, random, shuffled, recent] = await run();
  expect([...shuffled!].sort()).toEqual([...words!].sort());
  expect(new Set(random)).toHaveProperty('size', 3);
  // All are of one day: the last in the file is the newest.
  expect(recent).toEqual(['m4', 'm3', 'm2']);
  expect(await run()).toEqual([words, random, shuffled, recent]);
  const others = await Promise.all([2, 3, 4, 5].map(run));
  expect(new Set(others.map((each) => String(each[1]))).size).toBeGreaterThan(1);
  expect(new Set(others.map((each) => String(each[0])))).toEqual(new Set([String(words)]));
});

test('progress counts every query once and ends complete', async () => {
  const steps: [number, number, string][] = [];
  await evaluate({ ...options(), onProgress: (...step) => steps.push(step) }, wordEngine().engine);
  expect(new Set(steps.map(([, total]) => total))).toEqual(new Set([8]));
  const counts = steps.map(([done]) => done);
  expect(counts).toEqual([...counts].sort((left, right) => left - right));
  expect(steps[0]).toEqual([0, 8, 'words: loading one']);
  expect(steps.at(-1)).toEqual([8, 8, 'done']);
});

test('an engine that fails or an abort leaves no space open', async () => {
  const failing = wordEngine();
  const open = failing.engine.open;
  const engine: EvaluationEngine = {
    open: async (space) => ({
      ...(await open(space)),
      rank: async () => ({
        hits: [
          { id: 'm1', score: 1 },
          { id: 'm1', score: 1 },
        ],
      }),
    }),
  };
  await expect(evaluate(options(), engine)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('twice'),
  });
  expect(failing.openSpaces.size).toBe(0);

  const aborted = wordEngine();
  const controller = new AbortController();
  const onProgress = (done: number) => done === 2 && controller.abort();
  await expect(
    evaluate(
      { ...options(), signal: controller.signal, onProgress: (done) => void onProgress(done) },
      aborted.engine,
    ),
  ).rejects.toMatchObject({ code: 'aborted' });
  expect(aborted.openSpaces.size).toBe(0);
  expect(aborted.calls).toContain('close one');
});

test.each([
  ['no strategy', { strategies: [] }],
  ['a placebo first', { strategies: ['placebo:random', 'words'] }],
  ['a strategy twice', { strategies: ['words', 'words'] }],
  ['no k', { ks: [] }],
  ['k of 0', { ks: [0] }],
  ['half a k', { ks: [1.5] }],
  ['a seed of 2^32', { seed: 2 ** 32 }],
])('%s is refused', async (_, wrong) => {
  const { engine, calls } = wordEngine();
  await expect(evaluate({ ...options(), ...wrong }, engine)).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  expect(calls).toEqual([]);
});

test('strategies are compared query by query, and the table marks what differs', async () => {
  // Ten copies of the space give enough pairs to be sure of a difference.
  const one = dataset.spaces.get('one')!;
  const copies = new Map(Array.from({ length: 10 }, (_, index) => [`copy${index}`, one]));
  const datasets = [{ name: 'words', spaces: copies }];
  const runs = await evaluate({ ...options(), datasets }, wordEngine().engine);
  const differences = compareRuns(runs);
  expect(differences.find(({ metric }) => metric === 'hit@1')).toEqual({
    dataset: 'words',
    datasetIndex: 0,
    baseline: 'words',
    strategy: 'backwards',
    metric: 'hit@1',
    n: 20,
    difference: -1,
    p: 1 / 10_001,
    interval: { low: -1, high: -1 },
    spaces: { n: 10, low: -1, high: -1 },
    certain: true,
  });

  const report = formatReport(
    runs.map(({ result }) => result),
    { differences },
  );
  const row = (first: string) => report.split('\n').find((line) => line.startsWith(`│ ${first} `));
  expect(report).toContain('words: 20 queries, 10 more have no answer, embedder none');
  expect(row('words')).toMatch(/│ +1\.000 │ +1\.000 │ +1\.000 │ +1\.000 │ +1\.000 │ +10 of 10 │/);
  expect(row('backwards')).toMatch(
    /│ +0\.000 ▼ │ +0\.000 ▼ │ +0\.000 ▼ │ +0\.000 ▼ │ +0\.200 ▼ │ +0 of 10 │/,
  );
  expect(row('fact')).toMatch(/│ fact +│ 10 │ words +│ +1\.000/);
  expect(report).toContain('▲ ▼ the 95 % interval of the difference from words excludes 0');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  expect(report).not.toMatch(/\u001b/);
});

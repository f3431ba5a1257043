import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Dataset } from './dataset.ts';
import { type AnswerRow, type EvaluationRow, type RowsHeader, rowsOf, type SummaryRow } from './rows.ts';
import { type EvaluationEngine, evaluate } from './run.ts';
import { verifyRows } from './verify.ts';

let directory: string;
let rows: readonly EvaluationRow[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-rows-'));
  rows = await makeRows();
});
afterAll(() => rm(directory, { recursive: true }));

const memory = (id: string, content: string) => ({
  ...{ id, content, createdAt: 0, session: undefined, type: undefined, metadata: {} },
});
const query = { query: '?', now: 0, type: 'one', stale: [] };
const memories = [
  memory('a', 'apple'),
  memory('b', 'bread'),
  memory('b2', ' bread'),
  memory('c', 'cheese'),
  memory('d', 'dates'),
];
const dataset: Dataset = {
  name: 'food',
  spaces: new Map([
    [
      's',
      {
        memories,
        queries: [
          { ...query, id: 'q0', relevant: ['a'], mustNot: ['b'] },
          { ...query, id: 'q1', relevant: ['b2'], stale: ['a'], weight: 2 },
          // What is stale comes below the answer too, above what is relevant.
          { ...query, id: 'q2', relevant: ['d'], stale: ['c'], type: 'two' },
          { ...query, id: 'q3', relevant: [] },
        ],
      },
    ],
  ]),
};

/** Returns the memories in their order, whatever is asked. */
const engine: EvaluationEngine = {
  open: async () => ({
    load: async () => new Map([['b2', 'b']]),
    rank: async (_, { limit }) => ({
      hits: ['a', 'b', 'c', 'd'].slice(0, limit).map((id, at) => ({ id, score: 1 / (at + 1) })),
      milliseconds: 0.1 + 0.2,
      tokens: 12,
    }),
    close: async () => {},
  }),
};

async function makeRows(datasets = [dataset]): Promise<readonly EvaluationRow[]> {
  const strategies = ['first', 'second'];
  const runs = await evaluate({ datasets, strategies, embedder: 'none', ks: [1, 2] }, engine);
  return [...rowsOf(runs, { datasets, about: { command: 'test' } })];
}

async function verify(lines: readonly unknown[], datasets = [dataset]) {
  const path = join(directory, 'rows.jsonl');
  await writeFile(
    path,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  );
  return verifyRows(path, datasets);
}

/** The rows with a change of the answer of the first strategy to one question. */
function changed(id: string, change: (row: AnswerRow) => object): readonly unknown[] {
  const at = rows.findIndex((row) => row.kind === 'answer' && row.id === id);
  return rows.with(at, { ...rows[at], ...change(rows[at] as AnswerRow) } as EvaluationRow);
}

/** The summary at a place with other parts of its result. */
function resultWith(at: number, part: object): EvaluationRow {
  const row = rows[at] as SummaryRow;
  return { ...row, result: { ...row.result, ...part } };
}

test('rows say what was returned, as far as measures depend on it', () => {
  expect(rows.map(({ kind }) => kind)).toEqual([
    ...['evaluation', 'answer', 'answer', 'answer', 'answer', 'summary'],
    ...['answer', 'answer', 'answer', 'answer', 'summary'],
  ]);
  expect(rows[0]).toMatchObject({ about: { command: 'test' }, ks: [1, 2], datasets: [{ name: 'food' }] });
  expect(rows[2]).toEqual({
    ...{ kind: 'answer', dataset: 0, strategy: 'first', space: 's', id: 'q1', type: 'one' },
    hits: [
      { id: 'a', score: 1 },
      { id: 'b', score: 0.5 },
    ],
    ...{ evidence: ['b'], stale: ['a'], sameAs: { b2: 'b' }, weight: 2 },
    metrics: expect.objectContaining({ 'recall@1': 0, 'recall@2': 1, mrr: 0.5 }),
    ...{ ms: 0.1 + 0.2, tokens: 12 },
  });
  expect(rows[3]).toMatchObject({ below: ['c', 'd'], evidence: ['d'] });
  expect(rows[4]).toMatchObject({ id: 'q3', evidence: [], metrics: {} });
});

test('written rows are verified without problems', async () => {
  expect(await verify(rows)).toEqual({ answers: 8, problems: [] });
  const two = [dataset, dataset];
  expect(await verify(await makeRows(two), two)).toEqual({ answers: 16, problems: [] });
});

test('what was stored as the answer is neither stale nor forbidden', async () => {
  const asked = { ...query, id: 'q0', relevant: ['b2'], stale: ['b', 'c'], mustNot: ['b', 'd'] };
  const datasets = [{ name: 'same', spaces: new Map([['s', { memories, queries: [asked] }]]) }];
  const lines = await makeRows(datasets);
  expect(lines[1]).toMatchObject({ evidence: ['b'], stale: ['c'], mustNot: ['d'] });
  expect(lines[2]).toMatchObject({ result: { updatedAboveStale: { won: 1, of: 1 } } });
  expect(await verify(lines, datasets)).toEqual({ answers: 2, problems: [] });
});

test.each<[string, () => readonly unknown[], number, RegExp]>([
  [
    'a metric',
    () => changed('q0', (row) => ({ metrics: { ...row.metrics, mrr: 0.5 } })),
    2,
    /question q0 of s: mrr is 0.5; recomputed it is 1/,
  ],
  [
    'a metric left out',
    () => changed('q0', () => ({ metrics: {} })),
    2,
    /mrr is missing; recomputed it is 1/,
  ],
  [
    'a metric of no answer',
    () => changed('q3', () => ({ metrics: { mrr: 1 } })),
    5,
    /mrr is 1; recomputed it is none/,
  ],
  ['the order of hits', () => changed('q0', (row) => ({ hits: row.hits.toReversed() })), 2, /scores rise/],
  [
    'a hit twice',
    () => changed('q0', (row) => ({ hits: [row.hits[0], row.hits[0]] })),
    2,
    /ranks a memory twice/,
  ],
  ['an unknown hit', () => changed('q0', () => ({ below: ['x'] })), 2, /ranks the memory x/],
  [
    'what is ranked below',
    () => changed('q2', () => ({ below: ['d'] })),
    4,
    /mrr is 0.25; recomputed it is 0.333/,
  ],
  [
    'the evidence',
    () => changed('q2', () => ({ evidence: ['a'] })),
    4,
    /evidence is \[a\]; in the dataset it is \[d\]/,
  ],
  [
    'what is stale',
    () => changed('q1', () => ({ stale: [] })),
    3,
    /stale is \[\]; in the dataset it is \[a\]/,
  ],
  ['what must not be', () => changed('q0', () => ({ mustNot: ['c'] })), 2, /mustNot is \[c\]/],
  [
    'what is the same',
    () => changed('q1', () => ({ sameAs: { b2: 'c' } })),
    3,
    /counts memory b2 as c, which does not say the same/,
  ],
  ['a type', () => changed('q0', () => ({ type: 'two' })), 2, /is of type two; in the dataset it is one/],
  [
    'a question',
    () => changed('q0', () => ({ id: 'q9' })),
    2,
    /question q9 of s: the dataset has no such question/,
  ],
  [
    'a latency',
    () => changed('q0', () => ({ ms: 1000 })),
    6,
    /summary of food, first: latencyMs.p95 is 0.3\d+; recomputed it is 1000/,
  ],
  ['a row left out', () => rows.toSpliced(1, 1), 5, /no row answers question q0 of s/],
  ['a row twice', () => rows.toSpliced(1, 0, rows[1] as EvaluationRow), 7, /q0 of s was answered twice/],
  ['a summary left out', () => rows.slice(0, -1), 10, /no summary of dataset 0, strategy second/],
  [
    'a result',
    () => rows.with(5, { ...rows[5], result: { ...(rows[5] as { result: object }).result, n: 4 } } as never),
    6,
    /n is 4; recomputed it is 3/,
  ],
  ...Object.entries({
    'dataset is other; recomputed it is food': { dataset: 'other' },
    'metrics.mrr is missing; recomputed it is 0.': { metrics: { mrr: null } },
    'reportedApart.0 is one; recomputed it is none': { reportedApart: ['one'] },
  }).map(([problem, part]): [string, () => readonly unknown[], number, RegExp] => [
    `${Object.keys(part)[0]} of a result`,
    () => rows.with(5, resultWith(5, part)),
    6,
    new RegExp(problem),
  ]),
  [
    'an embedder',
    () => rows.with(10, resultWith(10, { embedder: 'builtin' })),
    11,
    /embedder is builtin; recomputed it is none/,
  ],
  [
    'the dataset of a result',
    () => rows.with(5, { ...rows[5], dataset: 7 } as EvaluationRow),
    6,
    /the first line has no dataset 7/,
  ],
  ['a weight', () => changed('q1', () => ({ weight: 3 })), 3, /is of weight 3; in the dataset it is 2/],
  [
    'the name of a dataset',
    () =>
      rows.with(0, {
        ...rows[0],
        datasets: (rows[0] as RowsHeader).datasets.map((each) => ({ ...each, name: 'other' })),
      } as RowsHeader),
    6,
    /dataset is food; recomputed it is other/,
  ],
  [
    'the hash',
    () => rows.with(0, { ...rows[0], datasets: [{ name: 'food', sha256: '0' }] } as never),
    1,
    /another version of food/,
  ],
])('%s that was changed is named with its line', async (_, lines, line, problem) => {
  const { problems } = await verify(lines());
  expect(problems).toContainEqual({ line, problem: expect.stringMatching(problem) });
});

test('a file that is cut off between two parts says what is missing', async () => {
  const other = { ...dataset, name: 'drink' };
  const both = await makeRows([dataset, other]);
  expect(await verify(both, [dataset, other])).toMatchObject({ problems: [] });
  const missing = (strategy: string, name: string, line: number) => ({
    line,
    problem: `no answers and no summary of dataset ${name === 'food' ? 0 : 1}, ${name}, strategy ${strategy}, are in the file; it was cut off`,
  });
  const cut = async (lines: number) => (await verify(both.slice(0, lines), [dataset, other])).problems;
  expect(await cut(16)).toEqual([missing('second', 'drink', 16)]);
  expect(await cut(11)).toEqual([missing('first', 'drink', 11), missing('second', 'drink', 11)]);
  expect(await cut(1)).toEqual(
    ['food', 'drink'].flatMap((name) => ['first', 'second'].map((each) => missing(each, name, 1))),
  );
});

test('a strategy without any row is reported as missing', async () => {
  const left = rows.filter((row) => !JSON.stringify(row).includes('"strategy":"second"'));
  expect(left).toHaveLength(6);
  expect((await verify(left)).problems).toEqual([
    { line: 6, problem: expect.stringContaining('dataset 0, food, strategy second, are in the file') },
  ]);
});

test('rows of an older version without strategy names are verified too', async () => {
  const { strategies: _, ...header } = rows[0] as RowsHeader;
  expect(await verify([header, ...rows.slice(1)])).toEqual({ answers: 8, problems: [] });
  expect((await verify([header])).problems).toMatchObject([
    { line: 1, problem: expect.stringContaining('dataset 0, food, strategy any, are in the file') },
  ]);
});

test('rows of other datasets are reported', async () => {
  const { problems } = await verify(rows, []);
  expect(problems[0]).toMatchObject({
    line: 1,
    problem: expect.stringContaining('is of 1 datasets, and 0 are given'),
  });
});

test.each<[string, () => readonly unknown[], number]>([
  ['no JSON', () => [...rows, '{'], 12],
  ['another kind', () => [...rows, { kind: 'note' }], 12],
  ['half an answer', () => [rows[0], { kind: 'answer', strategy: 'first' }], 2],
  ['no result', () => [rows[0], { kind: 'summary' }], 2],
  ['another version', () => [{ ...rows[0], version: 2 }], 1],
  ['no header', () => rows.slice(1), 1],
  ['nothing', () => [], 1],
  ...Object.entries({
    hits: [[null], [5], ['a'], [{}], [{ score: 1 }], [{ id: 5, score: 1 }], [{ id: 'a', score: null }]],
    below: ['a', [5], [null]],
    evidence: [null, [{}]],
    stale: [5, 'a', [null]],
    mustNot: [null, [5]],
    sameAs: [[], 'b', { b2: 5 }],
    metrics: [[], 5],
    ms: [null, '1'],
    tokens: ['1'],
    weight: [null],
    dataset: ['0', 0.5, null],
  }).flatMap(([field, values]) =>
    values.map((value): [string, () => readonly unknown[], number] => [
      `${field} of ${JSON.stringify(value)}`,
      () => changed('q0', () => ({ [field]: value })),
      2,
    ]),
  ),
  ...Object.entries({
    datasets: [[null], [5], [{ name: 'food' }], [{ name: 5, sha256: '0' }]],
    ks: [[null], ['1'], 5, [0], [-1]],
    excludeTypes: ['one', [5]],
    strategies: ['first', [5]],
  }).flatMap(([field, values]) =>
    values.map((value): [string, () => readonly unknown[], number] => [
      `${field} of ${JSON.stringify(value)}`,
      () => rows.with(0, { ...rows[0], [field]: value } as RowsHeader),
      1,
    ]),
  ),
  ['an embedder of 5', () => rows.with(5, resultWith(5, { embedder: 5 })), 6],
])('%s is an error with its line', async (_, lines, line) => {
  await expect(verify(lines())).rejects.toMatchObject({ code: 'unreadable_file', details: { line } });
});

test('ids may be names of properties that every object has', async () => {
  const names = ['constructor', '__proto__', 'toString'];
  const asked = { ...query, id: 'q0', relevant: [...names, 'b2'] };
  const held = [...memories, ...names.map((name) => memory(name, name))];
  const datasets = [{ name: 'names', spaces: new Map([['s', { memories: held, queries: [asked] }]]) }];
  const lines = await makeRows(datasets);
  expect(lines.find((row) => row.kind === 'answer')).toMatchObject({ sameAs: { b2: 'b' } });
  expect(await verify(lines, datasets)).toMatchObject({ problems: [] });
});

test('contents that differ only in private passages count as the same', async () => {
  const said = (id: string, secret: string) => memory(id, `the code is <private>${secret}</private>`);
  const held = [memory('a', 'apple'), said('b', '1234'), said('b2', '5678')];
  const asked = { ...query, id: 'q0', relevant: ['b2'] };
  const datasets = [{ name: 'private', spaces: new Map([['s', { memories: held, queries: [asked] }]]) }];
  const lines = (await makeRows(datasets)).map((row) =>
    row.kind === 'answer' ? { ...row, hits: row.hits.filter(({ id }) => id < 'c') } : row,
  );
  expect(await verify(lines, datasets)).toMatchObject({ answers: 2, problems: [] });
});

test('each evaluation of a file has an embedder of its own', async () => {
  const other = rows.map((row) =>
    row.kind === 'summary' ? { ...row, result: { ...row.result, embedder: 'other' } } : row,
  );
  expect((await verify([...rows, ...other])).problems).toEqual([]);
});

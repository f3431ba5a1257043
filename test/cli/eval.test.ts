import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
beforeAll(() => {
  work = createWorkplace();
});
afterAll(() => work[Symbol.dispose]());

const memory = (id: string, content: string, createdAt: string, extra: object = {}) =>
  JSON.stringify({ kind: 'memory', space: 's/1', id, content, createdAt, ...extra });
const query = (id: string, text: string, relevant: string[], extra: object = {}) =>
  JSON.stringify({
    kind: 'query',
    space: 's/1',
    id,
    query: text,
    now: '2026-03-01T00:00:00Z',
    type: 'plain',
    relevant,
    ...extra,
  });

const dataset = [
  memory('tea', 'Ann drinks green tea', '2026-01-01T00:00:00Z', { session: 'S1', role: 'user' }),
  memory('bus', 'Bob drives a red bus', '2026-01-02T00:00:00Z'),
  // Longer than a store takes by default, which must not matter here.
  memory('old', `The door code is 1111. ${'filler '.repeat(6000)}`, '2026-01-03T00:00:00Z'),
  memory('new', 'The door code is 2222 now', '2026-02-03T00:00:00Z', { type: 'event' }),
  query('q1', 'green tea', ['tea']),
  query('q2', 'red bus', ['bus']),
  query('q3', 'door code', ['new'], { stale: ['old'], type: 'update' }),
  query('q4', 'nothing of the kind', [], { type: 'none' }),
].join('\n');

it('measures strategies on a dataset, and leaves nothing behind', async () => {
  writeFileSync(join(work.directory, 'tiny.jsonl.gz'), gzipSync(dataset));
  const temporary = join(work.directory, 'temporary');
  mkdirSync(temporary);
  // Newer Node.js keeps compiled code there, of whichever command.
  const env = { TMPDIR: temporary };
  const args = ['eval', 'tiny.jsonl.gz', '--strategy', 'bm25,hybrid', '--k', '1,2'];
  const { results } = (await work.json(args, { env })) as { results: Record<string, unknown>[] };
  expect(results.map(({ strategy }) => strategy)).toEqual(['bm25', 'hybrid']);
  expect(results[0]).toMatchObject({
    dataset: 'tiny',
    embedder: 'builtin',
    n: 3,
    metrics: { 'recall@1': 1, 'hit@1': 1, 'ndcg@1': 1, 'mrr@1': 1, 'recall@2': 1, mrr: 1 },
    byType: { plain: { n: 2, 'recall@1': 1 }, update: { n: 1 } },
    updatedAboveStale: { won: 1, of: 1 },
    abstention: { n: 1 },
    latencyMs: { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) },
  });
  const table = await work.salience([...args, '--embedder', 'none'], { env });
  expect(table.code).toBe(0);
  expect(table.stdout).toMatch(/tiny: 3 queries.+embedder none/);
  expect(table.stdout).toMatch(/bm25 .*1\.000/);
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(work.directory)).not.toContain('memory');
});

it('compares what can rank where none are named and there is no embedder', async () => {
  work.file('words.jsonl', dataset);
  const args = ['eval', 'words.jsonl', '--embedder', 'none', '--k', '1'];
  const { results, differences } = (await work.json(args)) as Record<string, readonly object[]>;
  expect(results?.map((each) => 'strategy' in each && each.strategy)).toEqual(['hybrid', 'bm25']);
  // Programs read them by these names.
  expect(Object.keys(differences?.[0] ?? {}).slice(0, 3)).toEqual(['dataset', 'baseline', 'strategy']);
  const named = await work.salience([...args, '--strategy', 'vector']);
  expect(named.code).not.toBe(0);
  expect(named.stderr).toMatch(/strategy vector could not rank: no embedder is configured/);
});

it('refuses a strategy that cannot be measured before any other runs', async () => {
  work.file('asked.jsonl', dataset);
  const refusalOf = async (strategy: string, ...more: string[]) => {
    const { stderr } = await work.salience([
      'eval',
      'asked.jsonl',
      '--strategy',
      strategy,
      ...more,
      '--json',
    ]);
    return (JSON.parse(stderr) as { error: object }).error;
  };
  expect(await refusalOf('ambient')).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/strategy ambient takes no query.*leave it out$/),
    details: { field: 'strategies' },
  });
  expect(await refusalOf('bm25', '--baseline', 'hybird')).toMatchObject({
    ...{ code: 'unknown_strategy', message: 'unknown strategy "hybird" (did you mean "hybrid"?)' },
  });
  // What would run first fails too, and so tells which came first.
  const url = ['--embedder', 'openai:model:8', '--base-url', 'http://127.0.0.1:9'];
  expect(await refusalOf('hybrid,ambient', ...url)).toMatchObject({ code: 'invalid_argument' });
  expect(await refusalOf('hybrid,typo', ...url)).toMatchObject({ code: 'unknown_strategy' });
});

it('writes rows that follow and a report, and says which row was changed', async () => {
  const twoSpaces = `${dataset}\n${dataset.replaceAll('s/1', 's/2')}`;
  work.file('two.jsonl', twoSpaces);
  work.file('mine.json', JSON.stringify({ name: 'mine', description: 'Words alone.', extends: 'bm25' }));
  const args = ['eval', 'two.jsonl', '--strategy', 'bm25,mine.json', '--k', '1,2', '--jobs', '2'];
  const outputs = ['--baseline', 'hybrid', '--placebo', '--rows', 'rows.jsonl', '--html', 'report.html'];
  const { stdout } = await work.salience([...args, ...outputs, '--tokens', '500', '--min-score', '0.01']);
  expect(stdout).toMatch(/hybrid .*\n.*bm25 .*\n.*mine .*\n.*placebo:random/);
  expect(stdout).toMatch(/wrote rows.jsonl\nwrote report.html/);
  const html = readFileSync(join(work.directory, 'report.html'), 'utf8');
  expect(html).toContain(
    'salience eval two.jsonl --strategy bm25,mine.json --baseline hybrid --placebo --k 1,2 --tokens 500 --min-score 0.01 --embedder builtin --seed 1',
  );

  const verify = ['eval', 'two.jsonl', '--verify', 'rows.jsonl'];
  expect(await work.salience(verify)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('48 answers'),
  });
  const rows = readFileSync(join(work.directory, 'rows.jsonl'), 'utf8');
  work.file('rows.jsonl', rows.replace('"mrr":1}', '"mrr":0.5}'));
  const wrong = await work.salience(verify);
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toMatch(
    /^rows\.jsonl:\d+: hybrid, question q\d of s\/1: mrr is 0.5; recomputed it is 1\n$/,
  );
});

it('writes over no file that it reads, nor over its other output', async () => {
  work.file('kept.jsonl', dataset);
  work.file('kept.json', JSON.stringify({ name: 'kept', description: 'Words alone.', extends: 'bm25' }));
  symlinkSync('.', join(work.directory, 'here'));
  const before = readdirSync(work.directory);
  const refused = async (...args: string[]) => {
    const { code, stderr } = await work.salience([...args, '--json']);
    return { exit: code, ...(JSON.parse(stderr) as { error: object }).error };
  };
  const evaluate = ['eval', 'kept.jsonl', '--strategy', 'kept.json'];
  const invalid = (field: string, problem: string) => ({
    ...{ exit: 1, code: 'invalid_argument', details: { field } },
    message: expect.stringContaining(problem),
  });
  for (const [args, field, problem] of [
    [['--rows', 'kept.jsonl'], '--rows', 'kept.jsonl is read by this command too; name another file'],
    [['--html', './here/kept.jsonl'], '--html', 'is read by this command too'],
    [['--html', 'kept.json'], '--html', 'is read by this command too'],
    [['--rows', 'new', '--html', 'here/new'], '--html', 'here/new is that of --rows too'],
    [['--rows', ''], '--rows', '"" is not a path'],
  ] as const) {
    expect(await refused(...evaluate, ...args), args.join(' ')).toMatchObject(invalid(field, problem));
  }
  const set = ['eval-set', '--recalls', 'kept.jsonl', '--output', 'here/kept.jsonl', '--force'];
  expect(await refused(...set)).toMatchObject(invalid('--output', 'is read by this command too'));
  const tune = ['tune', 'kept.jsonl'];
  expect(await refused(...tune, '--profile', 'kept.json', '--out', 'kept.json', '--force')).toMatchObject(
    invalid('--out', 'is read by this command too'),
  );
  expect(await refused(...tune, '--out', 'here/kept.jsonl', '--force')).toMatchObject(
    invalid('--out', 'is read by this command too'),
  );
  expect(await refused(...tune, '--out', 'new', '--state', 'new')).toMatchObject(
    invalid('--out', 'is that of --state too'),
  );
  for (const [command, option, ...more] of [
    [evaluate, '--rows'],
    [evaluate, '--html'],
    [set.slice(0, 3), '--output'],
    [tune, '--out'],
    [tune, '--state', '--out', 'new'],
    [['simulate', 'kept.jsonl'], '--svg'],
  ] as const) {
    expect(await refused(...command, option, 'missing/new', ...more), option).toMatchObject({
      ...{ exit: 1, code: 'unwritable_file', details: { file: 'missing/new' } },
    });
  }
  // At once: three questions are too few, so that after the fits it would end with a doubt.
  expect(await refused(...tune, '--out', 'kept.json')).toMatchObject({
    ...{ exit: 1, code: 'already_exists', details: { file: 'kept.json' } },
  });
  expect(await refused('eval-set', '--recalls', 'nosuch.jsonl', '--output', 'kept.json')).toMatchObject({
    ...{ exit: 1, code: 'already_exists', details: { file: 'kept.json' } },
  });
  expect(readFileSync(join(work.directory, 'kept.jsonl'), 'utf8')).toBe(dataset);
  expect(readdirSync(work.directory)).toEqual(before);
});

it('gives the same results on several threads as on one', async () => {
  work.file('two.jsonl', `${dataset}\n${dataset.replaceAll('s/1', 's/2')}`);
  const run = async (jobs: string) => {
    const args = ['eval', 'two.jsonl', '--strategy', 'hybrid,bm25', '--jobs', jobs];
    const { results } = (await work.json(args)) as { results: { latencyMs?: unknown }[] };
    return results.map(({ latencyMs: _, ...result }) => result);
  };
  expect(await run('2')).toEqual(await run('1'));
});

it('names its own option for a context of no tokens', async () => {
  work.file('tokens.jsonl', dataset);
  const { stderr } = await work.salience(['eval', 'tokens.jsonl', '--tokens', '0']);
  expect(stderr).toContain(
    "option '--tokens <number>' argument '0' is invalid. It must be a whole number above 0.",
  );
});

it.each(['eval', 'tune'])('%s takes from 1 to 64 threads, and names its own option', async (command) => {
  work.file('jobs.jsonl', dataset);
  for (const jobs of ['0', '65', '1.5']) {
    expect((await work.salience([command, 'jobs.jsonl', '--jobs', jobs])).stderr).toContain(
      `option '--jobs <number>' argument '${jobs}' is invalid. It must be a whole number from 1 to 64.`,
    );
  }
});

it('ends at Ctrl-C also while its threads load', async () => {
  work.file('loaded.jsonl', `${dataset}\n${dataset.replaceAll('s/1', 's/2')}`);
  const interrupted = new URL('interrupted-while-loading.mjs', import.meta.url).href;
  const args = ['eval', 'loaded.jsonl', '--embedder', 'none', '--strategy', 'bm25', '--jobs', '2'];
  expect(await work.salience(args, { env: { NODE_OPTIONS: `--import ${interrupted}` } })).toMatchObject({
    code: 130,
    stdout: '',
    stderr: expect.stringContaining('interrupted'),
  });
});

it('prints its results also where a file cannot be written', async () => {
  work.file('printed.jsonl', dataset);
  // Whether a name is too long is known only when the file gets it.
  const long = 'x'.repeat(300);
  const outputs = ['--rows', long, '--html', 'printed.html'];
  const args = ['eval', 'printed.jsonl', '--embedder', 'none', '--strategy', 'bm25', ...outputs];
  const { code, stdout, stderr } = await work.salience(args);
  expect(code).toBe(1);
  expect(stdout).toMatch(/bm25[\s\S]*wrote printed\.html\n$/);
  expect(stderr).toMatch(/^error: x{300} cannot be written.*\(unwritable_file\)\n$/);
  const json = await work.salience([...args, '--json']);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ results: [{ strategy: 'bm25' }] });
  expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'unwritable_file' } });
});

it.each([[], ['--placebo']])('compares with chance as the baseline %s', async (...more) => {
  work.file('chance.jsonl', dataset);
  const strategies = ['--strategy', 'hybrid,bm25', '--baseline', 'placebo:recent', ...more];
  const args = ['eval', 'chance.jsonl', '--embedder', 'none', ...strategies];
  const { results, differences } = (await work.json([...args, '--rows', 'chance-rows.jsonl'])) as Record<
    string,
    readonly { readonly strategy: string; readonly baseline?: string }[]
  >;
  const names = results?.map(({ strategy }) => strategy);
  expect(names?.slice(0, 2)).toEqual(['hybrid', 'bm25']);
  expect(names).toContain('placebo:recent');
  expect(new Set(names).size).toBe(names?.length);
  expect(new Set(differences?.map(({ baseline }) => baseline))).toEqual(new Set(['placebo:recent']));
  expect((await work.salience(['eval', 'chance.jsonl', '--verify', 'chance-rows.jsonl'])).code).toBe(0);
});

it('makes a dataset from recalls, uses and votes', async () => {
  const salience = (...args: string[]) => work.salience(args);
  for (const [id, text] of [
    ['tea', 'Ann drinks tea'],
    ['bus', 'Bob drives a bus'],
  ] as const) {
    await salience('remember', text, '--id', id, '--role', 'user', '--author', 'Ann', '--now', '2026-01-01');
  }
  await salience('feedback', 'bus', 'up', '--now', '2026-03-01T10:01:00Z');
  await salience('feedback', 'tea', 'down', '--now', '2026-03-01T10:01:00Z');
  const recall = (at: string, query: string | undefined, ...ids: string[]) =>
    JSON.stringify({ kind: 'recall', at, strategy: 'hybrid', query, hits: ids.map((id) => ({ id })) });
  const lines = [
    recall('2026-03-01T10:00:00Z', 'who drives?', 'tea', 'bus'),
    recall('2026-03-02T10:00:00Z', 'what to drink?', 'tea', 'bus'),
    JSON.stringify({ kind: 'use', at: '2026-03-02T10:00:10Z', ids: ['tea'] }),
  ];
  work.file('recalls.jsonl', lines.join('\n'));
  const args = ['eval-set', '--recalls', 'recalls.jsonl', '--output', 'mine.jsonl'];
  expect(await work.json(args)).toEqual({
    ...{ file: 'mine.jsonl', recalls: 2, uses: 2, queries: 1, unexplained: 0, memoriesLeftOut: 0 },
    dropped: {
      ...{
        'query-not-recorded': 0,
        'nothing-used': 0,
        'memory-gone': 0,
        'first-of-strategy': 1,
        'asked-again': 0,
      },
    },
  });
  const written = readFileSync(join(work.directory, 'mine.jsonl'), 'utf8').trim().split('\n');
  expect(written.map((line) => JSON.parse(line) as object)).toMatchObject([
    { kind: 'memory', id: 'tea', role: 'user', author: 'Ann' },
    { kind: 'memory', id: 'bus' },
    { kind: 'query', query: 'who drives?', relevant: ['bus'], weight: 2, now: '2026-03-01T10:00:00.000Z' },
  ]);
  const { results } = (await work.json(['eval', 'mine.jsonl', '--strategy', 'bm25'])) as {
    results: object[];
  };
  expect(results[0]).toMatchObject({ n: 1 });
  // The name of a formula of one's own is known from the recalls, or from its file.
  const other = [...args.slice(0, -1), 'other.jsonl', '--force', '--strategy'];
  expect(await salience(...other, 'typo')).toMatchObject({
    ...{
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/unknown strategy "typo" \(available: lexical, .*\)/),
    },
  });
  expect(readdirSync(work.directory)).not.toContain('other.jsonl');
  work.file('own.json', JSON.stringify({ name: 'own', description: 'Own.', extends: 'bm25' }));
  expect(await work.json([...other, 'own.json'])).toMatchObject({
    dropped: { 'first-of-strategy': 0 },
    queries: 2,
  });
  const own = lines.map((line) => line.replace('"hybrid"', '"own"'));
  work.file('own.jsonl', own.join('\n'));
  for (const name of ['own', 'own.json']) {
    const set = ['eval-set', '--recalls', 'own.jsonl', '--output', 'other.jsonl', '--force'];
    expect(await work.json([...set, '--strategy', name])).toMatchObject({
      dropped: { 'first-of-strategy': 1 },
    });
  }
  // It says why, does not write over a file, and fails without a question.
  const shown = await salience(...args, '--force');
  expect(shown.stdout).toContain('left out 1: the strategy itself had put first what was used');
  expect((await salience(...args)).code).toBe(1);
  work.file('recalls.jsonl', recall('2026-03-05T10:00:00Z', undefined, 'tea'));
  expect(await salience(...args, '--force')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('left out 1'),
  });
  const whole = '"kind":"recall","at":"2026-03-01T10:00:00Z","strategy":"bm25"';
  for (const wrong of [
    '{"kind":"recall"}',
    `{${whole},"query":5,"hits":[{"id":"tea"}]}`,
    `{${whole},"query":"tea?","hits":[null]}`,
    `{${whole},"query":"tea?","hits":["tea"]}`,
    `{${whole},"query":"tea?","now":7,"hits":[]}`,
    '{"kind":"use","at":"yesterday","ids":["tea"]}',
    '{"kind":"use","at":"2026-03-01T10:00:00Z","ids":[7]}',
    // It would belong to no session, not to any.
    `{${whole},"query":"tea?","sessionId":null,"hits":[]}`,
    '{"kind":"use","at":"2026-03-01T10:00:00Z","sessionId":7,"ids":[]}',
  ]) {
    work.file('recalls.jsonl', `${lines[0]}\n${wrong}`);
    expect((await salience(...args, '--force')).stderr, wrong).toContain('recalls.jsonl: line 2 is neither');
  }
  work.file('recalls.jsonl', `{${whole},"query":"tea \\ud83d?","hits":[]}`);
  expect((await salience(...args, '--force')).stderr).toContain(
    'line 1 is wrong in "query": holds half of a surrogate',
  );
  // As an editor may save it.
  work.file('recalls.jsonl', `\uFEFF${lines.join('\r\n')}`);
  expect(await work.json([...args, '--force'])).toMatchObject({ recalls: 2, queries: 1 });
});

it('leaves out of a dataset what no recall returns any more', async () => {
  const of = async (...args: string[]) => {
    const { code, stderr } = await work.salience([...args, '--space', 'used']);
    expect(code, stderr).toBe(0);
  };
  for (const [id, ...more] of [
    ['old'],
    ['new', '--supersedes', 'old'],
    ['wrong'],
    ['gone', '--expires-at', '2026-02-01'],
    ['ended', '--valid-until', '2026-02-01'],
    ['bus'],
  ] as const) {
    await of('remember', `The ${id} one`, '--id', id, '--now', '2026-01-01', ...more);
  }
  await of('invalidate', 'wrong', '--reason', 'not so', '--now', '2026-01-02');
  const recall = (query: string, ...ids: string[]) =>
    JSON.stringify({
      ...{ kind: 'recall', at: '2026-01-03T10:00:00Z', strategy: 'hybrid', query },
      hits: ids.map((id) => ({ id })),
    });
  const lines = [
    recall('which?', 'bus', 'old'),
    recall('which one?', 'bus', 'ended', 'new'),
    JSON.stringify({ kind: 'use', at: '2026-01-03T10:00:10Z', ids: ['old', 'new', 'ended'] }),
  ];
  work.file('used.jsonl', lines.join('\n'));
  const args = ['eval-set', '--recalls', 'used.jsonl', '--output', 'live.jsonl', '--space', 'used'];
  const set = await work.json([...args, '--now', '2026-03-01']);
  expect(set).toMatchObject({ queries: 1, dropped: { 'memory-gone': 1 }, memoriesLeftOut: 4 });
  const written = readFileSync(join(work.directory, 'live.jsonl'), 'utf8').trim().split('\n');
  expect(written.map((line) => JSON.parse(line) as object)).toMatchObject([
    ...[{ id: 'new' }, { id: 'bus' }, { query: 'which one?', relevant: ['new'] }],
  ]);
  const shown = await work.salience([...args, '--force', '--now', '2026-03-01']);
  expect(shown.stdout).toContain('left out 4 memories of the space: ');
  // As of a moment at which more was true.
  const then = await work.json([...args, '--force', '--now', '2026-01-10']);
  expect(then).toMatchObject({ queries: 1, memoriesLeftOut: 2 });
});

it('a dataset of a space holds what its recalls search by', async () => {
  const remember = (text: string, id: string, session: string, ...more: string[]) =>
    work.salience(['remember', text, '--id', id, '--session', session, '--space', 'words', ...more]);
  const told = ['--title', 'Kitchen', '--tag', 'coffee', '--tag', 'morning', '--now', '2026-01-01'];
  await remember('The red mug', 'mug', 's1', '--topic', 'mug', ...told);
  await remember('The blue mug', 'mug', 's2', '--topic', 'mug', '--now', '2026-01-02');
  work.file(
    'words.jsonl',
    [
      {
        ...{ kind: 'recall', at: '2026-03-01T10:00:00Z', strategy: 'vector', query: 'coffee' },
        hits: [{ id: 'mug' }],
      },
      { kind: 'use', at: '2026-03-01T10:00:10Z', ids: ['mug'] },
    ]
      .map((line) => JSON.stringify(line))
      .join('\n'),
  );
  await work.json(['eval-set', '--recalls', 'words.jsonl', '--output', 'found.jsonl', '--space', 'words']);
  const [first] = readFileSync(join(work.directory, 'found.jsonl'), 'utf8').split('\n');
  expect(JSON.parse(first as string)).toMatchObject({
    content: 'Kitchen\nThe blue mug\ncoffee\nmorning',
    session: 's1',
  });
  const { results } = (await work.json(['eval', 'found.jsonl', '--strategy', 'bm25'])) as {
    results: { metrics: object }[];
  };
  expect(results[0]?.metrics).toMatchObject({ mrr: 1 });
});

it('a vote is evidence only while it stands, and for the text that it was cast on', async () => {
  const run = (at: string, ...args: string[]) =>
    work.salience([...args, '--space', 'votes', '--now', `2026-03-${at}`]);
  for (const id of ['down', 'undone', 'former', 'up'])
    await run('01', 'remember', `What is said of ${id}`, '--id', id);
  await run('02', 'feedback', 'undone', 'down', '--voter', 'ann');
  const soon = '02T10:01:00Z';
  await run(soon, 'feedback', 'undone', 'up', '--voter', 'bob');
  expect((await run(soon, 'undo')).code).toBe(0);
  await run(soon, 'feedback', 'down', 'down', '--voter', 'ann');
  // A link is part of the history too, and holds nothing of the memory.
  await run(soon, 'link', 'down', 'up');
  for (const id of ['former', 'up']) await run(soon, 'feedback', id, 'up', '--voter', 'ann');
  await run('03', 'update', 'former', 'Something else');
  await run('09', 'feedback', 'former', 'up', '--voter', 'ann');
  for (const voter of ['bob', 'eve']) await run('09', 'feedback', 'down', 'up', '--voter', voter);
  work.file(
    'voted.jsonl',
    JSON.stringify({
      ...{ kind: 'recall', at: '2026-03-02T10:00:00Z', strategy: 'bm25', query: 'which?' },
      hits: ['down', 'undone', 'former', 'up'].map((id) => ({ id })),
    }),
  );
  const args = ['eval-set', '--recalls', 'voted.jsonl', '--output', 'votes.jsonl', '--space', 'votes'];
  expect(await work.json(args)).toMatchObject({ uses: 4, queries: 1, unexplained: 3 });
  const last = readFileSync(join(work.directory, 'votes.jsonl'), 'utf8').trim().split('\n').at(-1);
  expect(JSON.parse(last as string)).toMatchObject({ kind: 'query', relevant: ['up'] });
});

it('refuses datasets of which none has a question, as figures of nothing are good ones', async () => {
  const [first] = dataset.split('\n') as [string];
  work.file('unasked.jsonl', `${first}\n`);
  work.file('empty.jsonl', '');
  for (const more of [[], ['--json'], ['--verify', 'empty.jsonl']]) {
    const { code, stdout, stderr } = await work.salience(['eval', 'unasked.jsonl', 'empty.jsonl', ...more]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('no question is in unasked.jsonl, empty.jsonl');
  }
  work.file('asked.jsonl', dataset);
  const both = ['eval', 'unasked.jsonl', 'asked.jsonl', '--strategy', 'bm25'];
  expect(await work.json(both)).toMatchObject({ results: [{ n: 0 }, { n: 3 }] });
});

it('refuses datasets, strategies and depths that cannot be', async () => {
  work.file('tiny.jsonl', dataset);
  work.file('bad.jsonl', `${dataset}\n{"kind":"query"}\n`);
  const run = async (...args: string[]) => {
    const { code, stderr } = await work.salience(['eval', ...args, '--json']);
    const { error } = JSON.parse(stderr) as { error: { code: string; details: unknown } };
    return { exit: code, ...error };
  };
  expect(await run('bad.jsonl')).toMatchObject({ exit: 1, code: 'unreadable_file', details: { line: 9 } });
  expect(await run('absent.jsonl')).toMatchObject({ exit: 1, code: 'unreadable_file' });
  expect(await run('tiny.jsonl', '--strategy', 'best')).toMatchObject({ exit: 2, code: 'unknown_strategy' });
  expect(await run('tiny.jsonl', '--strategy', 'bm25,bm25')).toMatchObject({
    exit: 1,
    code: 'invalid_argument',
  });
  expect(await run('tiny.jsonl', '--k', '0')).toMatchObject({ exit: 2, code: 'usage' });
  expect(await run('tiny.jsonl', '--k', 'ten')).toMatchObject({ exit: 2, code: 'usage' });
  expect(await run()).toMatchObject({ exit: 2, code: 'usage' });
});

it('tunes a profile, and writes it only if its gain is certain or it must', async () => {
  // With other memories: a space that is mostly there twice is no second one.
  const other = dataset.replaceAll('s/1', 's/2').replaceAll('"content":"', '"content":"Surely: ');
  work.file('two.jsonl', `${dataset}\n${other}`);
  work.file('again.jsonl', dataset.replaceAll('s/1', 's/3'));
  const args = ['tune', 'two.jsonl', '--parameters', 'weights.context,cues.role', '--jobs', '2'];
  const output = ['--state', 'tune.state.json', '--out', 'tuned.json', '--now', '2026-04-05T00:00:00Z'];
  const refused = await work.salience([...args, ...output]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/6 questions are too few to know\n.*is not certain.*nothing was written/s);
  expect(refused.stdout).toMatch(/^6 questions in 2 spaces; 2 fits/);
  expect(refused.stdout).toMatch(/weights\.context +7 +7 /);
  const json = await work.salience([...args, ...output, '--json']);
  expect(json).toMatchObject({ code: 1, stderr: '' });
  expect(JSON.parse(json.stdout)).toMatchObject({
    problems: [expect.stringContaining('too few'), expect.any(String)],
  });
  expect(readdirSync(work.directory)).not.toContain('tuned.json');
  const state = readFileSync(join(work.directory, 'tune.state.json'), 'utf8');
  expect(JSON.parse(state)).toMatchObject({ kind: 'tune', fitted: { relevant: { '0/s/1': [7, 0.15] } } });

  const forced = await work.salience([...args, ...output, '--force']);
  expect(forced.code).toBe(1);
  expect(forced.stdout).toMatch(/wrote tuned\.json/);
  const tuned = JSON.parse(readFileSync(join(work.directory, 'tuned.json'), 'utf8')) as object;
  expect(tuned).toMatchObject({ name: 'hybrid-tuned', extends: 'hybrid', set: { 'weights.context': 7 } });
  expect(tuned).toHaveProperty('source', expect.stringMatching(/on 2026-04-05\. Data: two \(sha256/));
  const { results } = (await work.json(['eval', 'two.jsonl', '--strategy', 'hybrid,tuned.json'])) as {
    results: { strategy: string; metrics: object }[];
  };
  expect(results[1]).toMatchObject({ strategy: 'hybrid-tuned', metrics: results[0]?.metrics });

  const alone = await work.salience(['tune', 'again.jsonl', '--parameters', 'cues.role']);
  expect(alone.stdout).toMatch(/^3 questions in 1 space; \d+ fits, each/);
  const again = await work.salience(['tune', 'two.jsonl', 'again.jsonl']);
  expect(again.stderr).toMatch(/spaces s\/1 of two and s\/3 of again hold the same memories/);
  const otherTask = await work.salience([...args, ...output, '--force', '--seed', '2']);
  expect(otherTask.stderr).toMatch(/it belongs to another task/);
  work.file('no-state.json', '{}');
  expect((await work.salience([...args, '--state', 'no-state.json'])).stderr).toMatch(
    /is not a state file of/,
  );
  expect((await work.salience(['tune', 'two.jsonl', '--profile', 'hybird'])).stderr).toMatch(/hybrid/);
});

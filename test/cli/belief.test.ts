import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number)).toISOString();

beforeEach(() => {
  work = createWorkplace();
  onTestFinished(() => work[Symbol.dispose]());
});

const remember = (content: string, id: string, at: number, ...rest: readonly string[]) =>
  work.json(['remember', content, '--id', id, '--now', day(at), ...rest]);
const print = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await work.salience(args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
};
const listed = async (...args: readonly string[]) => {
  const { memories } = (await work.json(['list', ...args])) as { memories: readonly { id: string }[] };
  return memories.map(({ id }) => id).sort();
};
const recalled = async (...args: readonly string[]) => {
  const { hits } = (await work.json(['recall', ...args])) as { hits: readonly { memory: { id: string } }[] };
  return hits.map(({ memory }) => memory.id);
};

async function fails(...args: readonly string[]) {
  const { code, stdout, stderr } = await work.salience([...args, '--json']);
  expect(stdout).toBe('');
  return [code, (JSON.parse(stderr) as { error: { code: string } }).error.code] as const;
}

describe('remember', () => {
  it('says what became of a statement', async () => {
    const deploys = ['--topic', 'deploy/day', '--scope', 'project:shop'] as const;
    expect(await print('remember', 'Deploys on Thursday', '--id', 'd', ...deploys)).toBe('remembered d\n');
    expect(await print('remember', 'Deploys on Friday now', ...deploys)).toBe('updated d\n');
    expect(await print('remember', 'Deploys on Friday now', '--scope', 'project:shop')).toBe(
      'already known as d\n',
    );
    const more = ['--scope', 'project:shop', '--importance', '0.9', '--tag', 'x'] as const;
    expect(await print('remember', 'Deploys on Friday now', ...more)).toBe(
      'already known as d\nits tags, importance stayed as before; to change that: salience update d\n',
    );
    expect(await work.json(['get', 'd'])).toMatchObject({
      content: 'Deploys on Friday now',
      topicKey: 'deploy/day',
      revisionCount: 2,
    });
    expect(await work.json(['remember', 'Nothing else', '--id', 'n', '--embedder', 'none'])).toEqual({
      id: 'n',
      outcome: 'created',
      unchecked: 'no embedder is configured to compare meanings with',
    });
  });

  it('takes how long something lives, for a plan the time it is valid', async () => {
    await remember('Ann is away', 'away', 0, '--ttl', '7d');
    await remember('Visit the museum', 'plan', 0, '--ttl', 'P1M', '--type', 'plan');
    expect(await work.json(['get', 'away'])).toMatchObject({ expiresAt: day(7) });
    expect(await work.json(['get', 'plan'])).toMatchObject({ validUntil: day(31) });
    expect(await recalled('Ann away', '--strategy', 'bm25', '--now', day(6))).toEqual(['away']);
    expect(await recalled('Ann away', '--strategy', 'bm25', '--now', day(7))).toEqual([]);
    expect(await fails('remember', 'x', '--ttl', 'soon')).toEqual([1, 'invalid_argument']);
    const both = ['update', 'away', '--ttl', '24h', '--expires-at', day(9), '--now', day(1)] as const;
    expect(await fails(...both)).toEqual([1, 'invalid_argument']);
    await work.json(['update', 'away', '--ttl', '24h', '--topic', 'ann/where', '--now', day(1)]);
    expect(await work.json(['get', 'away'])).toMatchObject({ expiresAt: day(2), topicKey: 'ann/where' });
    const cleared = await work.json(['update', 'away', '--clear', 'topic', 'source-ref']);
    expect(cleared).not.toHaveProperty('topicKey');
  });

  it('keeps what is private off the disk', async () => {
    await remember('The alarm code is <private>4711</private>', 'alarm', 0);
    expect(await work.json(['get', 'alarm'])).toMatchObject({ content: 'The alarm code is [REDACTED]' });
    expect(await work.shell('grep -r 4711 memory')).toMatchObject({ code: 1, stdout: '' });
  });

  it('replaces what it supersedes, which history and get show', async () => {
    await remember('The office is in Leeds', 'leeds', 0);
    await remember('We moved to York', 'york', 10, '--supersedes', 'leeds', '--scope', 'team:a');
    const where = ['where is the office', '--strategy', 'vector', '--now', day(11)] as const;
    expect(await recalled(...where, '--scope', 'team:a')).toEqual(['york']);
    expect(await recalled(...where, '--scope', 'team:b')).toEqual(['leeds']);
    expect(await print('get', 'leeds')).toMatch(/^weight +1, superseded: 0\.1$/m);
    expect(await print('get', 'leeds', '--scope', 'global')).toMatch(/^weight +1$/m);
    expect((await print('history', 'leeds')).split('\n').slice(0, 3)).toEqual([
      'operation  at                        verb      memory  before',
      '        1  2026-01-01T00:00:00.000Z  remember  leeds   (nothing)',
      '        2  2026-01-11T00:00:00.000Z  remember  york    (nothing)',
    ]);
    expect(await print('history', 'leeds')).toBe(await print('history', 'york'));
    expect(await fails('remember', 'x', '--supersedes', 'nobody')).toEqual([1, 'not_found']);
  });
});

describe('contradictions', () => {
  beforeEach(async () => {
    await remember('Ann prefers dark roast coffee', 'dark', 0);
  });

  it('are told at once, listed, counted and ended', async () => {
    const told = await print('remember', 'Ann prefers light roast coffee', '--id', 'light', '--now', day(3));
    expect(told).toMatch(
      /^remembered light\nmay contradict dark \(wording 9\d % alike \(cosine\)\): Ann prefers dark roast coffee\n {2}which is correct\? salience resolve 1 /,
    );
    const { conflicts } = (await work.json(['conflicts'])) as { conflicts: readonly object[] };
    expect(conflicts).toMatchObject([{ conflictId: '1', older: { id: 'dark' }, newer: { id: 'light' } }]);
    expect((await print('conflicts', '--now', day(4))).split('\n').slice(0, 3)).toEqual([
      'conflict  similarity  memory  updated  content',
      expect.stringMatching(/^ {7}1 {8}0\.9\d {2}dark {8}4 d {2}Ann prefers dark roast coffee$/),
      `${' '.repeat(22)}light      24 h  Ann prefers light roast coffee`,
    ]);
    expect(await print('stats')).toMatch(/^open conflicts +1$/m);
    expect(await print('resolve', '1', 'supersede')).toBe(
      'conflict 1: light has taken the place of the older one\n',
    );
    expect(await print('conflicts')).toBe('no open conflicts\n');
    expect(await fails('resolve', '1', 'keep-both')).toEqual([1, 'not_found']);
    expect(await fails('resolve', '1', 'forget-both')).toEqual([2, 'usage']);
  });

  it('may put the newer words into the older memory', async () => {
    await remember('Ann prefers light roast coffee', 'light', 3);
    expect(await print('resolve', '1', 'update', '--now', day(5))).toBe(
      'conflict 1: dark now has the text of the newer memory\n',
    );
    expect(await listed()).toEqual(['dark']);
    expect(await work.json(['get', 'dark'])).toMatchObject({ content: 'Ann prefers light roast coffee' });
  });

  it('are not ended by deletion unless somebody says so', async () => {
    await remember('Ann prefers light roast coffee', 'light', 3);
    expect(await fails('resolve', '1', 'delete')).toEqual([2, 'usage']);
    expect(await listed()).toEqual(['dark', 'light']);
    expect(await print('resolve', '1', 'delete', '--yes')).toBe(
      'conflict 1: light stays, the older one is erased for good\n',
    );
    expect(await listed()).toEqual(['light']);
    expect(await print('history', 'dark')).not.toContain('dark roast');
  });
});

describe('invalidate and reinstate', () => {
  it('keep a memory out of answers, and its statement out of the next ones', async () => {
    await remember('Ann is a vegetarian', 'diet', 0);
    expect(await print('invalidate', 'diet', '--reason', 'It was her sister', '--now', day(1))).toBe(
      'invalidated diet: It was her sister\n',
    );
    expect(await recalled('vegetarian', '--strategy', 'bm25')).toEqual([]);
    const again = ['remember', 'Ann is a vegetarian', '--now', day(2)] as const;
    expect(await print(...again)).toBe(
      `already known as diet\nnot recalled: it was invalidated at ${day(1)}: It was her sister\n  if it is true after all: salience reinstate diet\n`,
    );
    expect(await print('why-not', 'vegetarian', 'diet')).toContain('It was her sister');
    expect(await print('reinstate', 'diet')).toBe('reinstated diet\n');
    expect(await recalled('vegetarian', '--strategy', 'bm25')).toEqual(['diet']);
    expect(await fails('invalidate', 'diet')).toEqual([2, 'usage']);
    expect(await fails('invalidate', 'diet', '--reason', ' ')).toEqual([1, 'invalid_argument']);
    expect(await fails('reinstate', 'nobody')).toEqual([1, 'not_found']);
  });
});

describe('beliefs and timeline', () => {
  it('show what was said about a topic, and what of it holds', async () => {
    const topic = ['--topic', 'deploy/day'] as const;
    await remember('Deploys on Thursday', 'all', 0, ...topic);
    await remember(
      'Deploys on Monday',
      'shop',
      1,
      ...topic,
      '--scope',
      'project:shop',
      '--supersedes',
      'all',
    );
    await remember('Deploys on Sunday', 'blog', 2, ...topic, '--scope', 'project:blog');
    await print('invalidate', 'blog', '--reason', 'a joke', '--now', day(3));
    expect(await print('beliefs', 'deploy/day', '--now', day(4))).toBe(
      [
        'id    scope         updated  believed                 content',
        'all   global            4 d  no: superseded by shop   Deploys on Thursday',
        'shop  project:shop      3 d  yes                      Deploys on Monday',
        'blog  project:blog      2 d  no: invalidated, a joke  Deploys on Sunday',
        '',
      ].join('\n'),
    );
    const { beliefs } = (await work.json(['beliefs', 'deploy/day', '--scope', 'project:blog'])) as {
      beliefs: readonly object[];
    };
    expect(beliefs).toMatchObject([
      { memory: { id: 'all' }, believed: true },
      { memory: { id: 'blog' }, believed: false, because: 'invalidated' },
    ]);
    expect(await print('beliefs', 'nobody/knows')).toBe('nothing is known about nobody/knows\n');
  });

  it('show what was remembered around a memory', async () => {
    for (const each of [0, 1, 2]) await remember(`Thing ${each}`, `t${each}`, each);
    expect(await print('timeline', 't1')).toBe(
      [
        '   created                   id  type  content',
        '   2026-01-01T00:00:00.000Z  t0  fact  Thing 0',
        '→  2026-01-02T00:00:00.000Z  t1  fact  Thing 1',
        '   2026-01-03T00:00:00.000Z  t2  fact  Thing 2',
        '',
      ].join('\n'),
    );
    expect(await fails('timeline', 'nobody')).toEqual([1, 'not_found']);
  });
});

describe('session', () => {
  it('starts, goes on, sums up and ends, and tells the next one', async () => {
    await remember('Ann is allergic to nuts', 'nuts', 0, '--type', 'profile');
    const started = await work.json(['session', 'start', '--scope', 'project:shop', '--now', day(1)]);
    expect(started).toMatchObject({ isNew: true, summaries: [], memories: [{ memory: { id: 'nuts' } }] });
    const id = started['sessionId'] as string;
    expect(await print('session', 'start', '--now', day(1))).toContain(`going on with session ${id}\n`);
    await remember('Chose the blue beans', 'beans', 1, '--session', id);
    const half = await work.json(['session', 'summary', 'Half way', '--now', day(1)]);
    expect(await work.json(['get', half['id'] as string])).toMatchObject({
      type: 'summary',
      scope: 'project:shop',
      sessionId: id,
    });
    expect(await fails('session', 'end', ' ')).toEqual([1, 'invalid_argument']);
    const ended = await work.salience(['session', 'end', '--now', day(1)], { input: 'Bought beans\n' });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toContain(`ended session ${id}\nremembered `);
    expect(await fails('session', 'end', 'Again')).toEqual([1, 'not_found']);
    const next = await print('session', 'start', '--scope', 'project:shop', '--now', day(2));
    expect(next).toMatch(/what earlier sessions came to:\n(?:.*\n)*Bought beans\n/);
    expect(await work.salience(['session'])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('conditions on metadata', () => {
  beforeEach(async () => {
    const jobs = [
      ['one', 'priority=1', 'open=true'],
      ['three', 'priority=3', 'open=true'],
      ['text', 'priority="3"', 'open=false'],
    ];
    for (const [id = '', ...said] of jobs) {
      await remember(`Job ${id}`, id, 0, ...said.flatMap((each) => ['--metadata', each]));
    }
    await remember('Job none', 'none', 0);
  });

  it('narrow down lists and recalls, typed', async () => {
    const where = (...conditions: readonly string[]) => conditions.flatMap((each) => ['--where', each]);
    for (const [conditions, expected] of [
      [['priority=3'], ['three']],
      [['priority="3"'], ['text']],
      [['priority>=1', 'priority<3'], ['one']],
      [
        ['priority=1', 'priority=3'],
        ['one', 'three'],
      ],
      [
        ['priority>=1', 'open=true'],
        ['one', 'three'],
      ],
      [['open'], ['one', 'text', 'three']],
      [['open=yes'], []],
    ] as const) {
      expect(await listed(...where(...conditions))).toEqual(expected);
      const found = await recalled('job', '--strategy', 'bm25', ...where(...conditions));
      expect(found.toSorted()).toEqual(expected);
    }
    expect(await print('why-not', 'job', 'one', ...where('priority=3'))).toContain('metadata');
    expect(await fails('list', ...where('open>true'))).toEqual([2, 'usage']);
  });
});

describe('looking back', () => {
  it('shows what was known, and what was true', async () => {
    await remember('The office is in Leeds', 'office', 0, '--valid-until', day(10), '--metadata', 'by=ann');
    await remember('A secret wish', 'wish', 1);
    await work.json(['update', 'office', 'The office was in Leeds', '--now', day(20)]);
    await work.json(['forget', 'wish', '--yes', '--now', day(21)]);
    const then = ['--as-of', day(2)] as const;

    const [first] = (
      (await work.json(['recall', 'office', '--strategy', 'bm25', ...then])) as {
        hits: readonly { memory: object }[];
      }
    ).hits;
    expect(first).toMatchObject({ memory: { content: 'The office is in Leeds', revisionCount: 1 } });
    const told = await print('recall', 'office', '--strategy', 'bm25', ...then, '--now', day(99));
    expect(told).toContain('fact · 2 d · office\n    The office is in Leeds\n');
    expect(told).toContain('1 memory known then was forgotten since\n');
    const context = await print('context', 'office', '--max-tokens', '300', '--strategy', 'bm25', ...then);
    expect(context).toContain('1 memory known then was forgotten since\n');
    expect(await recalled('office', '--strategy', 'bm25', '--now', day(22))).toEqual([]);
    expect(await recalled('office', '--strategy', 'bm25', '--now', day(22), '--valid-at', day(5))).toEqual([
      'office',
    ]);

    expect(await print('get', 'office', ...then)).toContain('(2 d)');
    expect(await work.json(['list', ...then])).toMatchObject({ memories: [{ id: 'office' }], redacted: 1 });
    expect(await print('list', ...then)).toContain('1 memory known then was forgotten since\n');
    expect(await work.json(['explain', 'office', 'office', '--strategy', 'bm25', ...then])).toMatchObject({
      id: 'office',
    });
    expect(await fails('get', 'wish', ...then)).toEqual([1, 'redacted']);
    expect(await fails('get', 'nobody', ...then)).toEqual([1, 'not_found']);
    expect(await fails('list', '--as-of', day(-1))).toEqual([1, 'invalid_argument']);
    expect(await fails('list', '--as-of', 'then')).toEqual([1, 'invalid_time']);
  });

  it('teaches a strategy nothing', async () => {
    await remember('The office is in Leeds', 'office', 0);
    const recall = ['office', '--strategy', 'retention', '--now', day(2)] as const;
    expect(await recalled(...recall, '--as-of', day(1))).toEqual(['office']);
    expect(await recalled(...recall, '--valid-at', day(1))).toEqual(['office']);
    expect(await work.json(['get', 'office'])).toMatchObject({ accessCount: 0 });
    expect(await recalled(...recall)).toEqual(['office']);
    expect(await work.json(['get', 'office'])).toMatchObject({ accessCount: 1 });
  });
});

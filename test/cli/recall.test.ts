import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { builtinProfile, explain, score } from '../../src/scoring/index.ts';
import { verifyExplanation } from '../../src/testing/verify-explanation.ts';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
const now = '2026-04-20T00:00:00Z';

beforeAll(async () => {
  work = createWorkplace();
  const memories = [
    { id: 'roast', content: 'Prefers dark roast coffee', type: 'preference', createdAt: '2026-04-17' },
    { id: 'tea', content: 'Drinks green tea in the evening', tags: ['tea'], createdAt: '2026-01-01' },
    {
      id: 'key',
      content: 'The staging key expires on 1 March',
      scope: 'project:match',
      createdAt: '2026-04-19',
    },
  ];
  work.file('three.jsonl', memories.map((each) => JSON.stringify(each)).join('\n'));
  await work.json(['import', 'three.jsonl']);
  work.file('fresh.json', JSON.stringify(fresh));
});
afterAll(() => work[Symbol.dispose]());

const fresh = {
  name: 'fresh',
  description: 'Words, and above all recency.',
  extends: 'lexical',
  replace: { recency: { op: 'decay', age: { op: 'age', of: 'updatedAt' }, halfLife: 1 } },
};

interface Answer {
  readonly query?: string;
  readonly hits: readonly {
    rank: number;
    score: number;
    features: Record<string, number>;
    memory: { id: string };
    snippet?: string;
    explanation?: Parameters<typeof verifyExplanation>[0];
  }[];
  readonly trace: { strategy: string; completeness: string; arms: { name: string; status: string }[] };
}
const recall = async (...args: string[]) =>
  (await work.json(['recall', ...args, '--now', now])) as unknown as Answer;

describe('recall', () => {
  it('gives ranked hits, and explanations that recompute to their scores', async () => {
    const answer = await recall('coffee roast', '--explain');
    expect(answer).toMatchObject({
      query: 'coffee roast',
      trace: { strategy: 'hybrid', completeness: 'exact' },
    });
    const [first] = answer.hits;
    expect(first).toMatchObject({ rank: 1, memory: { id: 'roast' }, snippet: 'Prefers dark roast coffee' });
    for (const hit of answer.hits) {
      expect(hit.explanation?.value).toBe(hit.score);
      verifyExplanation(hit.explanation as NonNullable<typeof hit.explanation>);
      expect(hit.features['combined']).toBe(hit.score);
    }
    expect((await recall('coffee')).hits[0]).not.toHaveProperty('explanation');
  });

  it('takes strategy, limit, parameters, filters and a profile of your own', async () => {
    expect((await recall('coffee tea key', '--strategy', 'bm25', '--limit', '2')).hits).toHaveLength(2);
    const scoped = await recall('coffee tea key', '--strategy', 'bm25', '--scope', 'project:other');
    expect(scoped.hits.map((hit) => hit.memory.id).sort()).toEqual(['roast', 'tea']);
    const tagged = await recall('coffee tea key', '--tag', 'tea');
    expect(tagged.hits.map((hit) => hit.memory.id)).toEqual(['tea']);
    const weights = ['--param', 'weights.semantic=0', '--param', 'weights.importance=0'];
    const recency = await recall('coffee', '--strategy', 'balanced', ...weights, '--limit', '3');
    expect(recency.hits.map((hit) => hit.memory.id)).toEqual(['key', 'roast', 'tea']);
    const own = await recall('coffee', '--profile', 'fresh.json');
    expect(own.trace.strategy).toBe('fresh');
    expect(own.hits[0]?.features['recency']).toBeCloseTo(0.125, 12);
    expect((await recall('--strategy', 'ambient')).hits).toHaveLength(3);
  });

  it('prints for people without colours off a terminal, in one line each', async () => {
    const { stdout } = await work.salience([
      'recall',
      'coffee',
      '--strategy',
      'lexical',
      '--now',
      now,
      '--trace',
    ]);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^ 1 {2}[█▉▊▋▌▍▎▏ ]{10} {2}0\.\d{4} {2}preference · 3 d · roast$/);
    expect(lines[1]).toBe('    Prefers dark roast coffee');
    expect(lines[2]).toMatch(/^ {4}= 0\.6·lexical 0\.\d\d \+ 0\.25·recency 0\.93 \+ 0\.15·revision 0\.10$/);
    expect(lines[3]).toMatch(/^3 memories → 1 candidate → 1 hit · lexical · exact · \d+\.\d ms$/);
    expect(lines[4]).toMatch(/^stage +candidates +survivors +ms$/);
    expect(stdout).not.toContain('\u001b');
  });

  it('always says which search could not run', async () => {
    const { stdout } = await work.salience(['recall', 'coffee', '--embedder', 'none']);
    expect(stdout).toContain('warning: the vector search is off');
    const answer = await recall('coffee', '--embedder', 'none');
    expect(answer.trace.arms).toContainEqual(expect.objectContaining({ name: 'vector', status: 'off' }));
  });

  it('takes for a strategy the file that profiles show prints', async () => {
    const { stdout } = await work.salience(['profiles', 'show', 'bm25', '--json']);
    work.file('mine.json', stdout.replace('"bm25"', '"mine"'));
    const answer = await recall('coffee', '--strategy', 'mine.json');
    const ids = ({ hits }: Pick<typeof answer, 'hits'>) => hits.map(({ memory }) => memory.id);
    expect(ids(answer)).toEqual(ids(await recall('coffee', '--strategy', 'bm25')));
    expect(answer.hits.length).toBeGreaterThan(0);
  });

  it('fails with typed errors', async () => {
    const code = async (...args: string[]) => {
      const { code, stderr } = await work.salience(['recall', ...args, '--json']);
      return [code, (JSON.parse(stderr) as { error: { code: string } }).error.code];
    };
    expect(await code('x', '--strategy', 'best')).toEqual([2, 'unknown_strategy']);
    expect(await code(' ')).toEqual([1, 'blank_query']);
    expect(await code()).toEqual([1, 'blank_query']);
    expect(await code('x', '--limit', '0')).toEqual([2, 'usage']);
    expect(await code('x', '--param', 'nonsense=1')).toEqual([1, 'invalid_parameter']);
    expect(await code('x', '--strategy', 'bm25', '--profile', 'fresh.json')).toEqual([2, 'usage']);
    expect(await code('x', '--profile', 'absent.json')).toEqual([1, 'unreadable_file']);
    for (const path of ['./absent', 'formulas/absent', 'absent.txt']) {
      expect(await code('x', '--strategy', path)).toEqual([1, 'unreadable_file']);
    }
    work.file('broken.json', '{"name":');
    expect(await code('x', '--profile', 'broken.json')).toEqual([1, 'invalid_profile']);
  });
});

describe('compare', () => {
  it('shows strategies side by side, one of ones own included, and as JSON without a score', async () => {
    const args = [
      'compare',
      'coffee',
      '--strategy',
      'bm25',
      '--strategy',
      'ambient',
      '--profile',
      'fresh.json',
    ];
    const { stdout, code } = await work.salience([...args, '--now', now]);
    expect(code).toBe(0);
    expect(stdout.split('\n')[0]).toMatch(/^ +bm25 +ambient \(no query\) +fresh$/);
    expect(stdout).toMatch(/^ +1 {4}Prefers dark roast coffee +\S/m);
    const json = (await work.json([...args, '--now', now])) as unknown as {
      readonly rankings: readonly { readonly strategy: string; readonly hits: readonly object[] }[];
      readonly agreement: readonly object[];
    };
    expect(json.rankings.map(({ strategy }) => strategy)).toEqual(['bm25', 'ambient', 'fresh']);
    expect(Object.keys(json.rankings[0]?.hits[0] ?? {})).not.toContain('score');
    expect(json.agreement).toHaveLength(3);
    const all = await work.salience(['compare', 'coffee', '--profile', 'fresh.json', '--now', now]);
    for (const name of ['hybrid', 'vector', 'fresh']) expect(all.stdout).toContain(name);
  });

  it('takes at least two strategies', async () => {
    const { code, stderr } = await work.salience(['compare', 'coffee', '--strategy', 'bm25']);
    expect(stderr).toContain('at least two different strategies');
    expect(code).not.toBe(0);
  });
});

describe('explain and why-not', () => {
  it('explains one memory as the recall does', async () => {
    const hit = (await recall('coffee', '--explain')).hits[0];
    const found = await work.json(['explain', 'coffee', 'roast', '--now', now]);
    expect(found).toEqual({
      id: 'roast',
      score: hit?.score,
      features: hit?.features,
      explanation: hit?.explanation,
    });
    const { stdout } = await work.salience(['explain', 'coffee', 'roast', '--now', now]);
    expect(stdout.startsWith((found['score'] as number).toFixed(4))).toBe(true);
  });

  it('says so where the id was given before the query', async () => {
    for (const command of ['explain', 'why-not']) {
      const refused = async (query: string, id: string, ...options: string[]) => {
        const { code, stderr } = await work.salience([command, query, id, ...options, '--json']);
        return { exit: code, ...(JSON.parse(stderr) as { error: object }).error };
      };
      expect(await refused('roast', 'dark roast')).toMatchObject({
        ...{ exit: 1, code: 'not_found', details: { id: 'dark roast' } },
        message: 'memory "dark roast" does not exist, but "roast" does: the query comes first, then the id',
      });
      // A memory has the query as its id, but the error is another one.
      expect(await refused('roast', 'dark roast', '--scope', 'no scope')).toMatchObject({
        code: 'invalid_scope',
      });
      // A query that is no id of a memory, nor could be one.
      for (const query of ['coffee', 'x'.repeat(1000)]) {
        expect(await refused(query, 'nosuch')).toMatchObject({
          message: expect.stringMatching(/^memory "nosuch" does not exist in space/),
        });
      }
    }
  });

  it('says where a memory fell and what would have had to differ', async () => {
    const args = ['why-not', 'coffee tea', 'key', '--strategy', 'bm25'];
    expect(await work.json(args)).toMatchObject({ id: 'key', outcome: 'no-score', stage: 'score' });
    const outranked = (await work.json([
      'why-not',
      'dark roast coffee tea',
      'tea',
      '--limit',
      '1',
      '--strategy',
      'bm25',
    ])) as {
      outcome: string;
      needed: number;
      changes: { signal: string; to: number }[];
    };
    expect(outranked.outcome).toBe('outranked');
    expect(outranked.changes[0]).toMatchObject({ signal: 'lexical' });
    expect(outranked.changes[0]?.to).toBeGreaterThan(outranked.needed);
    const text = await work.salience([
      'why-not',
      'dark roast coffee tea',
      'tea',
      '--limit',
      '1',
      '--strategy',
      'bm25',
    ]);
    expect(text.stdout).toMatch(/^tea: its score .+ below that of the last memory returned/);
    expect(text.stdout).toContain('would have to be');
    const { code } = await work.salience(['why-not', 'coffee', 'nobody']);
    expect(code).toBe(1);
    const help = await work.salience(['explain', '--help']);
    expect(help.stdout).not.toContain('--association');
    const unlinked = await work.json(['why-not', 'coffee tea', 'key', '--association', 'none']);
    expect(unlinked).toHaveProperty('outcome');
  });
});

describe('score and profiles', () => {
  const signals = { similarity: 0.92, scope: 'project:match', updatedAt: '2026-04-15T00:00:00Z' };

  it('says what was meant where a formula is no file', async () => {
    const signals = ['--signals', '{"similarity":0.5}'];
    for (const [args, advice] of [
      [['score', '--profile', 'hybrid', ...signals], 'give --strategy hybrid'],
      [['recall', 'coffee', '--profile', 'hybrid'], 'give --strategy hybrid'],
      [['score', '--strategy', 'hybrid.json', ...signals], 'is hybrid, without .json'],
      [['score', '--profile', 'mine', ...signals], 'check that it exists'],
    ] as const) {
      const { code, stderr } = await work.salience(args);
      expect([code, stderr]).toEqual([1, expect.stringContaining(advice)]);
    }
  });

  it('scores given signals exactly as the library does', async () => {
    const args = ['score', '--strategy', 'scoped', '--signals', JSON.stringify(signals), '--now', now];
    expect(await work.json(args)).toEqual({
      strategy: 'scoped',
      score: score('scoped', signals, { now }),
      features: { similarity: 0.92, scopeWeight: 1, weight: 1, temporalDecay: Math.exp(-0.005 * 5) },
      explanation: explain('scoped', signals, { now }),
    });
    expect(score('scoped', signals, { now })).toBeCloseTo(0.897, 3);
    const global = { similarity: 0.9, scope: 'global', updatedAt: '2026-04-20T00:00:00Z' };
    const given = ['score', '--strategy', 'scoped', '--signals', JSON.stringify(global), '--now', now];
    expect(await work.json([...given, '--param', 'globalWeight=0.5'])).toMatchObject({ score: 0.45 });
    const text = await work.salience(args);
    expect(text.stdout).toMatch(/^0\.8973 {2}product\n/);
    expect(text.stdout).toContain('temporalDecay  0.9753');
  });

  it('scores by a profile of your own, without a store', async () => {
    const own = [
      'score',
      '--profile',
      'fresh.json',
      '--signals',
      '{"lexical":1,"updatedAt":"2026-04-19"}',
      '--now',
      now,
    ];
    const result = await work.json([...own, '--path', '/nowhere/at/all']);
    expect(result).toMatchObject({ strategy: 'fresh', features: { recency: 0.5 } });
  });

  it('refuses wrong signals, strategies and combinations', async () => {
    const run = async (...args: string[]) => {
      const { code, stderr } = await work.salience(['score', ...args, '--json']);
      return [code, (JSON.parse(stderr) as { error: { code: string } }).error.code];
    };
    expect(await run('--signals', '{}')).toEqual([2, 'usage']);
    expect(await run('--strategy', 'scoped')).toEqual([2, 'usage']);
    expect(await run('--strategy', 'scoped', '--signals', '{"similarity":')).toEqual([2, 'usage']);
    expect(await run('--strategy', 'scoped', '--signals', '[1]')).toEqual([2, 'usage']);
    expect(await run('--strategy', 'nope', '--signals', '{}')).toEqual([2, 'unknown_strategy']);
    expect(await run('--strategy', 'scoped', '--signals', '{"similarity":2}')).toEqual([
      1,
      'invalid_argument',
    ]);
    expect(await run('--strategy', 'scoped', '--signals', '{"glamour":1}')).toEqual([1, 'invalid_argument']);
    expect(await run('--strategy', 'scoped', '--signals', '{"updatedAt":"soon"}')).toEqual([
      1,
      'invalid_time',
    ]);
  });

  it('lists, shows and checks profiles', async () => {
    const { profiles } = (await work.json(['profiles', 'list'])) as { profiles: { name: string }[] };
    expect(profiles.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'lexical',
        'ambient',
        'retention',
        'balanced',
        'five-factor',
        'scoped',
        'hybrid',
        'bm25',
        'vector',
      ]),
    );
    expect((await work.salience(['profiles'])).stdout).toContain('five-factor');
    const shown = await work.salience(['profiles', 'show', 'scoped']);
    expect(shown.stdout).toContain('score = similarity × scopeWeight × weight × temporalDecay');
    expect(await work.json(['profiles', 'show', 'scoped'])).toMatchObject({
      name: 'scoped',
      score: builtinProfile('scoped').score,
    });
    expect(await work.json(['profiles', 'validate', 'fresh.json'])).toEqual({
      name: 'fresh',
      valid: true,
      lineage: ['lexical', 'fresh'],
    });
    work.file(
      'wrong.json',
      JSON.stringify({ ...fresh, replace: { recency: { op: 'ref', name: 'recency' } } }),
    );
    const wrong = await work.salience(['profiles', 'validate', 'wrong.json', '--json']);
    expect(wrong.code).toBe(1);
    expect(JSON.parse(wrong.stderr)).toMatchObject({
      error: { code: 'invalid_profile', details: { path: expect.stringContaining('recency') } },
    });
    expect((await work.salience(['profiles', 'show', 'nope'])).code).toBe(2);
  });

  it('finds no profile valid that a recall would refuse for its name', async () => {
    work.file('taken.json', JSON.stringify({ ...fresh, name: 'hybrid' }));
    const asked = await work.salience(['recall', 'tea', '--profile', 'taken.json']);
    expect(await work.salience(['profiles', 'validate', 'taken.json'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: asked.stderr,
    });
    expect(asked.stderr).toContain('there is a strategy "hybrid" already');
  });
});

describe('relations', () => {
  it('are stated and read by name, and shown among the hits where they are asked for', async () => {
    const path = ['--path', 'graph', '--now', now];
    const named = async (id: string, title: string) =>
      work.json(['remember', `about ${title}`, '--id', id, '--type', 'entity', '--title', title, ...path]);
    await named('ada', 'Ada Lovelace');
    await named('paris', 'Paris');
    const stated = await work.salience(['relate', 'ada', 'lives_in', 'paris', ...path]);
    expect(stated.stdout).toBe('created: Ada Lovelace lives in Paris\n');
    const asked = ['recall', 'who lives in Paris', '--strategy', 'bm25', '--include', 'edges', ...path];
    const { hits } = (await work.json(asked)) as { hits: { relation?: { id: string } }[] };
    expect(hits.map(({ relation }) => relation?.id)).toContain('relation:ada/lives_in/paris');
    expect((await work.salience(asked)).stdout).toMatch(/relation · now · relation:ada\/lives_in\/paris/);
    expect((await work.salience(['recall', 'x', '--include', 'nodes', ...path])).code).toBe(2);
    const ended = await work.salience(['unrelate', 'ada', 'lives_in', 'paris', ...path]);
    expect(ended.stdout).toBe('ended: Ada Lovelace lives in Paris; stated by 1 memory\n');
    const knows = ['relate', 'ada', 'knows', 'paris', ...path];
    const { relation } = (await work.json(knows)) as { relation: { statements: string[] } };
    const [id = ''] = relation.statements;
    await work.salience(['invalidate', id, '--reason', 'a mistake', ...path]);
    const untrue = (await work.salience(knows)).stdout.split('\n');
    expect(untrue[1]).toMatch(/^does not hold: what states it was invalidated at 20.+Z: a mistake$/);
    expect(untrue[2]).toBe(`  if it is true after all: salience reinstate ${id}`);
  });
});

describe('an index that no process has saved', () => {
  const terminal = fileURLToPath(new URL('./terminal.mjs', import.meta.url));
  it.each([
    ['on a terminal', { TERM: 'xterm', NODE_OPTIONS: `--import ${terminal}` }, true],
    ['elsewhere', { TERM: 'xterm' }, false],
  ])('is built in sight of who waits for it, %s', async (where, env, isShown) => {
    const path = join(work.directory, where);
    await using writer = await openMemory({ path, space: 'default', embedder: 'none' });
    await writer.rememberMany(Array.from({ length: 50 }, (_, at) => ({ content: `Boat number ${at}` })));
    const { code, stdout, stderr } = await work.salience(['recall', 'boat', '--path', path], { env });
    expect([code, stdout]).toEqual([0, expect.stringContaining('Boat number')]);
    expect(stderr.includes('building the index')).toBe(isShown);
    // The line is taken away again.
    if (isShown) expect(stderr.endsWith('\r\u001b[2K')).toBe(true);
  });
});

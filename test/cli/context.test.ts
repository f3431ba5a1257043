import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;

beforeEach(() => {
  work = createWorkplace();
  onTestFinished(() => work[Symbol.dispose]());
});

const remember = (content: string, id: string, ...rest: readonly string[]) =>
  work.json(['remember', content, '--id', id, '--now', '2026-01-01', ...rest]);

describe('context', () => {
  it('prints what to put before a model, and on request why the rest is left out', async () => {
    await remember('Ann prefers dark roast coffee', 'roast', '--type', 'preference');
    await remember(`Coffee talk: ${'and then we talked on. '.repeat(40)}`, 'talk', '--type', 'event');
    const { code, stdout } = await work.salience([
      'context',
      'coffee',
      '--max-tokens',
      '120',
      '--why',
      '--now',
      '2026-01-02',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Between the two lines with the same number/);
    expect(stdout).toContain('(preference, 2026-01-01, stated) Ann prefers dark roast coffee');
    expect(stdout).toMatch(/1 memory, \d+ of 120 tokens, 1 left out\ntalk: It takes \d+ tokens/);
    const made = await work.json(['context', 'coffee', '--max-tokens', '120', '--format', 'messages']);
    expect(made).toMatchObject({ items: [{ id: 'roast', section: 'profile' }], maxTokens: 120 });
    expect((made['messages'] as readonly { role: string }[]).map(({ role }) => role)).toEqual([
      'system',
      'user',
    ]);
  });

  it('says that nothing fits, and what could not be searched', async () => {
    await remember('Ann prefers dark roast coffee', 'roast');
    const tight = await work.salience(['context', 'coffee', '--max-tokens', '5']);
    expect(tight.stdout).toContain('none of the memories found fits into 5 tokens; raise --max-tokens');
    expect(tight.stdout).not.toContain('warning');
    const blind = await work.salience(['context', 'coffee', '--max-tokens', '100', '--embedder', 'none']);
    expect(blind.stdout).toMatch(/\nwarning: the vector search is off: .+\n$/);
  });

  it.each([
    ['--max-tokens', '0', /must be a whole number from 1/],
    ['--max-tokens', '1.5', /must be a whole number/],
    ['--max-tokens', '100', '--window', '8000', /give --max-tokens or --window, not both/],
  ])('ends with 2 for a budget that makes no sense: %j', async (...given) => {
    const message = given.pop() as RegExp;
    const { code, stderr } = await work.salience(['context', 'coffee', ...(given as string[])]);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });

  it('gives what an agent gets at the start and on every turn, within budgets of their own', async () => {
    await remember('Never deploy on Fridays', 'rule', '--type', 'rule');
    await remember('The office is in Porto', 'office');
    expect(await work.json(['bootstrap'])).toMatchObject({
      maxTokens: 30_000,
      items: [{ id: 'rule' }, { id: 'office' }],
    });
    expect(await work.json(['pinned', '--max-tokens', '100'])).toMatchObject({
      maxTokens: 100,
      items: [{ id: 'rule' }],
    });
    const { stdout } = await work.salience(['bootstrap', '--max-tokens', '100', '--why']);
    expect(stdout).toMatch(/The office is in Porto[\s\S]+1 memory, \d+ of 100 tokens, 1 left out\nrule: /);
  });

  it('touches what it took only where the strategy does', async () => {
    await remember('Ann prefers dark roast coffee', 'roast');
    await work.json(['context', 'coffee', '--strategy', 'balanced', '--no-track', '--now', '2026-01-05']);
    expect(await work.json(['get', 'roast'])).not.toHaveProperty('lastAccessedAt');
    await work.json(['context', 'coffee', '--strategy', 'balanced', '--now', '2026-01-06']);
    expect(await work.json(['get', 'roast'])).toMatchObject({ lastAccessedAt: '2026-01-06T00:00:00.000Z' });
  });

  it('says that nothing relevant is known, and what shows the best all the same', async () => {
    await remember('Dana plays the cello on Sundays', 'cello');
    await remember('Bob drinks tea in the morning', 'tea');
    const query = 'Which shop sells shoes?';
    const nothing =
      /^nothing relevant is known: 2 memories were looked at, .+ by 0\.17 or more\. --min-relevance 0 shows/;
    expect((await work.salience(['context', query])).stdout).toMatch(nothing);
    expect((await work.salience(['recall', query, '--min-relevance', 'auto'])).stdout).toMatch(nothing);
    expect((await work.salience(['context', query, '--min-relevance', '0'])).stdout).toContain('cello');
    expect((await work.salience(['recall', query])).stdout).toContain('cello');
    const why = await work.salience(['why-not', query, 'tea', '--min-relevance', '0.2']);
    expect(why.stdout).toMatch(
      /its match 0\.\d{4} is 0\.\d{4} below the floor of relevance, minRelevance 0\.2/,
    );
  });

  it.each(['--min-score', '--min-relevance'])('refuses what cannot be as %s', async (option) => {
    const failed = await work.salience(['context', 'coffee', option, '2']);
    expect(failed.code).toBe(2);
    expect(failed.stderr).toContain('a number from 0 to 1');
  });
});

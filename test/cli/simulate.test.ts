import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorkplace, type Workplace } from './cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

let work: Workplace;
beforeAll(() => {
  work = createWorkplace();
  copyFileSync(join(root, 'examples', 'simulate', 'coffee.json'), join(work.directory, 'coffee.json'));
  const lines = [
    { kind: 'settings', days: 40 },
    { kind: 'memory', day: 0, id: 'escape', content: 'a\u2028\u202e', type: 'event', importance: 0 },
  ];
  work.file('life.jsonl', lines.map((each) => JSON.stringify(each)).join('\n'));
});
afterAll(() => work[Symbol.dispose]());

describe('simulate', () => {
  it('prints how memories develop, the same every time, and touches no store', async () => {
    const { code, stdout, stderr } = await work.salience(['simulate', 'coffee.json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')[0]).toBe('365 days from 2026-01-01, 15 recalls');
    expect(stdout).toMatch(/^roast: preference, "Ann prefers dark roast/m);
    expect(stdout).toMatch(/^120 +1\.000 +1\.000 +hot, core +10 +grinder 0\.24 \(co-retrieval\) +core$/m);
    expect(stdout).toMatch(/^243 +forgotten$/m);
    expect((await work.salience(['simulate', 'coffee.json'])).stdout).toBe(stdout);
    expect(readdirSync(work.directory)).not.toContain('memory');
  });

  it('draws the plot that the guide shows, over one that is there', async () => {
    work.file('coffee.svg', 'an older one');
    const { stdout } = await work.salience(['simulate', 'coffee.json', '--svg', 'coffee.svg']);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('wrote coffee.svg');
    const drawn = readFileSync(join(work.directory, 'coffee.svg'), 'utf8');
    // To renew it when it has rightly changed:
    // ./run salience simulate examples/simulate/coffee.json --svg docs/guides/coffee.svg
    expect(drawn).toBe(readFileSync(join(root, 'docs', 'guides', 'coffee.svg'), 'utf8'));
  });

  it('prints JSON for programs, of as many days as asked for', async () => {
    const played = (await work.json(['simulate', 'coffee.json', '--days', '50'])) as {
      days: number;
      memories: readonly { id: string; samples: readonly { day: number; retention: number }[] }[];
    };
    expect(played.days).toBe(50);
    expect(played.memories.map(({ id }) => id)).toContain('workshop');
    expect(played.memories.length).toBeGreaterThan(1);
    for (const { samples } of played.memories) {
      expect(samples.length).toBeGreaterThan(1);
      expect(samples.at(-1)?.day).toBe(50);
      for (const { retention } of samples) expect(retention).toBeGreaterThanOrEqual(0);
    }
  });

  it('reads JSON Lines, and makes harmless what a terminal could obey', async () => {
    const { code, stdout } = await work.salience(['simulate', 'life.jsonl']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ *\d+ +0\.020 +0\.100 +cold +0 +cold$/m);
    expect(stdout).toContain('escape: event, "a \\u{202e}"');
  });

  it('says why a memory has no table', async () => {
    const memories = ['a', 'b'].map((id, day) => ({ day, id, content: 'Ann drinks tea' }));
    work.file('twice.json', JSON.stringify({ days: 2, memories }));
    const { stdout } = await work.salience(['simulate', 'twice.json']);
    expect(stdout).toContain('\na: ');
    expect(stdout).toMatch(/\n\nb: stored as a, which says the same or has the same topic; see there\n$/);
    work.file('twin.json', JSON.stringify({ days: 2, memories, watch: ['b'] }));
    expect((await work.salience(['simulate', 'twin.json'])).stdout).toMatch(
      /\n\nb: stored as a, which says the same or has the same topic; add a to "watch" to see it\n$/,
    );
  });

  it('refuses a script that is wrong, naming the place', async () => {
    const fails = async (name: string, script: string, ...rest: readonly string[]) => {
      work.file(name, script);
      const { code, stdout, stderr } = await work.salience(['simulate', name, '--json', ...rest]);
      expect(stdout).toBe('');
      return [code, (JSON.parse(stderr) as { error: object }).error] as const;
    };
    expect(await fails('broken.json', '{')).toMatchObject([1, { code: 'invalid_argument' }]);
    expect(await fails('wrong.json', '{"memories":[{"day":0,"content":"x","type":7}]}')).toMatchObject([
      1,
      {
        message: expect.stringMatching(/^wrong\.json: memories\[0\]\.type: /),
        details: { field: 'memories[0].type', file: 'wrong.json' },
      },
    ]);
    expect(await fails('wrong.jsonl', '\n{"kind":"memory"}')).toMatchObject([
      1,
      { code: 'invalid_argument', message: expect.stringMatching(/^wrong\.jsonl: line 2\.content: /) },
    ]);
    const recall = '{"kind":"recall","day":1,"query":"tea","strategy":"foo"}';
    expect(await fails('recall.jsonl', `{"kind":"memory","day":0,"content":"tea"}\n${recall}`)).toMatchObject(
      [2, { code: 'unknown_strategy', message: expect.stringMatching(/^recall\.jsonl: line 2: /) }],
    );
    expect(await fails('good.json', '{"memories":[{"day":0,"content":"x"}]}', '--days', '0')).toMatchObject([
      1,
      {
        code: 'invalid_argument',
        message: '--days: 0 must be a whole number from 1 to 3660',
        details: { field: 'days' },
      },
    ]);
    const missing = await work.salience(['simulate', 'absent.json', '--json']);
    expect(JSON.parse(missing.stderr)).toMatchObject({ error: { code: 'unreadable_file' } });
    const onto = await work.salience(['simulate', 'life.jsonl', '--svg', './life.jsonl']);
    expect(onto).toMatchObject({ code: 1, stdout: '' });
    expect(onto.stderr).toMatch(/--svg: \.\/life\.jsonl is read by this command too; name another file/);
    const unwritable = await work.salience(['simulate', 'life.jsonl', '--svg', 'no/such/folder.svg']);
    expect(unwritable).toMatchObject({ code: 1, stdout: '' });
  });
});

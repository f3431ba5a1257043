import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;

beforeEach(async () => {
  work = createWorkplace();
  const kept = [
    ['a', 'Ann drinks oat milk', '--tag', 'coffee'],
    ['b', 'Ann owns a grinder', '--tag', 'coffee', '--type', 'event'],
    ['c', 'The gate code is 4711', '--topic', 'gate', '--scope', 'team:x'],
    ['d', 'The cello is in tune', '--scope', 'team:x/project:y'],
  ] as const;
  for (const [id, content, ...options] of kept)
    await work.json(['remember', content, '--id', id, ...options]);
});

afterEach(() => work[Symbol.dispose]());

async function left(): Promise<readonly string[]> {
  const { memories } = (await work.json(['list'])) as { memories: readonly { id: string }[] };
  return memories.map(({ id }) => id).sort();
}

describe('salience forget', () => {
  it('forgets several memories at once', async () => {
    expect(await work.json(['forget', 'a', 'b', '--yes'])).toMatchObject({
      dryRun: false,
      count: 2,
      forgotten: ['a', 'b'],
    });
    expect(await left()).toEqual(['c', 'd']);
  });

  it('forgets nothing when one of them is unknown', async () => {
    const { code, stderr } = await work.salience(['forget', 'a', 'nobody', '--yes']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('"nobody"')]);
    expect(stderr).toContain('nothing was forgotten');
    expect(await left()).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each([
    [
      ['--tag', 'coffee'],
      ['a', 'b'],
    ],
    [['--tag', 'coffee', '--type', 'event'], ['b']],
    [['--topic', 'gate'], ['c']],
    [['--in-scope', 'team:x'], ['c']],
    [
      ['--in-scope', 'team:x', '--below'],
      ['c', 'd'],
    ],
    [['--source', 'imported'], []],
  ] as const)('finds what %j say, and a dry run says what', async (filter, found) => {
    const before = await left();
    const plan = await work.json(['forget', ...filter, '--dry-run']);
    expect(plan).toMatchObject({ dryRun: true, count: found.length });
    expect([...(plan['forgotten'] as string[])].sort()).toEqual(found);
    expect(await left()).toEqual(before);
    const done = await work.json(['forget', ...filter, '--yes']);
    expect(done).toMatchObject({ dryRun: false, count: found.length });
    expect(await left()).toEqual(before.filter((id) => !(found as readonly string[]).includes(id)));
  });

  it('says in words what a dry run would do', async () => {
    const { code, stdout } = await work.salience(['forget', '--tag', 'coffee', '--dry-run']);
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 2).sort()).toEqual(['a', 'b']);
    expect(stdout).toContain('dry run: 2 memories would be forgotten for good\n');
  });

  it.each([
    [['forget', '--yes'], /name the memories to forget/],
    [['forget', 'a', '--tag', 'coffee', '--yes'], /not both/],
    [['forget', 'a', 'b'], /add --yes/],
    [['forget', '--tag', 'coffee'], /add --yes/],
    [['spaces', 'delete', 'default'], /add --yes/],
    [['spaces', 'delete', '--yes'], /missing required argument 'space'/],
  ] as const)('%j is wrong usage', async (args, help) => {
    const { code, stderr } = await work.salience(args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(help)]);
    expect(await left()).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('salience spaces delete', () => {
  it('deletes a space with all that it holds', async () => {
    await work.json(['remember', 'tea', '--space', 'work']);
    expect(await work.json(['spaces', 'delete', 'work', '--yes'])).toEqual({
      space: 'work',
      memories: 1,
      outcome: 'deleted',
    });
    expect(await work.json(['spaces'])).toMatchObject({ spaces: ['default'] });
    const { code, stdout } = await work.salience(['spaces', 'delete', 'default', '--yes']);
    expect([code, stdout]).toEqual([0, 'deleted the space default with its 4 memories\n']);
    expect(await work.json(['spaces'])).toMatchObject({ spaces: [] });
    // A script that reads names gets none.
    const none = await work.salience(['spaces']);
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(/^no spaces in /) });
  });

  it('says which spaces there are when there is none of this name', async () => {
    const { code, stderr } = await work.salience(['spaces', 'delete', 'defalt', '--yes']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('defalt')]);
    expect(stderr).toContain('default');
    expect(await left()).toEqual(['a', 'b', 'c', 'd']);
  });
});

const script = spawnSync('script', ['--version']).status === 0;

describe.skipIf(!script)('on a terminal (skipped where the program script is missing)', () => {
  const ask = (command: string, answer: string) =>
    work.shell(`exec script --quiet --return --command 'salience ${command}' /dev/null`, {
      answer: { to: '[y/N]', with: answer },
    });

  it('asks before it forgets several', async () => {
    const kept = await ask('forget a b', 'n\n');
    expect([kept.code, kept.stdout]).toEqual([0, expect.stringContaining('Forget 2 memories?')]);
    expect(await left()).toEqual(['a', 'b', 'c', 'd']);
    const gone = await ask('forget --tag coffee', 'y\n');
    expect([gone.code, gone.stdout]).toEqual([0, expect.stringContaining('forgot 2 memories for good')]);
    expect(await left()).toEqual(['c', 'd']);
  });

  it('asks before it erases one of a conflict, also of one that is not among the first', async () => {
    const { code, stdout } = await ask('resolve 2000 delete', 'n\n');
    expect([code, stdout]).toEqual([0, expect.stringContaining('the older memory of conflict 2000? It is')]);
    expect(stdout).toContain('kept');
  });

  it('says as JSON that nothing was done', async () => {
    for (const command of ['forget a', 'spaces delete default']) {
      const { code, stdout } = await ask(`${command} --json 2>/dev/tty`, 'n\n');
      expect([code, stdout.trim().split('\n').at(-1)]).toEqual([0, '{"outcome":"kept"}']);
    }
    // Nothing is there to be asked about.
    const { stdout } = await ask('forget --tag nosuch --json', '');
    expect(JSON.parse(stdout)).toMatchObject({ dryRun: false, count: 0, forgotten: [] });
    expect(await left()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('asks before it deletes a space', async () => {
    const kept = await ask('spaces delete default', 'n\n');
    expect([kept.code, kept.stdout]).toEqual([0, expect.stringContaining('with its 4 memories? It is gone')]);
    expect(await left()).toEqual(['a', 'b', 'c', 'd']);
    expect((await ask('spaces delete default', 'y\n')).code).toBe(0);
    expect(await work.json(['spaces'])).toMatchObject({ spaces: [] });
  });
});

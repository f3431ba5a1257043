import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../src/cli/completion.ts';
import { createProgram } from '../../src/cli/program.ts';
import { createWorkplace } from './cli.ts';

const has = (shell: string) => spawnSync(shell, ['--version']).status === 0;
const words = wordsOf(await createProgram([], true));

/** A space's name that would leave a file behind if a shell expanded it. */
const HOSTILE = `a b $(touch ran) \`touch ran\` "*'`;

/** Words, the last of which is being typed, and whether a file belongs there. */
const FILE_WORDS = [
  { words: ['salience', 'import', ''], isFile: true },
  { words: ['salience', 'backup', 'no'], isFile: true },
  { words: ['salience', '--path', ''], isFile: true },
  { words: ['salience', 'recall', '--profile', ''], isFile: true },
  { words: ['salience', 'graph', '--depth', ''], isFile: false },
  { words: ['salience', 'recall', '--param', ''], isFile: false },
  { words: ['salience', 'recall', '--now', ''], isFile: false },
  { words: ['salience', 'recall', 'no'], isFile: false },
  { words: ['salience', 'get', 'no'], isFile: false },
  { words: ['salience', 'spaces', 'delete', 'no'], isFile: false },
] as const;

/** What bash offers after some words, the last of which is being typed. */
function offered(script: string, ...typed: readonly string[]): readonly string[] {
  const program = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _salience; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const output = execFileSync('bash', ['-c', program, 'bash', script, ...typed], { encoding: 'utf8' });
  return output.trim() === '' ? [] : output.trim().split('\n');
}

describe('salience completion', () => {
  it.each(['bash', 'zsh', 'fish'])('prints every command and option for %s', async (shell) => {
    using work = createWorkplace();
    const { stdout } = await work.shell(`salience completion ${shell}`);
    expect(words.length).toBeGreaterThan(50);
    for (const { commands, options } of words) {
      for (const { name } of commands) expect(stdout).toContain(name);
      for (const { name } of options) {
        expect(stdout).toContain(shell === 'fish' ? `-l ${name.slice(2)}` : name);
      }
    }
  });

  it.skipIf(!has('bash'))('completes in bash', async () => {
    using work = createWorkplace();
    const script = work.file('salience.bash', (await work.shell('salience completion bash')).stdout);
    expect(offered(script, 'salience', 'rec')).toEqual(['recall', 'recalls']);
    expect(offered(script, 'salience', '--path', 'a b', 'recall', '--strat')).toEqual(['--strategy']);
    // The value of an option is no command.
    expect(offered(script, 'salience', '--space', 'recall', 'upd')).toEqual(['update']);
    expect(offered(script, 'salience', 'token', 'c')).toEqual(['create']);
    // No command takes it.
    expect(offered(script, 'salience', '--v')).toEqual(['--version']);
    expect(offered(script, 'salience', 'recall', '--v')).toEqual(['--valid-at']);
    expect(offered(script, 'salience', 'token', 'create', '--rights', '')).toEqual([
      'read',
      'write',
      'admin',
    ]);
    expect(offered(script, 'salience', 'completion', 'z')).toEqual(['zsh']);
    // bash takes an option with = for three words.
    expect(offered(script, 'salience', 'recall', '--strategy', '=', 'b')).toEqual(['balanced', 'bm25']);
    expect(offered(script, 'salience', 'recall', '--strategy', '=')).toContain('balanced');
    expect(offered(script, 'salience', '--space', '=', 'recall', 'upd')).toEqual(['update']);
    expect(offered(script, 'salience', 'recall', '--now', '')).toEqual([]);
    expect(offered(script, 'salience', 'profiles', 'show', 'b')).toEqual(['balanced', 'bm25']);
    // Where nothing is offered bash offers files, unless it is told not to.
    const files = (...typed: readonly string[]) => {
      const program = `source "$1"; shift; compopt() { echo no; }; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _salience; true`;
      return execFileSync('bash', ['-c', program, 'bash', script, ...typed], { encoding: 'utf8' }) === '';
    };
    for (const { words: typed, isFile } of FILE_WORDS) expect(files(...typed), typed.join(' ')).toBe(isFile);
    // Where a file belongs, options would keep it from doing so.
    expect(offered(script, 'salience', 'import', '')).toEqual([]);
    expect(offered(script, 'salience', 'import', '--f')).toEqual(['--format']);
    expect(offered(script, 'salience', 'import', '--format', 'ma')).toEqual(['markdown']);
    expect(offered(script, 'salience', 'recall', '--p')).toContain('--path');
    // What an option often takes, and the spaces of the store that stands before.
    expect(offered(script, 'salience', 'recall', '--strategy', 'b')).toEqual(['balanced', 'bm25']);
    await work.shell('salience remember x --space ann --path there');
    const there = join(work.directory, 'there');
    for (const line of [
      `COMP_WORDS=(salience --path ${there} recall --space ''); COMP_CWORD=5`,
      `COMP_WORDS=(salience --path = ${there} recall --space ''); COMP_CWORD=6`,
      `COMP_WORDS=(salience --path ${there} spaces delete ''); COMP_CWORD=5`,
    ]) {
      const asked = await work.shell(`source ${script}; ${line}; _salience; echo "\${COMPREPLY[@]}"`);
      expect(asked.stdout.trim()).toBe('ann');
    }
    expect(offered(script, 'salience', 'spaces', 'delete', '--y')).toEqual(['--yes']);
    // Of a store without spaces, nothing.
    const none = await work.shell(
      `source ${script}; COMP_WORDS=(salience --space ''); COMP_CWORD=2; _salience; echo "\${#COMPREPLY[@]}"`,
    );
    expect(none.stdout.trim()).toBe('0');
  });

  it.skipIf(!has('bash'))(
    'offers names of spaces as words to type in bash, and runs nothing in them',
    async () => {
      using work = createWorkplace();
      await work.salience(['remember', 'x', '--space', HOSTILE]);
      const script = work.file('salience.bash', (await work.shell('salience completion bash')).stdout);
      for (const typed of ['', 'a', 'a\\ ']) {
        const { stdout } = await work.shell(
          `source ${script}; COMP_WORDS=(salience --space '${typed}'); COMP_CWORD=2; _salience; printf '%s\n' "\${COMPREPLY[@]}"`,
        );
        // What the shell makes of the offered word is the name.
        const meant = await work.shell(`printf %s ${stdout.trimEnd()}`);
        expect(meant.stdout).toBe(HOSTILE);
      }
      expect(existsSync(join(work.directory, 'ran'))).toBe(false);
    },
  );

  it.skipIf(!has('bash'))('reads words in bash as they are typed: quoted, escaped, and from ~', async () => {
    using work = createWorkplace();
    const script = work.file('salience.bash', (await work.shell('salience completion bash')).stdout);
    const made = `cd; for name in alice 'al b' 'al $(touch ran)'; do salience remember x --path "Bob's store" --space "$name"; done`;
    expect((await work.shell(made)).code).toBe(0);
    const offers = async (path: string, space: string) => {
      const words = work.file('words', `salience\n--path\n${path}\nrecall\n--space\n${space}\n`);
      const { stdout } = await work.shell(
        `cd; source ${script}; mapfile -t COMP_WORDS < ${words}; COMP_CWORD=5; _salience; printf '%s\n' "\${COMPREPLY[@]}"`,
      );
      return stdout.trim().split('\n');
    };
    const paths = [
      `"Bob's store"`,
      `'Bob'\\''s store'`,
      `Bob\\'s\\ store`,
      `~/Bob\\'s\\ store`,
      `~/"Bob's store"`,
    ];
    for (const path of paths) expect(await offers(path, 'ali'), path).toEqual(['alice']);
    const [path = ''] = paths;
    expect(await offers(path, 'al\\ b')).toEqual(['al\\ b']);
    // Within a quote only what stands for itself there.
    for (const space of [`'al`, `"al`]) expect(await offers(path, space), space).toEqual(['al b', 'alice']);
  });

  it.skipIf(!has('zsh'))('completes in zsh (skipped where it is not installed)', async () => {
    using work = createWorkplace();
    const script = work.file('_salience', (await work.shell('salience completion zsh')).stdout);
    // What the function asks zsh to offer, filtered as zsh does.
    const program = `
      compdef() {}
      _files() { print -r -- FILES }
      compadd() { shift; print -rl -- \${(M)@:#$PREFIX*} }
      _describe() { print -rl -- \${(M)\${(P)@[-1]}:#$PREFIX*} }
      source $1; shift; words=("$@"); CURRENT=$#; PREFIX=$words[-1]; _salience`;
    const offered = (...typed: readonly string[]) =>
      execFileSync('zsh', ['-f', '-c', program, 'zsh', script, 'salience', ...typed], { encoding: 'utf8' })
        .trim()
        .split('\n');
    expect(offered('rec')).toEqual([
      'recall:find what matters now, ranked and explained',
      'recalls:list recalls that were recorded',
    ]);
    expect(offered('--path', 'a b', 'recall', '--strat')).toEqual([
      '--strategy:how to rank; salience profiles lists them (default: hybrid)',
    ]);
    expect(offered('--space', 'recall', 'upd')).toEqual(['update:change a memory']);
    expect(offered('token', 'create', '--rights', '')).toEqual(['read', 'write', 'admin']);
    expect(offered('completion', 'z')).toEqual(['zsh:']);
    expect(offered('import', '')).toEqual(['FILES']);
    for (const {
      words: [, ...typed],
      isFile,
    } of FILE_WORDS)
      expect(offered(...typed).includes('FILES'), typed.join(' ')).toBe(isFile);
    expect(offered('profiles', 'show', 'b')).toEqual(['balanced:', 'bm25:']);
    expect(offered('recall', '--strategy', 'b')).toEqual(['balanced', 'bm25']);
    await work.shell('salience remember x --space ann --path there');
    for (const line of ['recall --space', 'spaces delete']) {
      const asked = await work.shell(
        `zsh -f -c 'compdef() {}; compadd() { shift; print -r -- "$@" }; source ${script}; words=(salience --path there ${line} ""); CURRENT=6; _salience'`,
      );
      expect(asked.stdout.trim(), line).toBe('ann');
    }
    expect(offered('spaces', 'delete', '--y')).toEqual(['--yes:do not ask']);
    expect(offered('import', '--format', 'ma')).toEqual(['markdown']);
    // A name is one word, which compadd quotes, and nothing in it runs.
    await work.salience(['remember', 'x', '--space', HOSTILE]);
    const hostile = await work.shell(
      `zsh -f -c 'compdef() {}; compadd() { shift; print -rl -- "$@" }; source ${script}; words=(salience --space ""); CURRENT=3; _salience'`,
    );
    expect(hostile.stdout).toBe(`${HOSTILE}\n`);
    expect(existsSync(join(work.directory, 'ran'))).toBe(false);
  });

  it.skipIf(!has('fish'))('completes in fish (skipped where it is not installed)', async () => {
    using work = createWorkplace();
    const script = work.file('salience.fish', (await work.shell('salience completion fish')).stdout);
    const offered = (typed: string) =>
      execFileSync('fish', ['--no-config', '-c', `source ${script}; complete -C ${JSON.stringify(typed)}`], {
        encoding: 'utf8',
        env: { ...process.env, HOME: work.directory },
      })
        .trim()
        .split('\n');
    expect(offered('salience rec')).toEqual([
      'recall\tfind what matters now, ranked and explained',
      'recalls\tlist recalls that were recorded',
    ]);
    expect(offered('salience --path x recall --strat')).toEqual([
      '--strategy\thow to rank; salience profiles lists them (default: hybrid)',
    ]);
    expect(offered('salience token create --rights ')).toEqual([
      'admin\twhat it may do',
      'read\twhat it may do',
      'write\twhat it may do',
    ]);
    expect(offered('salience completion z')).toEqual(['zsh']);
    // The value of an option is no command.
    expect(offered('salience --space recall upd')).toEqual(['update\tchange a memory']);
    expect(offered('salience --path x rec')).toEqual(offered('salience rec'));
    expect(offered('salience recall --strategy b')).toEqual([
      'balanced\thow to rank; salience profiles lists them (default: hybrid)',
      'bm25\thow to rank; salience profiles lists them (default: hybrid)',
    ]);
    await work.shell('salience remember x --space ann --path there');
    const asked = await work.shell(
      `fish --no-config -c 'source ${script}; complete -C "salience --path there recall --space "'`,
    );
    expect(asked.stdout.trim()).toBe('ann\tthe space to use');
    const deleted = await work.shell(
      `fish --no-config -c 'source ${script}; complete -C "salience --path there spaces delete "'`,
    );
    expect(deleted.stdout.trim()).toBe('ann\ta space');
    expect(offered('salience import --format ma').map((line) => line.split('\t')[0])).toEqual(['markdown']);
    work.file('notes.md', 'x');
    for (const { words: typed, isFile } of FILE_WORDS) {
      const line = typed.join(' ');
      const { stdout } = await work.shell(`fish --no-config -c 'source ${script}; complete -C "${line}"'`);
      expect(stdout.includes('notes.md'), line).toBe(isFile);
    }
    expect(offered('salience profiles show b')).toEqual(['balanced', 'bm25']);
    // Nothing in a name runs.
    await work.salience(['remember', 'x', '--space', HOSTILE]);
    const hostile = await work.shell(
      `fish --no-config -c 'source ${script}; complete -C "salience --space "'`,
    );
    expect(hostile.stdout).toContain('touch ran');
    expect(existsSync(join(work.directory, 'ran'))).toBe(false);
  });

  it('names the shells that there are', async () => {
    using work = createWorkplace();
    const { stdout } = await work.shell('salience completion tcsh 2>&1; echo "exit code $?"');
    expect(stdout).toMatch(/bash, zsh, fish[\s\S]*exit code 2/);
  });
});

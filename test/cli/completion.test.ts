import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../src/cli/completion.ts';
import { createProgram } from '../../src/cli/program.ts';
import { createWorkplace } from './cli.ts';

const has = (shell: string) => spawnSync(shell, ['--version']).status === 0;
const words = wordsOf(await createProgram([], true));

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
    const script = join(work.directory, 'salience.bash');
    writeFileSync(script, (await work.shell('salience completion bash')).stdout);
    expect(offered(script, 'salience', 'rec')).toEqual(['recall', 'recalls']);
    expect(offered(script, 'salience', '--path', 'a b', 'recall', '--strat')).toEqual(['--strategy']);
    // The value of an option is no command.
    expect(offered(script, 'salience', '--space', 'recall', 'upd')).toEqual(['update']);
    expect(offered(script, 'salience', 'token', 'c')).toEqual(['create']);
    expect(offered(script, 'salience', 'token', 'create', '--rights', '')).toEqual([
      'read',
      'write',
      'admin',
    ]);
    expect(offered(script, 'salience', 'completion', 'z')).toEqual(['zsh']);
    // A value that may be anything is left to the shell, which knows the files.
    expect(offered(script, 'salience', 'recall', '--now', '')).toEqual([]);
    expect(offered(script, 'salience', 'recall', '--p')).toContain('--path');
  });

  it.each(['zsh', 'fish'].filter(has))('is read by %s (skipped where it is not installed)', async (shell) => {
    using work = createWorkplace();
    const script = join(work.directory, 'script');
    writeFileSync(script, (await work.shell(`salience completion ${shell}`)).stdout);
    expect(spawnSync(shell, ['-n', script]).status).toBe(0);
  });

  it('names the shells that there are', async () => {
    using work = createWorkplace();
    const { stdout } = await work.shell('salience completion tcsh 2>&1; echo "exit code $?"');
    expect(stdout).toMatch(/bash, zsh, fish[\s\S]*exit code 2/);
  });
});

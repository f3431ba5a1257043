import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
beforeEach(() => {
  work = createWorkplace();
});
afterEach(() => work[Symbol.dispose]());

describe('a pipe', () => {
  const two = `printf '{"content":"one"}\\n{"content":"two"}\\n'`;

  it.each([
    ['that is stdin', `${two} | salience import /dev/stdin`],
    ['that is stdin, as elsewhere', `${two} | salience import -`],
    ['of another command', `salience import <(${two})`],
    ['that is compressed', `salience import <(${two} | gzip)`],
    ['with the name of JSON Lines', `mkfifo two.jsonl; ${two} > two.jsonl & salience import two.jsonl`],
    ['of a format that is given', `${two} | salience import /dev/stdin --format jsonl`],
  ])('%s is read once, and imported', async (_, line) => {
    expect(await work.shell(line)).toEqual({ code: 0, stdout: 'imported 2 memories\n', stderr: '' });
  });

  it.each(['', '--format jsonl', '--format text'])(
    'whose writer is silent is given up at a signal: %s',
    async (format) => {
      // The shell waits until the command has opened the pipe, and keeps it open.
      const { code, stderr } = await work.shell(
        `mkfifo silent; salience import silent ${format} & exec 3> silent; kill $!; wait $!`,
      );
      expect(stderr).toBe('error: interrupted; what was reported as done is done (aborted)\n');
      expect(code).toBe(130);
    },
  );

  it('is called stdin, not by the path that it is read from', async () => {
    const unknown = await work.shell(`printf 'what is this' | salience import -`);
    expect(unknown.stderr).toMatch(/^error: stdin: its format is known neither/);
    const line = await work.shell(`printf '{"content":"one"}\\n{}\\n' | salience import - --format jsonl`);
    expect(line.stderr).toMatch(/^skipped stdin:2: /);
  });

  it.each([['-'], ['/dev/stdin'], ['/dev/fd/0'], ['-', '--format', 'text']])(
    'that is a socket, as for a program that Node.js or sshd starts, is read: %s',
    async (...given) => {
      // Node.js gives its children sockets, not pipes.
      const outcome = await work.salience(['import', ...given], {
        input: '{"content":"one"}\n',
        process: true,
      });
      expect(outcome).toEqual({ code: 0, stdout: 'imported 1 memory\n', stderr: '' });
    },
  );

  it('that is closed has nothing to import', async () => {
    expect(await work.shell('salience import - --format jsonl <&-')).toEqual({
      code: 0,
      stdout: 'imported 0 memories\n',
      stderr: '',
    });
  });

  it('of text is imported', async () => {
    const { code, stdout } = await work.shell(`printf 'one' | salience import /dev/stdin --format text`);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'imported 1 memory\n' });
  });
});

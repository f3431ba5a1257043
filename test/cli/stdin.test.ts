import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
beforeEach(() => {
  work = createWorkplace();
});
afterEach(() => work[Symbol.dispose]());

const message = (content: string) => `{"role":"user","content":"${content}"}`;

describe('a command that reads stdin', () => {
  it.each([[['remember']], [['remember', '-']], [['observe', '-']]])(
    '%j ends at the first Ctrl-C',
    async (args) => {
      const { code, stderr } = await work.salience(args, { interruptedAfter: 'x'.repeat(768 * 1024) });
      expect(stderr).toBe('error: interrupted while reading stdin; nothing was done (aborted)\n');
      expect(code).toBe(130);
    },
  );

  it.each([
    ['remember -', 'caf\\xe9 latte'],
    ['observe -', message('caf\\xe9')],
  ])('%s refuses what is not UTF-8', async (command, bytes) => {
    const { code, stderr } = await work.shell(`printf '${bytes}' | salience ${command}`);
    expect(stderr).toBe('error: stdin is not valid UTF-8; convert it to UTF-8 first (invalid_text)\n');
    expect(code).toBe(1);
  });

  it.each(['remember', 'observe -'])('%s reads no more than it can use', async (command) => {
    const { code, stderr } = await work.shell(`salience ${command} < /dev/zero`);
    expect(stderr).toMatch(/^error: stdin is longer than \d+ bytes, .* \(content_too_large\)\n$/);
    expect(code).toBe(1);
  });
});

it('a conversation in a file that is not UTF-8 is refused', async () => {
  const { code, stderr } = await work.shell(
    `printf '${message('caf\\xe9')}' > chat.jsonl; salience observe chat.jsonl`,
  );
  expect(stderr).toContain('chat.jsonl is not valid UTF-8');
  expect(code).toBe(1);
});

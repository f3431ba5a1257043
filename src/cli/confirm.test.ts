import { PassThrough } from 'node:stream';
import { afterEach, expect, it, vi } from 'vitest';
import { confirm } from './confirm.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('goes on asking after Ctrl-Z and fg', async () => {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const [input, output] = [terminal(), terminal()];
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as never);
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(output as never);
  const stopped = new Promise<void>((resolve) => {
    vi.spyOn(process, 'kill').mockImplementation((_, signal) => {
      if (signal === 'SIGTSTP') resolve();
      return true;
    });
  });
  const asked = new Promise((resolve) => output.once('data', resolve));
  const answer = confirm('Forget it?', 'nothing was forgotten', { signal: new AbortController().signal });
  await asked;
  input.write('\u001a');
  await stopped;
  process.emit('SIGCONT', 'SIGCONT');
  expect(input.isPaused()).toBe(false);
  input.write('y\n');
  expect(await answer).toBe(true);
});

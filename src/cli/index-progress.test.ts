import { channel, hasSubscribers } from 'node:diagnostics_channel';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { showIndexProgress } from './index-progress.ts';

beforeEach(() => {
  vi.stubEnv('TERM', 'xterm');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const publish = (done: number, total: number) =>
  channel('salience:index').publish({ space: 'alice', done, total });

function terminal() {
  const written: string[] = [];
  return { written, isTTY: true, columns: 80, write: (text: string) => written.push(text) };
}

test('shows the progress of an index that takes long, and of the next one', () => {
  const stream = terminal();
  let now = 0;
  const stop = showIndexProgress(stream, () => now);
  publish(0, 0);
  for (let round = 0; round < 2; round++) {
    publish(0, 200_000);
    now += 2000;
    publish(50_000, 200_000);
    expect(stream.written.at(-1)).toContain('building the index  ██▌');
    expect(stream.written.at(-1)).toContain('25 %  50,000 · 25,000/s · 6 s left');
    publish(200_000, 200_000);
    expect(stream.written.at(-1)).toBe('\r\u001b[2K');
  }
  stop();
  expect(hasSubscribers('salience:index')).toBe(false);
});

test('removes the progress line if the command ends before the index is built', () => {
  const stream = terminal();
  let now = 0;
  const stop = showIndexProgress(stream, () => now);
  publish(0, 100);
  now = 2000;
  publish(8, 100);
  expect(stream.written).toHaveLength(1);
  stop();
  expect(stream.written).toEqual([expect.any(String), '\r\u001b[2K']);
});

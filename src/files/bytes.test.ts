import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ReadStream } from 'node:tty';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readWholeText } from '../import/json-file.ts';
import { expectCode } from '../testing/store-contract/harness.ts';
import { openBytes } from './bytes.ts';
import { readLines } from './lines.ts';

let directory: string;
let pipe: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'salience-bytes-'));
  pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function readAllLines(path: string, options: { readonly signal?: AbortSignal }): Promise<string> {
  const lines: string[] = [];
  for await (const { text } of readLines(path, options)) lines.push(text);
  return lines.join('\n');
}

/** Opens the pipe for writing as soon as somebody reads it. */
async function untilRead(): Promise<number> {
  for (;;) {
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
      await setImmediate();
    }
  }
}

describe.each([
  ['a whole text', readWholeText],
  ['lines', readAllLines],
])('%s of a pipe', (_, read) => {
  test('is waited for until its writer closes it', async () => {
    const reading = read(pipe, {});
    const writer = await untilRead();
    writeSync(writer, 'one\ntwo');
    closeSync(writer);
    expect(await reading).toBe('one\ntwo');
  });

  test('is given up when that is asked for, though the writer writes nothing', async () => {
    const controller = new AbortController();
    const reading = read(pipe, { signal: controller.signal });
    const writer = await untilRead();
    try {
      controller.abort();
      await expectCode(reading, 'aborted');
    } finally {
      closeSync(writer);
    }
  });
});

test.skipIf(process.platform !== 'linux')('the wait for a terminal ends with its signal', async () => {
  const controller = new AbortController();
  // A terminal that nobody types into.
  const bytes = await openBytes('/dev/ptmx', controller.signal);
  const read = bytes.toArray();
  controller.abort();
  await expect(read).rejects.toMatchObject({ name: 'AbortError' });
  expect(bytes).toBeInstanceOf(ReadStream);
});

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { parseDocument, readWholeText } from './json-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'salience-json-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function file(content: string | Uint8Array): string {
  const path = join(directory, 'export.json');
  writeFileSync(path, content);
  return path;
}

const failure = async (work: () => unknown): Promise<SalienceError> => {
  try {
    await work();
  } catch (error) {
    if (SalienceError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('it did not fail');
};

test('a file is read with or without a byte order mark, gzipped or not', async () => {
  expect(await readWholeText(file('\uFEFF{"a":1}'))).toBe('{"a":1}');
  expect(await readWholeText(file(gzipSync('{"a":"é"}')))).toBe('{"a":"é"}');
});

test.each([
  ['too large', '{"a":1}', { maxBytes: 6 }, /larger than 6 bytes.*JSON Lines/],
  ['too large when unpacked', gzipSync(' '.repeat(5000)), { maxBytes: 4000 }, /larger than 4000 bytes/],
  ['a zip archive', Buffer.from('PK\u0003\u0004rest'), {}, /zip archive; unpack it/],
  ['damaged gzip', gzipSync('{"a":1}').subarray(0, 15), {}, /truncated or damaged/],
  ['UTF-16', Buffer.from('\uFEFF{"a":1}', 'utf16le'), {}, /is UTF-16; save the file as UTF-8/],
])('%s is refused with what to do', async (_, content, options, message) => {
  const error = await failure(() => readWholeText(file(content), options));
  expect(error.code).toBe('unreadable_file');
  expect(error.message).toMatch(message);
});

test.skipIf(process.platform === 'win32')(
  'a pipe, of which no size is known, has the same limit',
  async () => {
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const write = () => spawn('sh', ['-c', 'printf %s 1234567 > "$0"', pipe]);
    write();
    expect(await readWholeText(pipe, { maxBytes: 7 })).toBe('1234567');
    write();
    expect((await failure(() => readWholeText(pipe, { maxBytes: 6 }))).message).toMatch(
      /larger than 6 bytes.*JSON Lines/,
    );
  },
);

test('a missing file and an aborted read are told apart', async () => {
  expect((await failure(() => readWholeText(join(directory, 'absent')))).code).toBe('unreadable_file');
  const signal = AbortSignal.abort();
  expect((await failure(() => readWholeText(file('{}'), { signal }))).code).toBe('aborted');
});

test.each([
  ['[\n  {"secret": 1},\n  {"secret": x}\n]', 3, 14, /not valid JSON from line 3, column 14 on/],
  ['[\n  {"secret": 1}\n  {"secret": 2}\n]', 3, 3, /not valid JSON from line 3, column 3 on/],
  ['["secret\n"]', 1, 9, /not valid JSON from line 1, column 9 on/],
  ['[\n  {"secret": "cut o', 2, 20, /ends too early, in line 2; it was cut off/],
  ['[\n  {"secret": 1},\n', 3, 1, /ends too early/],
])('%j is refused with its place and without its words', async (text, line, column, message) => {
  const error = await failure(() => parseDocument(text, 'export.json'));
  expect(error).toMatchObject({ code: 'unreadable_file', details: { file: 'export.json', line, column } });
  expect(error.message).toMatch(message);
  expect(error.message).not.toContain('secret');
});

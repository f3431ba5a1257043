import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SalienceError } from '../domain/errors.ts';
import { type ReadLinesOptions, readLines } from './lines.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-lines-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function write(content: string | Uint8Array, name = 'file.txt'): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

async function texts(path: string, options?: ReadLinesOptions): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { number, text } of readLines(path, options)) found.push(`${number}:${text}`);
  return found;
}

test.each([
  ['', []],
  ['a', ['1:a']],
  ['a\n', ['1:a']],
  ['a\nb', ['1:a', '2:b']],
  ['a\r\n\r\nb\r\n', ['1:a', '2:', '3:b']],
  ['\n\n', ['1:', '2:']],
  ['\uFEFFa\n\uFEFFb', ['1:a', '2:\uFEFFb']],
  ['日本\ra\n😀', ['1:日本\ra', '2:😀']],
])('%j', async (content, expected) => {
  expect(await texts(await write(content))).toEqual(expected);
  // The name says nothing about the compression.
  expect(await texts(await write(gzipSync(content)))).toEqual(expected);
});

test('lines survive whatever the chunks are, gzipped or not', async () => {
  const line = fc.string({ unit: 'binary', maxLength: 200 }).filter((text) => !/[\0\n\r\uFEFF]/.test(text));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 50 }), fc.boolean(), async (lines, zip) => {
      // Repeated until it is longer than one read of 64 KiB.
      const all = Array.from({ length: 40 }, () => lines).flat();
      const content = all.map((text) => `${text}\n`).join('');
      const path = await write(zip ? gzipSync(content) : content);
      expect(await texts(path)).toEqual(all.map((text, index) => `${index + 1}:${text}`));
    }),
    { numRuns: 30 },
  );
});

test('a line that is not UTF-8 is named, or left out', async () => {
  const path = await write(
    Buffer.concat([Buffer.from('good\n'), Buffer.from([0xc3, 0x28, 0x0a]), Buffer.from('last')]),
  );
  await expect(texts(path)).rejects.toMatchObject({
    code: 'unreadable_file',
    message: expect.stringContaining('line 2 is not valid UTF-8'),
    details: { file: path, line: 2 },
  });
  const errors: SalienceError[] = [];
  expect(await texts(path, { onBadLine: (error) => errors.push(error) })).toEqual(['1:good', '3:last']);
  expect(errors.map(({ details }) => details['line'])).toEqual([2]);
});

test.each([
  ['with a byte order mark', Buffer.from('\uFEFF{"content":"a"}\n', 'utf16le')],
  ['without one', Buffer.from('{"content":"a"}\n', 'utf16le')],
  ['with the high byte first', Buffer.from('{"content":"a"}\n', 'utf16le').swap16()],
])('a file in UTF-16 %s is refused as a whole', async (_, content) => {
  for (const bytes of [content, gzipSync(content)]) {
    const path = await write(bytes);
    await expect(texts(path, { onBadLine: () => {} })).rejects.toMatchObject({
      code: 'unreadable_file',
      message: `${path} is UTF-16; save the file as UTF-8`,
      details: { file: path },
    });
  }
});

test('a zip archive is refused as a whole, whatever its name', async () => {
  for (const content of ['PK\u0003\u0004\u0014\u0000\n\u00ff', 'PK\u0003\u0004']) {
    const path = await write(Buffer.from(content, 'latin1'));
    await expect(texts(path, { onBadLine: () => {} })).rejects.toMatchObject({
      code: 'unreadable_file',
      message: `${path} is a zip archive; unpack it, and import the file in it`,
      details: { file: path },
    });
  }
});

test('truncated gzip gives the whole lines, then an error', async () => {
  const content = Array.from({ length: 20_000 }, (_, index) => `${index} ${Math.sin(index)}`).join('\n');
  const zipped = gzipSync(content);
  const path = await write(zipped.subarray(0, zipped.length / 2));
  const seen: number[] = [];
  const read = async () => {
    for await (const { number } of readLines(path)) seen.push(number);
  };
  await expect(read()).rejects.toMatchObject({
    code: 'unreadable_file',
    message: expect.stringContaining('truncated or damaged'),
  });
  expect(seen.length).toBeGreaterThan(1000);
  expect(seen.length).toBeLessThan(20_000);
});

test('missing files, folders and endless lines are typed errors', async () => {
  const missing = join(directory, 'missing.jsonl');
  await expect(texts(missing)).rejects.toMatchObject({ code: 'unreadable_file', details: { file: missing } });
  await expect(texts(directory)).rejects.toMatchObject({
    code: 'unreadable_file',
    details: { file: directory },
  });
  const path = await write(`short\n${'x'.repeat(11)}\n`);
  await expect(texts(path, { maxLineBytes: 10 })).rejects.toMatchObject({ details: { file: path, line: 2 } });
  expect(await texts(path, { maxLineBytes: 11 })).toHaveLength(2);
});

test('an abort ends the reading', async () => {
  const path = await write(gzipSync('a\n'.repeat(100_000)));
  const controller = new AbortController();
  let seen = 0;
  const read = async () => {
    for await (const { number } of readLines(path, { signal: controller.signal })) {
      seen = number;
      if (number === 3) controller.abort();
    }
  };
  await expect(read()).rejects.toMatchObject({ code: 'aborted' });
  expect(seen).toBe(3);
});

const descriptors = '/proc/self/fd';
test.skipIf(!existsSync(descriptors))('leaving early closes the file (skipped without /proc)', async () => {
  const isOpen = async (path: string) => {
    const links = (await readdir(descriptors)).map((name) =>
      readlink(join(descriptors, name)).catch(() => ''),
    );
    return (await Promise.all(links)).includes(path);
  };
  for (const content of [
    'a\n'.repeat(200_000),
    gzipSync(randomBytes(400_000).toString('hex').replaceAll('0', '\n')),
  ]) {
    const path = await write(content, 'left.txt');
    for await (const { number } of readLines(path)) {
      expect(number).toBe(1);
      expect(await isOpen(path)).toBe(true);
      break;
    }
    await expect.poll(() => isOpen(path)).toBe(false);
  }
});

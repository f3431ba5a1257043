import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWordTable, type WordTable } from './table.ts';
import { findWord, tokenize } from './tokenize.ts';

const file = new URL('./table.bin', import.meta.url);
const table = openWordTable(file, 0);
table.find('the');

function columnsOf({ weights, scales, rows, dimensions }: WordTable, number: number) {
  const row = rows.slice(number * dimensions, (number + 1) * dimensions);
  return { weight: weights[number], scale: scales[number], row };
}

/** The lowest that is free, which the next open file gets. */
function nextDescriptor(path: string): number {
  const descriptor = openSync(path, 'r');
  closeSync(descriptor);
  return descriptor;
}

/** The words of the file, by the layout that `table.ts` describes. */
function vocabulary(bytes: Buffer): readonly string[] {
  const size = bytes.readUInt32LE(12);
  const starts = 24 + 8 * size;
  const block = starts + 4 * (size + 1) + 2 * bytes.readUInt32LE(16);
  const start = (word: number) => block + bytes.readUInt32LE(starts + 4 * word);
  return Array.from({ length: size }, (_, word) => bytes.toString('latin1', start(word), start(word + 1)));
}

describe('openWordTable', () => {
  it('reads the table of the package: at most 10 MB, weights in (0, 1], finite scales', () => {
    expect(readFileSync(file).byteLength).toBeLessThanOrEqual(10_000_000);
    expect(table.dimensions).toBe(256);
    expect(table.rows).toHaveLength(table.size * table.dimensions);
    expect(table.weights.every((weight) => weight > 0 && weight <= 1)).toBe(true);
    expect(table.scales.every((scale) => Number.isFinite(scale) && scale > 0)).toBe(true);
  });

  it('finds a word, but not its prefixes or unknown words', () => {
    expect(table.find('coffee')).toBeGreaterThanOrEqual(0);
    expect(table.find('coffe')).toBe(-1);
    expect(table.find('')).toBe(-1);
    expect(table.find('Coffee')).toBe(-1);
    expect(table.find('\u5496\u5561')).toBe(-1);
    expect(table.find('the')).not.toBe(table.find('a'));
  });

  it('weighs frequent words less', () => {
    const weight = (word: string) => table.weights[table.find(word)] ?? Number.NaN;
    expect(weight('the')).toBeLessThan(weight('house'));
    expect(weight('house')).toBeLessThan(weight('giraffe'));
  });

  it('reads on demand: the same as from the whole file, before and after everything is read', () => {
    const few = openWordTable(file);
    const number = few.find('coffee');
    expect(few.weights.filter((weight) => weight > 0).length).toBeLessThan(table.size / 10);
    expect(number).toBe(table.find('coffee'));
    expect(columnsOf(few, number)).toEqual(columnsOf(table, number));

    const words = vocabulary(readFileSync(file)).slice(0, 2000);
    const growing = openWordTable(file, 40);
    for (const word of words) {
      const found = growing.find(word);
      expect(found).toBe(table.find(word));
      if (found % 50 === 0) expect(columnsOf(growing, found)).toEqual(columnsOf(table, found));
    }
    const bytes = ({ buffer }: Int8Array) => new Uint8Array(buffer);
    expect(Buffer.compare(bytes(growing.rows), bytes(table.rows))).toBe(0);
  });

  it('continues with the opened file when another one takes its name', () => {
    const folder = mkdtempSync(join(tmpdir(), 'word-table-'));
    try {
      const path = join(folder, 'table.bin');
      copyFileSync(file, path);
      const opened = openWordTable(path);
      opened.find('coffee');
      writeFileSync(join(folder, 'other.bin'), 'another table');
      renameSync(join(folder, 'other.bin'), path);
      const number = opened.find('espresso');
      expect(columnsOf(opened, number)).toEqual(columnsOf(table, table.find('espresso')));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  describe('of a truncated or damaged file', () => {
    let folder = '';
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'word-table-'));
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    it.each([
      ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length - 1), /is cut short/],
      ['empty', (bytes: Buffer) => bytes.subarray(0, 0), /is cut short/],
      ['of another version', (bytes: Buffer) => bytes.fill(9, 4, 8), /is not of version 1/],
      ['damaged', (bytes: Buffer) => bytes.fill(1, 16, 20), /is damaged/],
    ])('%s: says so, and closes it', (name, change, message) => {
      const path = join(folder, `${name}.bin`);
      writeFileSync(path, change(readFileSync(file)));
      const free = nextDescriptor(path);
      expect(() => openWordTable(path)).toThrow(message);
      expect(nextDescriptor(path)).toBe(free);
    });
  });
});

describe('tokenize', () => {
  it.each([
    ["Don't stop \u2014 it's 7 o'clock!", ["don't", 'stop', "it's", '7', "o'clock"]],
    ['Na\u00efve CAF\u00c9s, \uff11\uff12 \ufb01les', ['naive', 'cafes', '12', 'files']],
    ["'quoted' words' end", ['quoted', 'words', 'end']],
    ['', []],
  ])('%j', (text, words) => {
    expect(tokenize(text)).toEqual(words);
  });
});

describe('findWord', () => {
  const words = ['worry', 'box', 'make', 'run', 'talk', 'quick', 'large', 'fall'];
  const find = (word: string) => words[findWord({ find: (sought) => words.indexOf(sought) }, word)];

  it.each([
    ['worries', 'worry'],
    ['boxes', 'box'],
    ['makes', 'make'],
    ['making', 'make'],
    ['running', 'run'],
    ['falling', 'fall'],
    ['talked', 'talk'],
    ["talk's", 'talk'],
    ['quickly', 'quick'],
    ['larger', 'large'],
    ['largest', 'large'],
  ])('finds %s under its base form', (word, base) => {
    expect(find(word)).toBe(base);
  });

  it.each(['is', 'bus', 'ring', 'talkies', 'unheard'])('does not force a base form on %s', (word) => {
    expect(find(word)).toBe(undefined);
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWordTable } from './table.ts';
import { findWord, tokenize } from './tokenize.ts';

const file = new URL('./table.bin', import.meta.url);
const table = readWordTable(file);

describe('readWordTable', () => {
  it('reads the table of the package: at most 10 MB, weights in (0, 1], finite scales', () => {
    expect(readFileSync(file).byteLength).toBeLessThanOrEqual(10_000_000);
    expect(table.dimensions).toBe(256);
    expect(table.rows).toHaveLength(table.size * table.dimensions);
    expect(table.weights.every((weight) => weight > 0 && weight <= 1)).toBe(true);
    expect(table.scales.every((scale) => Number.isFinite(scale) && scale > 0)).toBe(true);
  });

  it('finds a word, and neither its prefixes nor words it does not hold', () => {
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

  describe('of a file that is not whole', () => {
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
    ])('%s: says so', (name, change, message) => {
      const path = join(folder, `${name}.bin`);
      writeFileSync(path, change(readFileSync(file)));
      expect(() => readWordTable(path)).toThrow(message);
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

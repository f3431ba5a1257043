import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fileOf, packVocabulary } from '../../scripts/vocabularies.mjs';
import { loadTokenCounter, TOKEN_ENCODINGS, type TokenCounter } from './tokens.ts';

/** OpenAI's own code, as WebAssembly: too large and too slow to load for a library, and the measure of what counts. */
interface Original {
  encode_ordinary(text: string): Uint32Array;
  free(): void;
}
const require = createRequire(import.meta.url);
const { Tiktoken } = require('tiktoken/lite') as {
  Tiktoken: new (ranks: string, special: object, pattern: string) => Original;
};

/** Scripts and symbols that were complete long ago: what a newer character is depends on the Unicode of the runtime. */
const RANGES = [
  [0x00, 0x24f],
  [0x250, 0x36f],
  [0x391, 0x3a1],
  [0x3a3, 0x52f],
  [0x5d0, 0x5ea],
  [0x620, 0x6ff],
  [0x900, 0x97f],
  [0xe01, 0xe3a],
  [0x1100, 0x11ff],
  [0x1e00, 0x1eff],
  [0x2000, 0x2064],
  [0x2150, 0x218b],
  [0x2190, 0x23ff],
  [0x2500, 0x27bf],
  [0x3000, 0x30ff],
  [0x4e00, 0x9fa5],
  [0xac00, 0xd7a3],
  [0xd800, 0xdfff],
  [0xe000, 0xf8ff],
  [0xfe00, 0xfe0f],
  [0xff01, 0xffbe],
  [0xfff9, 0xffff],
  [0x1d400, 0x1d454],
  [0x1f300, 0x1f64f],
  [0x20000, 0x2a6d6],
  [0xe0100, 0xe01ef],
  [0x10fff0, 0x10ffff],
] as const;
const anyCharacter = fc
  .constantFrom(...RANGES)
  .chain(([first, last]) => fc.integer({ min: first, max: last }))
  .map((point) => String.fromCodePoint(point));

test('what is remembered of a text does not keep the text', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const counter = await loadTokenCounter();
  // Nothing but its own pieces: one of each text is new, and as long as can be remembered, or longer.
  const count = (at: number) => counter([` piece${at}`.padEnd(8 + (at % 60), 'x') + ' the'.repeat(300_000)]);
  await count(0);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 1; at <= 60; at++) await count(at);
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000);
}, 60_000);

describe.each(TOKEN_ENCODINGS)('%s', (encoding) => {
  let original: Original;
  let counter: TokenCounter;
  beforeAll(async () => {
    const { bpe_ranks: ranks, pat_str: pattern } = require(`tiktoken/encoders/${encoding}.json`);
    original = new Tiktoken(ranks, {}, pattern);
    counter = await loadTokenCounter(encoding);
  });
  afterAll(() => original.free());

  const expectSame = async (texts: readonly string[]) => {
    const counts = await counter(texts);
    for (const [at, text] of texts.entries())
      expect(counts[at], JSON.stringify(text.slice(0, 200))).toBe(original.encode_ordinary(text).length);
  };

  test('the packed vocabulary is that of OpenAI', () => {
    expect(readFileSync(fileOf(encoding), 'utf8') === packVocabulary(encoding)).toBe(true);
  });

  test('counts any text as OpenAI does', async () => {
    const parts = fc.oneof(
      fc.constantFrom(...' \t\n\r\v\x85\xa0\u1680\u2028\u3000\ufeff\u200b/\'"=-_<|>{}.,;:#'),
      fc.constantFrom(
        "'s",
        "'S",
        "'ſ",
        "'T",
        "'ll",
        "'LL",
        "'lL",
        "'re",
        "'Ve",
        "'m",
        "'d",
        "'x",
        '’s',
        '\r\n',
        '\n\n',
      ),
      fc.constantFrom(
        'a',
        'A',
        'É',
        'é',
        'e\u0301',
        'ǅ',
        'ʰ',
        'ª',
        'ß',
        'ſ',
        'K',
        'Жук',
        'ЖУК',
        '字',
        'お',
        'ก็',
        'हि',
        'ا',
        '𝒜',
        '\u0301',
      ),
      fc.constantFrom(
        '1',
        '22',
        '333',
        '4444',
        '²',
        'Ⅻ',
        '५',
        '½',
        '😀',
        '👩‍👩‍👧',
        '🏳️‍🌈',
        '\0',
        '\x7f',
        '�',
        '\ud800',
        '\udc00',
      ),
      fc.constantFrom(
        'memory',
        ' remembers',
        'SQLite',
        'camelCaseName',
        ' the',
        'antidisestablishmentarianism',
        '<|endoftext|>',
      ),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
      anyCharacter,
    );
    const texts = fc.array(parts, { maxLength: 30 }).map((each) => each.join(''));
    await fc.assert(fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 20 }), expectSame), {
      numRuns: 300,
    });
  });

  test('counts runs of one character, of two and of many as OpenAI does', async () => {
    const lengths = [1, 2, 3, 5, 16, 63, 64, 65, 127, 128, 129, 1000, 5000];
    const runs = [
      'a',
      'A',
      ' ',
      '=',
      '字',
      '\n',
      '\u0301',
      '😀',
      'ab',
      'aB',
      '0',
      '\ufeff',
      ' \n',
      '\t',
      "'s",
      '-=',
    ];
    await expectSame(runs.flatMap((run) => lengths.map((length) => run.repeat(length))));
    const letters = Array.from({ length: 20_000 }, (_, at) =>
      String.fromCharCode(97 + ((at * at) % 23)),
    ).join('');
    await expectSame([letters, letters.toUpperCase(), ` ${letters} ${letters}`]);
  });
});

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
const RANGES =
  '0-24f 250-36f 391-3a1 3a3-52f 5d0-5ea 620-6ff 900-97f e01-e3a 1100-11ff 1e00-1eff 2000-2064 2150-218b 2190-23ff 2500-27bf ' +
  '3000-30ff 4e00-9fa5 ac00-d7a3 d800-dfff e000-f8ff fe00-fe0f ff01-ffbe fff9-ffff 1d400-1d454 1f300-1f64f 20000-2a6d6 ' +
  'e0100-e01ef 10fff0-10ffff';
const anyCharacter = fc
  .constantFrom(...RANGES.split(' '))
  .map((range) => range.split('-').map((point) => Number.parseInt(point, 16)))
  .chain(([min, max]) => fc.integer({ min: min!, max: max! }))
  .map((point) => String.fromCodePoint(point));

test('the cache does not keep texts alive, nor grow with them', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const counter = await loadTokenCounter();
  // Nothing but its own pieces: one of each text is new, and as long as can be remembered, or longer.
  const count = (at: number) => counter([` piece${at}`.padEnd(8 + 2 * at, 'x') + ' the'.repeat(300_000)]);
  await count(0);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 1; at <= 30; at++) await count(at);
  const word = (at: number) => at.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!);
  await counter([Array.from({ length: 600_000 }, (_, at) => ` ${word(at)}`).join('')]);
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
      fc.constantFrom('\r\n', '\n\n', '\0', '\x7f', '\ufffd', '\ud800', '\udc00', '\u0301', 'e\u0301'),
      fc.constantFrom(..."'s 'S 'ſ 'T 'll 'LL 'lL 're 'Ve 'm 'd 'x ’s".split(' ')),
      fc.constantFrom(...'a A É é ǅ ʰ ª ß ſ K Жук ЖУК 字 お ก็ हि ا 𝒜'.split(' ')),
      fc.constantFrom(...'1 22 333 4444 ² Ⅻ ५ ½ 😀 👩‍👩‍👧 🏳️‍🌈'.split(' ')),
      fc.constantFrom(...'memory SQLite camelCaseName antidisestablishmentarianism <|endoftext|>'.split(' ')),
      fc.constantFrom(' remembers', ' the'),
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
    const runs = [...'aA =字\n\u0301😀0\ufeff\t', 'ab', 'aB', ' \n', "'s", '-='];
    await expectSame(runs.flatMap((run) => lengths.map((length) => run.repeat(length))));
    const letters = Array.from({ length: 20_000 }, (_, at) =>
      String.fromCharCode(97 + ((at * at) % 23)),
    ).join('');
    await expectSame([letters, letters.toUpperCase(), ` ${letters} ${letters}`]);
  });
});

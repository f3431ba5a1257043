import { invalidArgument } from '../domain/check.ts';
import { createRecent } from '../domain/recent.ts';

/**
 * How many tokens each text is, in order: whole numbers ≥ 0. Give your own where the model's tokenizer is another, or
 * its server counts.
 */
export type TokenCounter = (texts: readonly string[]) => readonly number[] | Promise<readonly number[]>;

/** The vocabularies that are included: `o200k_base` of GPT-4o and later models, `cl100k_base` of GPT-4 and 3.5. */
export const TOKEN_ENCODINGS = ['o200k_base', 'cl100k_base'] as const;
export type TokenEncoding = (typeof TOKEN_ENCODINGS)[number];

/** The time to merge an unbroken run grows with its square: 50,000 letters without a space take a second. */
const LONGEST_RUN = 2048;
const LONG_RUN = new RegExp(
  String.raw`[\p{L}\p{M}]{${LONGEST_RUN}}|\s{${LONGEST_RUN}}|[^\s\p{L}\p{N}]{${LONGEST_RUN}}`,
  'gu',
);

/** Bytes at most that texts with known counts may take, and those of an entry beside its text. */
const COUNTED_BYTES = 2 << 20;
const ENTRY_BYTES = 100;

/** For texts about which nothing is special: what looks like a control token of a chat format is counted as text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/**
 * A counter of real tokens. The vocabulary (2 MB) is loaded at the first call.
 *
 * Exact, except in a run of more than 2,048 letters, of as much white space or of as much punctuation without a break:
 * it is counted in pieces of that length, so that a hostile text cannot stop the process.
 *
 * @example
 * ```ts
 * const tokenCounter = await loadTokenCounter('cl100k_base'); // for GPT-4
 * await using memory = await openMemory({ path: './memory', space: 'alice', tokenCounter });
 * const [tokens] = await tokenCounter(['Prefers dark roast coffee']);
 * ```
 */
export async function loadTokenCounter(encoding: TokenEncoding = 'o200k_base'): Promise<TokenCounter> {
  const { countTokens } = await loadEncoding(encoding);
  // Contexts of one space mostly hold the same memories.
  const counted = createRecent<number, string>(COUNTED_BYTES, (_, { length }) => ENTRY_BYTES + 2 * length);
  const count = (text: string) => countTokens(text, AS_TEXT);
  return (texts) =>
    texts.map((text) => {
      const known = counted.get(text);
      if (known !== undefined) return known;
      const tokens =
        text.length <= LONGEST_RUN
          ? count(text)
          : piecesOf(text).reduce((sum, piece) => sum + count(piece), 0);
      counted.set(text, tokens);
      return tokens;
    });
}

function piecesOf(text: string): readonly string[] {
  const ends = [...text.matchAll(LONG_RUN)].map((match) => match.index + match[0].length);
  return [0, ...ends].map((start, at) => text.slice(start, ends[at] ?? text.length));
}

function loadEncoding(encoding: TokenEncoding) {
  switch (encoding) {
    case 'o200k_base':
      return import('gpt-tokenizer/encoding/o200k_base');
    case 'cl100k_base':
      return import('gpt-tokenizer/encoding/cl100k_base');
    default:
      throw invalidArgument('encoding', `${String(encoding)} is not one of ${TOKEN_ENCODINGS.join(', ')}`);
  }
}

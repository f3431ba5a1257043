import { invalidArgument } from '../domain/check.ts';
import { createRecent } from '../domain/recent.ts';
import { createCounter, readVocabulary } from './byte-pairs.ts';
import { ENCODINGS, TOKEN_ENCODINGS, type TokenEncoding } from './encodings.ts';

export { TOKEN_ENCODINGS, type TokenEncoding };

/**
 * Returns how many tokens each text has, in order: whole numbers ≥ 0. Provide your own if the model has another
 * tokenizer, or its server counts.
 */
export type TokenCounter = (texts: readonly string[]) => readonly number[] | Promise<readonly number[]>;

/** The most bytes that cached texts may take, and the overhead of each entry. */
const COUNTED_BYTES = 2 << 20;
const ENTRY_BYTES = 100;

/**
 * Loads a counter of real tokens, which counts as OpenAI's own tokenizer does. Text that looks like a control token of
 * a chat format is counted as text. The vocabulary (2 MB) is loaded at the first call. Time grows with n log n of a
 * text's length, whatever its content.
 *
 * @example
 * ```ts
 * const tokenCounter = await loadTokenCounter('cl100k_base'); // for GPT-4
 * await using memory = await openMemory({ path: './memory', space: 'alice', tokenCounter });
 * const [tokens] = await tokenCounter(['Prefers dark roast coffee']);
 * ```
 */
export async function loadTokenCounter(encoding: TokenEncoding = 'o200k_base'): Promise<TokenCounter> {
  if (!Object.hasOwn(ENCODINGS, encoding))
    throw invalidArgument('encoding', `${String(encoding)} is not one of ${TOKEN_ENCODINGS.join(', ')}`);
  counters[encoding] ??= loadCounter(encoding);
  const count = await counters[encoding];
  // Contexts of one space mostly contain the same memories.
  const counted = createRecent<number, string>(COUNTED_BYTES, (_, { length }) => ENTRY_BYTES + 2 * length);
  return (texts) =>
    texts.map((text) => {
      const known = counted.get(text);
      if (known !== undefined) return known;
      const tokens = count(text);
      counted.set(text, tokens);
      return tokens;
    });
}

/** One counter of each encoding for the whole process. */
const counters: Partial<Record<TokenEncoding, Promise<(text: string) => number>>> = {};

async function loadCounter(encoding: TokenEncoding): Promise<(text: string) => number> {
  const { load, pieces } = ENCODINGS[encoding];
  const { PACKED } = await load();
  return createCounter(readVocabulary(PACKED, pieces()));
}

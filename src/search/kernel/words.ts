import { instantiate } from './instance.ts';
import { WORDS_BASE64 } from './module.ts';
import { GROUP_ROWS } from './scan.ts';

/** How many rows are bounded at once: their data stays in the first-level cache. */
export const WORD_ROWS = 1024;
/** How many rows before and after them are read as well: their neighbours may be among those. */
export const BESIDE = 4;
/** How many steps strengths have. 1 / STRENGTHS and its multiples have few bits. */
export const STRENGTHS = 32;

/** Arrays over rows. Lengths, sums, states and `asks` begin `BESIDE` rows before the first one; see words.wat. */
export interface WordKernel {
  /** Input: the number of terms of each row, repetitions included. */
  readonly lengths: Float32Array;
  /** Input: inverse document frequency × frequency, summed over the terms of the query. */
  readonly sums: Float32Array;
  /** Input: the state of each row in its session; see `turns.ts`. */
  readonly states: Uint8Array;
  /** Input: 1 for a row that contains a question. */
  readonly asks: Uint8Array;
  /** Output: the highest relevance that each row can have × `STRENGTHS`, rounded up. */
  readonly strengths: Uint8Array;
  /** Output: the highest of each `GROUP_ROWS` strengths. */
  readonly tops: Uint8Array;
  /**
   * How many rows have each strength, of those that a word touches. Clear it before the first rows. Every fourth row is
   * counted in a separate array, so that no row waits for the one before it.
   */
  readonly counts: readonly Uint32Array[];
  /**
   * Writes the strengths of at most `WORD_ROWS` rows, and adds them to the counts.
   *
   * @param lengthPart what each term of a text adds to the denominator of BM25.
   * @param scale the factor that makes BM25 a share of the score of a text of average length that contains every term
   * once.
   * @returns how many of the rows contain a term.
   */
  bound(count: number, lengthPart: number, scale: number): number;
}

const LENGTH = WORD_ROWS + 2 * BESIDE;
const STATES_AT = 3 * 4 * LENGTH;
const STRENGTHS_AT = STATES_AT + 2 * LENGTH;
const COUNTS_AT = STRENGTHS_AT + WORD_ROWS;
const COUNTED_APART = 4;
const TOPS_AT = COUNTS_AT + COUNTED_APART * 4 * (STRENGTHS + 1);

let known: WordKernel | 'none' | undefined;

/** Returns the kernel, shared by all users; `undefined` if the runtime has no WebAssembly with SIMD. */
export function wordKernel(): WordKernel | undefined {
  known ??= create() ?? 'none';
  return known === 'none' ? undefined : known;
}

function create(): WordKernel | undefined {
  const instance = instantiate<Pick<WordKernel, 'bound'>>(
    WORDS_BASE64,
    COUNTS_AT + COUNTED_APART * 4 * (STRENGTHS + 1),
  );
  if (!instance) return undefined;
  const { buffer } = instance.memory;
  return {
    lengths: new Float32Array(buffer, 0, LENGTH),
    sums: new Float32Array(buffer, 4 * LENGTH, LENGTH),
    states: new Uint8Array(buffer, STATES_AT, LENGTH),
    asks: new Uint8Array(buffer, STATES_AT + LENGTH, LENGTH),
    strengths: new Uint8Array(buffer, STRENGTHS_AT, WORD_ROWS),
    counts: Array.from(
      { length: COUNTED_APART },
      (_, each) => new Uint32Array(buffer, COUNTS_AT + each * 4 * (STRENGTHS + 1), STRENGTHS + 1),
    ),
    tops: new Uint8Array(buffer, TOPS_AT, WORD_ROWS / GROUP_ROWS),
    ...instance.exports,
  };
}

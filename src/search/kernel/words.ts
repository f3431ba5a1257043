import { instantiate } from './instance.ts';
import { WORDS_BASE64 } from './module.ts';
import { GROUP_ROWS } from './scan.ts';

/** Rows whose words are bounded at once: what is known of them stays in the first-level cache. */
export const WORD_ROWS = 1024;
/** Rows before them, and behind, among which are those that stand beside some of them. */
export const BESIDE = 4;
/** Rows are told apart by how well they can match in so many steps: 1 / this has few bits, and so have its multiples. */
export const STRENGTHS = 32;

/** Arrays of rows, the first three of which begin `BESIDE` rows before the first one; see words.wat. */
export interface WordKernel {
  /** To be written: terms, repetitions included. */
  readonly lengths: Float32Array;
  /** To be written: inverse document frequency × how often, summed over the terms of the query. */
  readonly sums: Float32Array;
  /** To be written: what each row is in its session. */
  readonly states: Uint8Array;
  /** To be written: 1 for a row that asks something. */
  readonly asks: Uint8Array;
  /** How relevant each row is at most × `STRENGTHS`, rounded up. */
  readonly strengths: Uint8Array;
  /** The highest of each `GROUP_ROWS` strengths. */
  readonly tops: Uint8Array;
  /**
   * To be cleared before the first rows: how many have each strength, of those that something touches. Each fourth row is counted apart, so
   * that none waits for the one before it.
   */
  readonly counts: readonly Uint32Array[];
  /**
   * Writes the strengths of at most `WORD_ROWS` rows, and adds to their counts.
   *
   * @param lengthPart what a term of a text adds to the denominator of BM25.
   * @param scale what makes BM25 a share of that of a text of average length that has every term once.
   * @returns how many of the rows have a term.
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

/** `undefined` where the runtime has no WebAssembly with SIMD. All that use it share it. */
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

import { instantiate } from './instance.ts';
import { WORDS_BASE64 } from './module.ts';

/** Rows whose words are scored at once: what is known of them stays in the first-level cache. */
export const WORD_ROWS = 512;
/** Rows before them, and behind, that stand beside some of them. */
export const BESIDE = 2;

/** Arrays of rows, each of which begins `BESIDE` rows before the first one; see words.wat. */
export interface WordKernel {
  /** To be written: terms, repetitions included. */
  readonly lengths: Float64Array;
  /** To be written: what each row is in its session. */
  readonly states: Uint8Array;
  /** To be written: 1 for a row that asks something. */
  readonly asks: Uint8Array;
  /** To be written before each term: how often each row has it. */
  readonly counts: Float64Array;
  /** In the end: the relevance of the words of each row. */
  readonly own: Float64Array;
  /** In the end: together with those beside it. */
  readonly around: Float64Array;
  /** In the end: the higher one of both × 32, rounded up. */
  readonly strengths: Uint8Array;
  /** Begins with the lengths, states and asks of at most `WORD_ROWS` rows. */
  begin(count: number, averageLength: number): void;
  /** Adds a term to some of the rows, counted from the first one of the block. */
  add(from: number, to: number, idf: number): void;
  /** Turns what was added up into relevance. */
  end(count: number, idfSum: number): void;
}

const LENGTH = WORD_ROWS + 2 * BESIDE + 4;
const STATES_AT = 11 * 8 * LENGTH;
const ASKS_AT = STATES_AT + LENGTH + 8;
const STRENGTHS_AT = ASKS_AT + LENGTH + 8;

type Exports = Pick<WordKernel, 'begin' | 'add' | 'end'>;

let known: WordKernel | 'none' | undefined;

/** `undefined` where the runtime has no WebAssembly with SIMD. All that use it share it. */
export function wordKernel(): WordKernel | undefined {
  known ??= create() ?? 'none';
  return known === 'none' ? undefined : known;
}

function create(): WordKernel | undefined {
  const instance = instantiate<Exports>(WORDS_BASE64, STRENGTHS_AT + LENGTH);
  if (!instance) return undefined;
  const { buffer } = instance.memory;
  const numbers = (place: number) => new Float64Array(buffer, 8 * LENGTH * place, LENGTH);
  return {
    lengths: numbers(0),
    counts: numbers(1),
    own: numbers(9),
    around: numbers(10),
    states: new Uint8Array(buffer, STATES_AT, LENGTH),
    asks: new Uint8Array(buffer, ASKS_AT, LENGTH),
    strengths: new Uint8Array(buffer, STRENGTHS_AT, LENGTH),
    ...instance.exports,
  };
}

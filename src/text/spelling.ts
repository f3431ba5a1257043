/**
 * Which known terms may stand in for an unknown word of a query. Scalar definitions, without a vocabulary.
 *
 * The distance is optimal string alignment: insertions, deletions, replacements and swaps of two neighbours, with no
 * part edited twice. Source: docs/decisions/0065-misspelt-words.md.
 */

/** The weight of a stand-in: a term that the word is a misspelling of, or one that begins with the word. */
export const MISSPELT_WEIGHT = 0.5;
export const PREFIX_WEIGHT = 0.25;

/** The most stand-ins of one unknown word. */
export const MOST_STAND_INS = 3;

/** The fewest letters (UTF-16 code units) of a written word that may have one mistake, and two. */
const ONE_MISTAKE = 5;
const TWO_MISTAKES = 9;
/** The fewest letters of a term that is compared with others and may be the beginning of another one. */
const SHORTEST_TERM = 4;
/** A character of these says more than a letter, so the beginning of another term may be shorter. */
const SYLLABLES = /^\p{Script=Hangul}{2}/u;
const IDEOGRAPH = /^\p{Script=Han}/u;

/** A known term that stands in for a term of the query. */
export interface StandIn {
  readonly term: string;
  /** The edit distance; `undefined` if the query's term is the beginning of this one. */
  readonly distance: number | undefined;
}

/**
 * Returns how many mistakes a term may contain: 0, 1 or 2, by the length of the word that it comes from, as `cofe` does
 * from `cofee`. Numbers and version names contain none.
 */
export function mistakesIn(term: string, written = term): number {
  if (!isSpelt(term) || term.length < SHORTEST_TERM) return 0;
  const letters = written.replace(/['’].*$/u, '').length;
  return letters >= TWO_MISTAKES ? 2 : letters >= ONE_MISTAKE ? 1 : 0;
}

/**
 * Whether a term may be the beginning of another one. In Korean, particles follow a noun without a space (커피, 커피를);
 * in Chinese, how a character is joined to its neighbours depends on the sentence (猫, 猫叫).
 */
export function mayBegin(term: string): boolean {
  if (!isSpelt(term)) return false;
  return term.length >= SHORTEST_TERM || SYLLABLES.test(term) || IDEOGRAPH.test(term);
}

export function isSpelt(term: string): boolean {
  // Nearly all terms are plain letters, and Unicode classes take milliseconds to compile.
  return /^[a-zA-Z]+$/.test(term) || (/[\u0080-\uffff]/.test(term) && /^[\p{L}\p{M}]+$/u.test(term));
}

export function weightOf({ distance }: StandIn): number {
  return distance === undefined ? PREFIX_WEIGHT : MISSPELT_WEIGHT;
}

/** Orders by distance, with beginnings last; then by frequency, higher first; then by code units. */
export function compareStandIns(
  a: StandIn & { readonly frequency: number },
  b: StandIn & { readonly frequency: number },
): number {
  const [one, other] = [a.distance ?? Infinity, b.distance ?? Infinity];
  if (one !== other) return one - other;
  return b.frequency - a.frequency || (a.term < b.term ? -1 : a.term > b.term ? 1 : 0);
}

/** A range of code units within an array. */
export interface Units {
  readonly units: ArrayLike<number>;
  readonly start: number;
  readonly length: number;
}

/** Reused for the rows of each comparison: one word is compared with many others. */
let scratch: [Uint16Array, Uint16Array, Uint16Array] = [
  new Uint16Array(160),
  new Uint16Array(160),
  new Uint16Array(160),
];

/** Returns the distance of two words, or `most` + 1 if it is more than `most`. */
export function distanceWithin(a: Units, b: Units, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const width = b.length + 1;
  if (scratch[0].length < width)
    scratch = [new Uint16Array(width), new Uint16Array(width), new Uint16Array(width)];
  let [before, last, next] = scratch;
  for (let at = 0; at < width; at++) last[at] = at;
  for (let row = 1; row <= a.length; row++) {
    next[0] = row;
    let lowest = row;
    const unit = a.units[a.start + row - 1];
    for (let column = 1; column < width; column++) {
      const other = b.units[b.start + column - 1];
      let distance = Math.min(
        last[column]! + 1,
        next[column - 1]! + 1,
        last[column - 1]! + (unit === other ? 0 : 1),
      );
      const isExchange =
        row > 1 &&
        column > 1 &&
        unit === b.units[b.start + column - 2] &&
        other === a.units[a.start + row - 2];
      if (isExchange) distance = Math.min(distance, before[column - 2]! + 1);
      next[column] = distance;
      if (distance < lowest) lowest = distance;
    }
    // A swap looks back two rows, of which this one is the later.
    if (lowest > most + 1) return most + 1;
    [before, last, next] = [last, next, before];
  }
  return Math.min(last[b.length]!, most + 1);
}

export function unitsOf(text: string): Units {
  return {
    units: Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)),
    start: 0,
    length: text.length,
  };
}

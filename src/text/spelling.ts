/**
 * What a word of a query that is nowhere may stand for. Scalar definitions, without a vocabulary.
 *
 * Distance is that of optimal string alignment: insertions, deletions, replacements and exchanges of two neighbours, no
 * part edited twice. Source: docs/decisions/0065-misspelt-words.md.
 */

/** How much a word counts that a word of the query is misspelt for, and one that it begins. */
export const MISSPELT_WEIGHT = 0.5;
export const PREFIX_WEIGHT = 0.25;

/** How many known words one that is nowhere stands for, at most. */
export const MOST_STAND_INS = 3;

/** Letters, as UTF-16 code units, from which a word as written may be misspelt in one place, and in two. */
const ONE_MISTAKE = 5;
const TWO_MISTAKES = 9;
/** Of a term: from so many on it is compared with others, and may be the beginning of another one. */
const SHORTEST_TERM = 4;

/** A known term that stands for one of the query. */
export interface StandIn {
  readonly term: string;
  /** How many edits it is off; `undefined` where the term of the query is its beginning. */
  readonly distance: number | undefined;
}

/**
 * How many mistakes a term may hold: 0, 1 or 2, by the letters of the word that it comes from, as `cofe` does from `cofee`.
 * Numbers and names of versions hold none.
 */
export function mistakesIn(term: string, written = term): number {
  if (!mayBegin(term)) return 0;
  const letters = written.replace(/['’].*$/u, '').length;
  return letters >= TWO_MISTAKES ? 2 : letters >= ONE_MISTAKE ? 1 : 0;
}

/** Whether a term may be the beginning of another one. */
export function mayBegin(term: string): boolean {
  return isSpelt(term) && term.length >= SHORTEST_TERM;
}

export function isSpelt(term: string): boolean {
  // Nearly all terms are plain letters, and the classes of Unicode take milliseconds to make ready.
  return /^[a-zA-Z]+$/.test(term) || (/[\u0080-\uffff]/.test(term) && /^[\p{L}\p{M}]+$/u.test(term));
}

export function weightOf({ distance }: StandIn): number {
  return distance === undefined ? PREFIX_WEIGHT : MISSPELT_WEIGHT;
}

/** The nearest first, beginnings last; then the more frequent, then by code units. */
export function compareStandIns(
  a: StandIn & { readonly frequency: number },
  b: StandIn & { readonly frequency: number },
): number {
  const [one, other] = [a.distance ?? Infinity, b.distance ?? Infinity];
  if (one !== other) return one - other;
  return b.frequency - a.frequency || (a.term < b.term ? -1 : a.term > b.term ? 1 : 0);
}

/** A list of code units within a larger one. */
export interface Units {
  readonly units: ArrayLike<number>;
  readonly start: number;
  readonly length: number;
}

/** The rows of one comparison: many are made for one word. */
let scratch: [Uint16Array, Uint16Array, Uint16Array] = [
  new Uint16Array(160),
  new Uint16Array(160),
  new Uint16Array(160),
];

/** The distance of two words, or `most` + 1 where it is more than `most`. */
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
    // An exchange looks back two rows, of which this one is the higher.
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

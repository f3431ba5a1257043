import type { Postings } from '../text/bm25.ts';
import { grow, holding } from './grow.ts';

/** The rows that hold a term, and room for more. */
export interface GrowingPostings extends Postings {
  rows: Uint32Array;
  frequencies: Frequencies;
  count: number;
}

/** Hardly any text has a word more than 255 times: a byte does for nearly all terms. */
export type Frequencies = Uint8Array | Uint16Array | Uint32Array;

export function addPosting(postings: GrowingPostings, row: number, frequency: number): void {
  const { count } = postings;
  postings.rows = grow(postings.rows, count + 1);
  postings.rows[count] = row;
  postings.frequencies = grow(holding(postings.frequencies, frequency) as Frequencies, count + 1);
  postings.frequencies[count] = frequency;
  postings.count++;
}

export function noPostings(): GrowingPostings {
  return { rows: new Uint32Array(2), frequencies: new Uint8Array(2), count: 0 };
}

/** The postings of an index, by the store's number of the term, in the order in which the terms came. */
export interface PostingsOfTerms extends Iterable<readonly [term: number, postings: GrowingPostings]> {
  /** How many terms there are. */
  readonly size: number;
  get(term: number): GrowingPostings | undefined;
  set(term: number, postings: GrowingPostings): void;
  keys(): Iterable<number>;
}

/** The postings of many terms in three arrays. */
export interface PackedPostings {
  /** The place of each term. Taken over, not copied. */
  readonly places: Map<number, GrowingPostings | number>;
  /** Where the postings of each place begin; one more than there are terms. */
  readonly starts: Uint32Array;
  readonly rows: Uint32Array;
  readonly frequencies: Frequencies;
}

const none = (): PackedPostings => ({
  places: new Map(),
  starts: new Uint32Array(1),
  rows: new Uint32Array(0),
  frequencies: new Uint8Array(0),
});

/**
 * Postings that begin with packed ones. These are unpacked when they are first asked for: two arrays for each of a large space's
 * terms take longer to make than the rest of a query.
 */
export function createPostings(
  { places, starts, rows, frequencies }: PackedPostings = none(),
): PostingsOfTerms {
  /** A number is a place among the packed terms. */
  const known = places;

  function get(term: number): GrowingPostings | undefined {
    const found = known.get(term);
    if (typeof found !== 'number') return found;
    const [from, to] = [starts[found]!, starts[found + 1]!];
    const postings = {
      rows: rows.subarray(from, to),
      frequencies: frequencies.subarray(from, to),
      count: to - from,
    };
    known.set(term, postings);
    return postings;
  }

  return {
    get size() {
      return known.size;
    },
    get,
    set: (term, postings) => void known.set(term, postings),
    keys: () => known.keys(),
    *[Symbol.iterator]() {
      for (const term of known.keys()) yield [term, get(term)!] as const;
    },
  };
}

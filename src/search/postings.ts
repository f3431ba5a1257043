import { grow } from './grow.ts';

/** The rows that contain a term, and how often; with room for more. */
export interface Postings {
  /**
   * Ascending. The high bits of an entry are the row, the low five the frequency. See {@link rowOf} and {@link
   * frequencyOf}.
   */
  entries: Uint32Array;
  /** How many entries are in use. */
  count: number;
  /** By row: frequencies of {@link LARGE} or more. */
  large: Map<number, number> | undefined;
}

const BITS = 5;
/** Hardly any text contains a word this often. Frequencies from here on are stored in {@link Postings.large}. */
export const LARGE = (1 << BITS) - 1;
/** How many rows fit into the remaining bits of an entry. */
export const MOST_ROWS = (0xffff_ffff >>> BITS) + 1;

export function rowOf(entry: number): number {
  return entry >>> BITS;
}

export function frequencyOf({ large }: Postings, entry: number): number {
  const frequency = entry & LARGE;
  return frequency === LARGE ? large!.get(entry >>> BITS)! : frequency;
}

/** Returns an entry. {@link LARGE} stands for all higher frequencies. */
export function entryOf(row: number, frequency: number): number {
  return ((row << BITS) | Math.min(frequency, LARGE)) >>> 0;
}

export function addPosting(postings: Postings, row: number, frequency: number): void {
  const { count } = postings;
  postings.entries = grow(postings.entries, count + 1);
  postings.entries[count] = entryOf(row, frequency);
  if (frequency >= LARGE) {
    postings.large ??= new Map();
    postings.large.set(row, frequency);
  }
  postings.count++;
}

export function noPostings(): Postings {
  return { entries: new Uint32Array(2), count: 0, large: undefined };
}

/** The postings of an index, by the store's number of the term, in the order in which terms were added. */
export interface PostingsOfTerms extends Iterable<readonly [term: number, postings: Postings]> {
  /** How many terms there are. */
  readonly size: number;
  get(term: number): Postings | undefined;
  set(term: number, postings: Postings): void;
  keys(): Iterable<number>;
}

/** The postings of many terms in a few arrays. */
export interface PackedPostings {
  /** Ascending. */
  readonly terms: Float64Array;
  /** By place: where the postings of each term begin, and where the last ones end. */
  readonly starts: Uint32Array;
  readonly entries: Uint32Array;
  /** By place of the term: see {@link Postings.large}. */
  readonly large: ReadonlyMap<number, Map<number, number>>;
}

const none: PackedPostings = {
  terms: new Float64Array(0),
  starts: new Uint32Array(1),
  entries: new Uint32Array(0),
  large: new Map(),
};

/** Returns the place of a term in an ascending array, −1 if it is not there. */
export function placeOfTerm(terms: Float64Array, term: number): number {
  let start = 0;
  let end = terms.length;
  while (start < end) {
    const middle = (start + end) >> 1;
    if (terms[middle]! < term) start = middle + 1;
    else end = middle;
  }
  return terms[start] === term ? start : -1;
}

/**
 * Creates postings that start with packed ones. A term is unpacked when it is first asked for: making an array for each
 * term of a large space takes longer than the rest of a query.
 */
export function createPostings({ terms, starts, entries, large } = none): PostingsOfTerms {
  /** By place. */
  const unpacked = new Map<number, Postings>();
  /** By term: those that were added to the packed ones. */
  const added = new Map<number, Postings>();

  function unpack(place: number): Postings {
    let postings = unpacked.get(place);
    if (!postings) {
      const [from, to] = [starts[place]!, starts[place + 1]!];
      postings = { entries: entries.subarray(from, to), count: to - from, large: large.get(place) };
      unpacked.set(place, postings);
    }
    return postings;
  }

  function get(term: number): Postings | undefined {
    const place = placeOfTerm(terms, term);
    return place < 0 ? added.get(term) : unpack(place);
  }

  function* keys() {
    yield* terms;
    yield* added.keys();
  }

  return {
    get size() {
      return terms.length + added.size;
    },
    get,
    set(term, postings) {
      const place = placeOfTerm(terms, term);
      if (place < 0) added.set(term, postings);
      else unpacked.set(place, postings);
    },
    keys,
    *[Symbol.iterator]() {
      for (const term of keys()) yield [term, get(term)!] as const;
    },
  };
}

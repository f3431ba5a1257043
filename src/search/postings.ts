import { grow } from './grow.ts';

/** The rows that hold a term and how often, and room for more. */
export interface Postings {
  /** In ascending order: the number of a row above {@link LARGE}, how often it has the term below. See {@link rowOf} and {@link frequencyOf}. */
  entries: Uint32Array;
  /** How many entries are in use. */
  count: number;
  /** By row: how often it has the term, where that is {@link LARGE} or more. */
  large: Map<number, number> | undefined;
}

const BITS = 5;
/** Hardly any text has a word so often: what no five bits hold is written down elsewhere. */
export const LARGE = (1 << BITS) - 1;
/** What an index can hold beside {@link LARGE} in 32 bits. */
export const MOST_ROWS = (0xffff_ffff >>> BITS) + 1;

export function rowOf(entry: number): number {
  return entry >>> BITS;
}

export function frequencyOf({ large }: Postings, entry: number): number {
  const frequency = entry & LARGE;
  return frequency === LARGE ? large!.get(entry >>> BITS)! : frequency;
}

/** An entry; {@link LARGE} stands for all higher frequencies. */
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

/** The postings of an index, by the store's number of the term, in the order in which the terms came. */
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
  /** Where the postings of each term begin, by its place; one more than there are terms. */
  readonly starts: Uint32Array;
  readonly entries: Uint32Array;
  /** By place: see {@link Postings.large}. */
  readonly large: ReadonlyMap<number, Map<number, number>>;
}

const none: PackedPostings = {
  terms: new Float64Array(0),
  starts: new Uint32Array(1),
  entries: new Uint32Array(0),
  large: new Map(),
};

/** The place of a term among ascending ones; −1 where it is not among them. */
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
 * Postings that begin with packed ones. These are unpacked when they are first asked for: an array for each of a large space's
 * terms takes longer to make than the rest of a query.
 */
export function createPostings({ terms, starts, entries, large } = none): PostingsOfTerms {
  /** By place. */
  const unpacked = new Map<number, Postings>();
  /** By term: those that are not packed. */
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

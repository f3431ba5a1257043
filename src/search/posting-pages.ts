import { frequencyIn } from './lexical.ts';
import { arrayOf, asBytes, NUMBERS, type PageParts, STEP } from './parts.ts';
import {
  createPostings,
  entryOf,
  frequencyOf,
  LARGE,
  type PackedPostings,
  placeOfTerm,
  rowOf,
} from './postings.ts';
import type { ResidentIndex } from './resident-index.ts';

/**
 * Encodes postings as three arrays: pairs of term and number of its entries, by ascending term; all entries; and
 * triples of term, row and frequency for large frequencies.
 */
export function* encodingPostings(
  index: ResidentIndex,
  newRow: Int32Array,
  parts: Map<string, Uint8Array>,
): Generator<undefined> {
  let total = 0;
  for (const [, { count }] of index.postings) total += count;
  const entries = new Uint32Array(total);
  const terms: number[] = [];
  const large: number[] = [];
  let used = 0;
  for (const term of Float64Array.from(index.postings.keys()).sort()) {
    const postings = index.postings.get(term)!;
    const start = used;
    for (let at = 0; at < postings.count; at++) {
      const entry = postings.entries[at]!;
      const row = newRow[rowOf(entry)]!;
      if (row < 0) continue;
      entries[used++] = entryOf(row, entry & LARGE);
      if ((entry & LARGE) === LARGE) large.push(term, row, frequencyOf(postings, entry));
    }
    if (used > start) terms.push(term, used - start);
    if (terms.length % STEP === 0) yield;
  }
  parts.set('terms', asBytes(Float64Array.from(terms)));
  parts.set('postings', asBytes(entries.slice(0, used)));
  parts.set('postings.large', asBytes(Float64Array.from(large)));
}

/** Decodes postings. Returns false if the parts do not fit together. */
export function* decodingPostings(index: ResidentIndex, parts: PageParts): Generator<undefined, boolean> {
  const whole = (name: string, width: number) => (parts.get(name)?.length ?? 1) % width === 0;
  if (!whole('terms', 16) || !whole('postings', 4) || !whole('postings.large', 24)) return false;
  const pairs = arrayOf(Float64Array, parts, 'terms');
  const entries = arrayOf(Uint32Array, parts, 'postings');
  let many = 0;
  for (let start = 0; start < entries.length; start += NUMBERS) {
    const found = largeAmong(entries, start, Math.min(entries.length, start + NUMBERS), index.size);
    if (found < 0) return false;
    many += found;
    yield;
  }
  const terms = new Float64Array(pairs.length / 2);
  const starts = new Uint32Array(terms.length + 1);
  for (let place = 0; place < terms.length; place += STEP) {
    if (!takeTerms(pairs, place, Math.min(terms.length, place + STEP), terms, starts)) return false;
    yield;
  }
  if (starts[terms.length] !== entries.length) return false;
  const large = largeOf(arrayOf(Float64Array, parts, 'postings.large'), { terms, starts, entries });
  if (large?.count !== many) return false;
  index.postings = createPostings({ terms, starts, entries, large: large.of });
  return true;
}

/** Sets where the entries of some terms begin. Returns false if a term has none, or if terms do not ascend. */
function takeTerms(
  pairs: Float64Array,
  from: number,
  to: number,
  terms: Float64Array,
  starts: Uint32Array,
): boolean {
  let last = terms[from - 1] ?? -Infinity;
  let end = starts[from]!;
  for (let place = from; place < to; place++) {
    const term = pairs[2 * place]!;
    const count = pairs[2 * place + 1]!;
    if (!(term > last && count > 0 && Number.isInteger(count))) return false;
    terms[place] = term;
    last = term;
    end += count;
    starts[place + 1] = end;
  }
  // Differs if the sum exceeded 32 bits.
  return end === starts[to];
}

/**
 * Counts the entries whose frequency is stored elsewhere. Returns −1 if an entry has frequency 0, or a row that does
 * not exist.
 */
function largeAmong(entries: Uint32Array, from: number, to: number, size: number): number {
  let wrong = 0;
  let many = 0;
  for (let at = from; at < to; at++) {
    const entry = entries[at]!;
    const frequency = entry & LARGE;
    wrong |= (size - 1 - rowOf(entry)) | (frequency - 1);
    many += (frequency + 1) >> 5;
  }
  return wrong < 0 ? -1 : many;
}

/** Returns the large frequencies by the place of the term; `undefined` if one belongs to no entry. */
function largeOf(
  triples: Float64Array,
  { terms, starts, entries }: Omit<PackedPostings, 'large'>,
): { readonly of: Map<number, Map<number, number>>; readonly count: number } | undefined {
  const of = new Map<number, Map<number, number>>();
  for (let at = 0; at < triples.length; at += 3) {
    const [term, row, frequency] = [triples[at]!, triples[at + 1]!, triples[at + 2]!];
    const place = placeOfTerm(terms, term);
    if (place < 0 || !(frequency >= LARGE && frequency <= 0xffff_ffff)) return undefined;
    const found = entries.subarray(starts[place], starts[place + 1]);
    if (
      frequencyIn({ entries: found, count: found.length, large: new Map([[row, frequency]]) }, row) !==
      frequency
    )
      return undefined;
    const rows = of.get(place);
    if (rows) rows.set(row, frequency);
    else of.set(place, new Map([[row, frequency]]));
  }
  let count = 0;
  for (const rows of of.values()) count += rows.size;
  return { of, count };
}

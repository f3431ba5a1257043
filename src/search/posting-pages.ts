import { frequencyIn } from './lexical.ts';
import { arrayOf, asBytes, NUMBERS, type PageParts, STEP } from './parts.ts';
import { createPostings, entryOf, frequencyOf, LARGE, type PackedPostings, rowOf } from './postings.ts';
import type { ResidentIndex } from './resident-index.ts';

/** Three arrays: term and number of its entries in turn; all entries; term, row and frequency in turn of the large ones. */
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
  for (const [term, postings] of index.postings) {
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

/** Returns false when the parts do not fit together. */
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
  for (let at = 0; at < terms.length; at++) {
    const start = starts[at]!;
    const end = start + pairs[2 * at + 1]!;
    if (!(end > start && end <= entries.length)) return false;
    terms[at] = pairs[2 * at]!;
    starts[at + 1] = end;
    if (at % STEP === 0) yield;
  }
  const places: Map<number, number> = new Map();
  for (let place = 0; place < terms.length; place++) {
    places.set(terms[place]!, place);
    if (place % STEP === 0) yield;
  }
  const large = largeOf(arrayOf(Float64Array, parts, 'postings.large'), { places, starts, entries });
  if (large?.count !== many) return false;
  index.postings = createPostings({
    places: places as PackedPostings['places'],
    starts,
    entries,
    large: large.of,
  });
  return starts[terms.length] === entries.length;
}

/** How many of some entries have a frequency that is written elsewhere; −1 where one has none, or a row that there is not. */
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

/** What is written of large frequencies, by the place of the term; `undefined` where it is of no entry. */
function largeOf(
  triples: Float64Array,
  { places, starts, entries }: Pick<PackedPostings, 'starts' | 'entries'> & { places: Map<number, number> },
): { readonly of: Map<number, Map<number, number>>; readonly count: number } | undefined {
  const of = new Map<number, Map<number, number>>();
  for (let at = 0; at < triples.length; at += 3) {
    const [term, row, frequency] = [triples[at]!, triples[at + 1]!, triples[at + 2]!];
    const place = places.get(term);
    if (place === undefined || !(frequency >= LARGE && frequency <= 0xffff_ffff)) return undefined;
    const found = entries.subarray(starts[place]!, starts[place + 1]!);
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

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexed, vocabulary } from '../testing/index-oracle.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { decodePages, encodePages } from './pages.ts';
import {
  addPosting,
  createPostings,
  entryOf,
  frequencyOf,
  MOST_ROWS,
  noPostings,
  type Postings,
  rowOf,
} from './postings.ts';
import { createResidentIndex, putMemory, removeMemory, reserve } from './resident-index.ts';

const postingsOf = (rows: readonly number[]): Postings => {
  const postings = noPostings();
  for (const row of rows) addPosting(postings, row, row + 1);
  return postings;
};

const rowsOf = (postings: Postings | undefined) =>
  postings && {
    rows: [...postings.entries.subarray(0, postings.count)].map(rowOf),
    frequencies: [...postings.entries.subarray(0, postings.count)].map((entry) =>
      frequencyOf(postings, entry),
    ),
  };

describe('createPostings', () => {
  const term = fc.integer({ min: 0, max: 12 });
  const rows = fc.array(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constantFrom(30, 40)), {
    minLength: 1,
    maxLength: 4,
  });
  const step = fc.oneof(
    fc.record({ get: term }),
    fc.record({ set: term, rows }),
    fc.constant({ list: true } as const),
  );

  it('behaves as a map of what was packed, whatever is read and set in whatever order', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(term, rows), { selector: ([each]) => each }),
        fc.array(step, { maxLength: 20 }),
        (given, steps) => {
          const packed = given.toSorted(([a], [b]) => a - b);
          const starts = [0];
          for (const [, list] of packed) starts.push((starts.at(-1) ?? 0) + list.length);
          const all = packed.flatMap(([, list]) => list);
          const postings = createPostings({
            terms: Float64Array.from(packed, ([each]) => each),
            starts: Uint32Array.from(starts),
            entries: Uint32Array.from(all, (row) => entryOf(row, row + 1)),
            large: new Map(
              packed.map(([, list], place) => [place, postingsOf(list).large ?? new Map<number, number>()]),
            ),
          });
          const expected = new Map(packed.map(([each, list]) => [each, postingsOf(list)]));
          for (const each of steps) {
            if ('get' in each) expect(rowsOf(postings.get(each.get))).toEqual(rowsOf(expected.get(each.get)));
            else if ('set' in each) {
              postings.set(each.set, postingsOf(each.rows));
              expected.set(each.set, postingsOf(each.rows));
            } else {
              const list = [...postings].map(([key, value]) => [key, rowsOf(value)]);
              expect(list).toEqual([...expected].map(([key, value]) => [key, rowsOf(value)]));
            }
            expect(postings.size).toBe(expected.size);
            expect([...postings.keys()]).toEqual([...expected.keys()]);
          }
        },
      ),
    );
  });

  it('gives the same postings again, so that what is added to them stays', () => {
    const postings = createPostings({
      terms: Float64Array.of(7),
      starts: Uint32Array.of(0, 1),
      entries: Uint32Array.of(entryOf(3, 1)),
      large: new Map(),
    });
    const found = postings.get(7);
    expect(found?.count).toBe(1);
    if (found) found.count = 0;
    expect(postings.get(7)?.count).toBe(0);
  });

  it('is empty without packed ones', () => {
    expect(createPostings().size).toBe(0);
    expect(createPostings().get(0)).toBe(undefined);
  });
});

describe('addPosting', () => {
  const frequency = fc.constantFrom(1, 2, 30, 31, 32, 255, 70_000, 0xffff_ffff);

  it('keeps any frequency, of any row that an index has', () => {
    fc.assert(
      fc.property(fc.array(frequency, { maxLength: 40 }), fc.boolean(), (counts, areLast) => {
        const postings = noPostings();
        const rows = counts.map((_, at) => (areLast ? MOST_ROWS - counts.length + at : at));
        counts.forEach((count, at) => {
          addPosting(postings, rows[at]!, count);
        });
        expect(rowsOf(postings)).toEqual({ rows, frequencies: counts });
        expect(postings.large?.size ?? 0).toBe(counts.filter((count) => count >= 31).length);
      }),
    );
  });

  it('is saved with the pages, and damage is noticed', () => {
    fc.assert(
      fc.property(
        fc.array(frequency, { minLength: 1, maxLength: vocabulary.length }),
        fc.nat(),
        (counts, place) => {
          const index = createResidentIndex();
          // The frequencies of rows are other ones, and a row that is gone changes the numbers of those after it.
          for (const row of [0, 1, 2]) {
            const words = new Map(counts.map((count, at) => [vocabulary[at]!, row === 1 ? count : 1]));
            putMemory(
              index,
              indexed(row, sampleMemory({ id: `m${row}` }), { terms: words, vector: undefined }),
            );
          }
          removeMemory(index, 0);
          const parts = encodePages(index);
          const decoded = decodePages(parts)!;
          counts.forEach((count, term) => {
            expect(rowsOf(decoded.postings.get(term))).toEqual({ rows: [0, 1], frequencies: [count, 1] });
          });
          const damaged = (name: string, change: (numbers: Float64Array | Uint32Array) => void) => {
            const bytes = parts.get(name)!.slice();
            change(new (name === 'postings' ? Uint32Array : Float64Array)(bytes.buffer));
            return decodePages(new Map([...parts, [name, bytes] as const]));
          };
          const entry = place % (2 * counts.length);
          const change = (to: number) =>
            damaged('postings', (all) => {
              all[entry] = to;
            });
          expect(change(entryOf(2, 1))).toBeUndefined();
          expect(change(entryOf(entry % 2, 0))).toBeUndefined();
          const isLarge = entry % 2 === 0 && counts[entry >> 1]! >= 31;
          expect(change(entryOf(entry % 2, isLarge ? 1 : 31))).toBeUndefined();
          const large = counts.filter((count) => count >= 31).length;
          const triples = parts.get('postings.large')!;
          expect(triples).toHaveLength(24 * large);
          for (const length of [8, 24 * (large + 1)]) {
            expect(
              decodePages(new Map([...parts, ['postings.large', new Uint8Array(length)]])),
            ).toBeUndefined();
          }
          if (large === 0) return;
          const wrong: readonly (readonly [at: number, to: number])[] = [
            [0, 99],
            [1, 1],
            [2, 30],
            [2, 2 ** 32],
            [2, Number.NaN],
          ];
          for (const [at, to] of wrong) {
            const found = damaged('postings.large', (all) => {
              all[3 * (place % large) + at] = to;
            });
            expect(found).toBeUndefined();
          }
          if (large === 1) return;
          const twice = damaged('postings.large', (all) => {
            all.copyWithin(0, 3, 6);
          });
          expect(twice).toBeUndefined();
        },
      ),
    );
  });

  it('is refused beyond the most rows that an index can number', () => {
    const index = createResidentIndex();
    expect(() => reserve(index, MOST_ROWS + 1)).toThrow(
      'a space holds at most 134,217,728 memories; put some of them into another space',
    );
    expect(index.alive).toHaveLength(0);
  });
});

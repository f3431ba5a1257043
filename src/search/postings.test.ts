import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexed, vocabulary } from '../testing/index-oracle.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { decodePages, encodePages } from './pages.ts';
import { addPosting, createPostings, type GrowingPostings, noPostings } from './postings.ts';
import { createResidentIndex, putMemory } from './resident-index.ts';

const postingsOf = (rows: readonly number[]): GrowingPostings => ({
  rows: Uint32Array.from(rows),
  frequencies: Uint32Array.from(rows, (row) => row + 1),
  count: rows.length,
});

const widthOf = (counts: readonly number[]) => {
  const most = Math.max(...counts, 0);
  return most > 65_535 ? 4 : most > 255 ? 2 : 1;
};

const rowsOf = (postings: GrowingPostings | undefined) =>
  postings && {
    rows: [...postings.rows.subarray(0, postings.count)],
    frequencies: [...postings.frequencies.subarray(0, postings.count)],
  };

describe('createPostings', () => {
  const term = fc.integer({ min: 0, max: 12 });
  const rows = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 4 });
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
        (packed, steps) => {
          const starts = [0];
          for (const [, list] of packed) starts.push((starts.at(-1) ?? 0) + list.length);
          const all = packed.flatMap(([, list]) => list);
          const postings = createPostings({
            places: new Map(packed.map(([each], place) => [each, place])),
            starts: Uint32Array.from(starts),
            rows: Uint32Array.from(all),
            frequencies: Uint32Array.from(all, (row) => row + 1),
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
      places: new Map([[7, 0]]),
      starts: Uint32Array.of(0, 1),
      rows: Uint32Array.of(3),
      frequencies: Uint32Array.of(1),
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
  it('keeps frequencies in a byte each, until one does not fit', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(1, 2, 255, 256, 70_000), { maxLength: 40 }), (counts) => {
        const postings = noPostings();
        counts.forEach((count, row) => {
          addPosting(postings, row, count);
        });
        expect(rowsOf(postings)).toEqual({ rows: [...counts.keys()], frequencies: counts });
        expect(postings.frequencies.BYTES_PER_ELEMENT).toBe(widthOf(counts));
      }),
    );
  });

  it.each([[1], [255], [256, 3], [3, 256]])('is saved with the pages: %j', (...counts) => {
    const index = createResidentIndex();
    const words = new Map(counts.map((count, at) => [vocabulary[at]!, count]));
    putMemory(index, indexed(0, sampleMemory({ id: 'one' }), { terms: words, vector: undefined }));
    const parts = encodePages(index);
    expect(parts.get('posting.frequencies')).toHaveLength(counts.length * widthOf(counts));
    const decoded = decodePages(parts)!;
    counts.forEach((count, term) => {
      expect(rowsOf(decoded.postings.get(term))).toEqual({ rows: [0], frequencies: [count] });
    });
    for (const length of [0, 2 * counts.length + 1, 3 * counts.length, 8 * counts.length]) {
      const damaged = new Map([...parts, ['posting.frequencies', new Uint8Array(length)] as const]);
      expect(decodePages(damaged)).toBeUndefined();
    }
  });
});

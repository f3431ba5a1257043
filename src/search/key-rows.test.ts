import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createKeyRows } from './key-rows.ts';

/** Keys as stores give them: counted up, a few of them far off, and what is no key of an array at all. */
const arbitraryKey = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 3000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 3000, max: 20_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 31, 2 ** 53 - 1, -1, 1.5, 1023, 1024, 1025) },
);

test('rows are found by their keys as in a map, whatever was set and deleted before', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 2000 }),
      fc.constantFrom(1, 2, 900, 5000, 2 ** 40),
      fc.array(fc.tuple(arbitraryKey, fc.option(fc.nat({ max: 2 ** 31 - 2 }), { nil: undefined, freq: 3 })), {
        maxLength: 300,
      }),
      fc.nat({ max: 2000 }),
      fc.nat({ max: 2000 }),
      (before, first, steps, gap, middle) => {
        // Rows below `gap` have consecutive keys, and so have those from there on.
        const keys = Array.from({ length: before }, (_, row) => first + row + (row < gap ? 0 : 3));
        const rows = createKeyRows();
        const naive = new Map<number, number>();
        rows.take(keys, 0, Math.min(middle, before));
        rows.take(keys, Math.min(middle, before), before);
        keys.forEach((key, row) => {
          naive.set(key, row);
        });
        expect(new Map(rows)).toEqual(naive);
        for (const [asked, row] of steps) {
          // As often near the keys that there are.
          const key = row !== undefined && row % 2 === 0 ? asked : asked + first;
          if (row === undefined) {
            rows.delete(key);
            naive.delete(key);
          } else {
            rows.set(key, row);
            naive.set(key, row);
          }
          expect([rows.get(key), rows.has(key), rows.size]).toEqual([
            naive.get(key),
            naive.has(key),
            naive.size,
          ]);
        }
        for (const [key] of steps) {
          expect(rows.get(key)).toBe(naive.get(key));
          expect(rows.get(key + first)).toBe(naive.get(key + first));
        }
        expect(new Map(rows)).toEqual(naive);
      },
    ),
  );
});

test('a row that is set again, or ahead of others, leaves the other keys of the run as they are', () => {
  const rows = createKeyRows();
  for (const [key, row] of [
    [10, 0],
    [11, 1],
    [11, 1],
    [15, 5],
    [10, 0],
  ] as const)
    rows.set(key, row);
  expect(rows.size).toBe(3);
  expect([...rows]).toEqual([
    [10, 0],
    [11, 1],
    [15, 5],
  ]);
  expect(rows.get(12)).toBeUndefined();
});

test('a distant key is there once when the array has grown beyond it', () => {
  const rows = createKeyRows();
  rows.set(3000, 5000);
  for (let key = 0; key < 1000; key++) rows.set(key, key);
  const before = rows.bytes();
  rows.set(3500, 1000);
  expect(rows.bytes()).toBeGreaterThan(before);
  rows.set(3000, 1001);
  expect([...rows].filter(([key]) => key >= 1000)).toEqual([
    [3000, 1001],
    [3500, 1000],
  ]);
  rows.delete(3000);
  expect([...rows].filter(([key]) => key >= 1000)).toEqual([[3500, 1000]]);
  expect(rows.size).toBe(1001);
});

test('consecutive keys take no space, changed ones four bytes and spare room, distant ones no array', () => {
  const rows = createKeyRows();
  for (let key = 1; key <= 10_000; key++) rows.set(key, key - 1);
  expect(rows.bytes()).toBe(0);
  rows.set(10_001, 10_000);
  expect([rows.bytes(), rows.get(10_001), rows.get(10_002), rows.get(1.5)]).toEqual([
    0,
    10_000,
    undefined,
    undefined,
  ]);
  rows.delete(7);
  expect([rows.size, rows.get(7), rows.get(8)]).toEqual([10_000, undefined, 7]);
  expect(rows.bytes()).toBeGreaterThan(4 * 10_000);
  expect(rows.bytes()).toBeLessThanOrEqual(4 * 1.5 * 10_001);
  const apart = createKeyRows();
  for (let at = 0; at < 100; at++) apart.set(2 ** 40 + at * 1e6, at);
  expect(apart.bytes()).toBeLessThan(100 * 100);
});

test.each([1, 2000, 5000])(
  'taking keys with a gap at %i makes an array of the length that they need',
  (gap) => {
    const keys = Float64Array.from({ length: 10_000 }, (_, row) => (row < gap ? row : row + 10));
    const rows = createKeyRows();
    rows.take(keys, 0, 4000);
    expect(rows.bytes()).toBe(gap > 4000 ? 0 : 4 * 10_010);
    rows.take(keys, 4000, 10_000);
    expect(rows.bytes()).toBe(4 * 10_010);
    expect([rows.size, rows.get(gap - 1), rows.get(gap + 5), rows.get(10_009)]).toEqual([
      10_000,
      gap - 1,
      undefined,
      9999,
    ]);
  },
);

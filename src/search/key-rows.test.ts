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
      fc.array(fc.tuple(arbitraryKey, fc.option(fc.nat({ max: 2 ** 31 - 2 }), { nil: undefined, freq: 3 })), {
        maxLength: 300,
      }),
      (before, steps) => {
        const rows = createKeyRows();
        const naive = new Map<number, number>();
        for (let key = 1; key <= before; key++) {
          rows.set(key, key - 1);
          naive.set(key, key - 1);
        }
        for (const [key, row] of steps) {
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
        for (const [key] of steps) expect(rows.get(key)).toBe(naive.get(key));
        expect(new Map(rows)).toEqual(naive);
      },
    ),
  );
});

test('keys that are counted up take four bytes each and what growing leaves over, those far apart no array', () => {
  const rows = createKeyRows();
  for (let key = 1; key <= 10_000; key++) rows.set(key, key - 1);
  expect(rows.bytes()).toBeLessThanOrEqual(4 * 1.5 * 10_001);
  const apart = createKeyRows();
  for (let at = 0; at < 100; at++) apart.set(2 ** 40 + at * 1e6, at);
  expect(apart.bytes()).toBeLessThan(100 * 100);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeAfter, placeOf } from './lexical.ts';

/** Ascending rows, in which few or many are missing. */
const ascending = fc
  .uniqueArray(fc.oneof(fc.nat(30), fc.nat(3000)), { maxLength: 40 })
  .map((rows) => Int32Array.from(rows).sort());

test('placeOf finds the first place, from `low` on, whose row is not less', () => {
  fc.assert(
    fc.property(ascending, fc.nat(3010), fc.nat(45), (rows, row, from) => {
      const low = Math.min(from, rows.length);
      const found = rows.findIndex((each, at) => at >= low && each >= row);
      const expected = found < 0 ? rows.length : found;
      expect(placeOf(rows, row, low)).toBe(expected);
      expect(placeAfter(rows, row, low)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test('placeAfter finds the place of a row from each place before it', () => {
  fc.assert(
    fc.property(ascending, (rows) => {
      rows.forEach((row, place) => {
        for (let low = 0; low <= place; low++) expect(placeAfter(rows, row, low)).toBe(place);
      });
    }),
  );
});

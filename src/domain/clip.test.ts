import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clip } from './clip.ts';

describe('clip', () => {
  test.each([
    ['short', 5, 'short'],
    ['longer', 5, 'long…'],
    ['ab😀cd', 4, 'ab…'],
    ['ab😀cd', 5, 'ab😀…'],
    ['a👩‍👧b', 5, 'a…'],
    ['e\u0301e\u0301e\u0301', 4, 'e\u0301…'],
  ])('%j in %d is %j', (text, most, expected) => {
    expect(clip(text, most)).toBe(expected);
  });

  test('is well-formed and no longer than allowed', () => {
    const text = fc.string({ unit: 'binary', maxLength: 30 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 20 }), (each, most) => {
        const cut = clip(each, most);
        expect(cut.length).toBeLessThanOrEqual(most);
        expect(cut.isWellFormed()).toBe(true);
        if (each.length <= most) expect(cut).toBe(each);
        else expect(each.startsWith(cut.slice(0, -1))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

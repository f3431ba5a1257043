import { expect, test } from 'vitest';
import { asQuery, LONGEST_QUERY } from './query.ts';

test('a query of a longer text is its beginning, cut at a whole character', () => {
  const most = 'x'.repeat(LONGEST_QUERY);
  expect(asQuery(most)).toBe(most);
  expect(asQuery(`${most}y`)).toBe(most);
  const before = 'x'.repeat(LONGEST_QUERY - 1);
  for (const character of ['😀', 'e\u0301', '👩\u200d👩']) expect(asQuery(before + character)).toBe(before);
});

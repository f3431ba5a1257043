import { expect, test } from 'vitest';
import { addTo } from './lists.ts';

test('a value is added to the list of its key, which is not copied', () => {
  const lists = new Map<string, number[]>();
  addTo(lists, 'a', 1);
  const first = lists.get('a');
  addTo(lists, 'b', 2);
  addTo(lists, 'a', 3);
  expect([...lists]).toEqual([
    ['a', [1, 3]],
    ['b', [2]],
  ]);
  expect(lists.get('a')).toBe(first);
});

import { expect, test } from 'vitest';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import { indexOf, plainStore, relationsOf } from '../testing/index-oracle.ts';
import { beliefColumns } from './belief-columns.ts';
import { ELIGIBLE, eligibleRows, OUTSIDE } from './eligible.ts';
import { removeMemory } from './resident-index.ts';

test('where nothing is hidden all rows are eligible, and a dead one is not', () => {
  const memories = plainStore(1, 3);
  const index = indexOf(memories);
  const relations = relationsOf(memories, []);
  const look = () =>
    eligibleRows(index, beliefColumns(index, relations, {}, ARBITRARY_NOW), {}, ARBITRARY_NOW);
  expect(look()).toEqual({
    rows: Int32Array.of(0, 1, 2),
    standing: Uint8Array.of(ELIGIBLE, ELIGIBLE, ELIGIBLE),
    filtered: 3,
  });
  removeMemory(index, 1);
  expect(look()).toEqual({
    rows: Int32Array.of(0, 2),
    standing: Uint8Array.of(ELIGIBLE, OUTSIDE, ELIGIBLE),
    filtered: 2,
  });
});

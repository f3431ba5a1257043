import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { resolveProfile } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { beliefColumns, columnsOf } from './belief-columns.ts';
import { readyFor } from './ready.ts';
import { createResidentIndex, type ResidentIndex } from './resident-index.ts';

/** Makes a formula ready for a query; returns a way to see whether that is still held. */
function ready(index: ResidentIndex): WeakRef<object> {
  const query = { known: () => true };
  const belief = beliefColumns(index, { successors: new Map(), newer: new Map() }, {}, 0);
  const profile = resolveProfile(builtinProfile('hybrid'));
  readyFor(index, { profile, belief }, columnsOf(index.columns, belief), { known: () => query.known() });
  return new WeakRef(query);
}

test('a kept formula does not hold on to the query that it was compiled for', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const indexes = Array.from({ length: 50 }, createResidentIndex);
  const queries = indexes.map(ready);
  // What a WeakRef was just made of stays until the present job is done.
  await new Promise(setImmediate);
  collect();
  // The engine itself may hold on to a few, as while it compiles their functions: formulas would hold on to all.
  expect(queries.filter((query) => query.deref()).length).toBeLessThan(25);
  expect(indexes.every((index) => index.version === 0)).toBe(true);
});

import { expect, test } from 'vitest';
import type { Columns, KeptColumn } from '../scoring/compile.ts';
import { resolveProfile } from '../scoring/profile.ts';
import { defineProfile } from '../scoring/score.ts';
import { createKept } from './kept.ts';

const now = Date.UTC(2026, 0, 1);
const day = 86_400_000;
const columns: Columns = {
  signal: () => Float64Array.of(0.2, 0.4),
  clock: () => Float64Array.of(now - 10 * day, now - 20 * day),
  attribute: () => ({ codes: Uint16Array.of(0, 0), texts: ['global'] }),
};

/** A formula for each number of days, and for each share of a scope. */
function fading(halfLife: number, share = 1) {
  const score = {
    op: 'product',
    of: [
      { op: 'decay', age: { op: 'age', of: 'updatedAt' }, halfLife, missing: 0 },
      { op: 'table', by: 'scope', cases: { global: share }, otherwise: 0 },
    ],
  } as const;
  return resolveProfile(defineProfile({ name: 'fading', description: 'Fades.', score })).root;
}

const MINUTE = 60_000;

/** With the first rows worked out. */
function workedOut(column: KeptColumn, rows = 2): KeptColumn {
  column.workOut?.(
    Int32Array.from({ length: rows }, (_, row) => row),
    rows,
  );
  return column;
}

test.each([
  ['an hour', 1 / 24, 1],
  ['half a day', 0.5, 10],
  ['ten days', 10, 60],
  ['a month', 30, 6 * 60],
  ['three years', 1000, 24 * 60],
])(
  'what has a half-life of %s is kept as long as it stays narrow, and made anew after that or before it',
  (_, halfLife, minutes) => {
    const kept = createKept(2).at;
    const formula = fading(halfLife);
    const until = now + minutes * MINUTE;
    const first = kept(now)(formula, columns);
    for (const later of [now, now + 1, until]) expect(kept(later)(formula, columns)).toBe(first);
    const second = kept(until + 1)(formula, columns);
    expect(second).not.toBe(first);
    expect(kept(until + 1)(formula, columns)).toBe(second);
    // The clock went back.
    expect(kept(until)(formula, columns)).not.toBe(second);
    workedOut(first);
    for (const [at, days] of [10, 20].entries()) {
      expect(first.low[at]).toBeLessThanOrEqual(2 ** (-(days + (minutes * MINUTE) / day) / halfLife));
      expect(first.high[at]).toBeGreaterThanOrEqual(2 ** (-days / halfLife));
      if (minutes > 1) expect(first.high[at]! - first.low[at]!).toBeLessThan(1 / 64);
    }
  },
);

test('bounds made ahead are kept as long as bounds made at once', () => {
  const kept = createKept(2);
  for (const _ of kept.ahead(now, fading(30), columns, true) ?? []);
  const made = kept.at(now)(fading(30), columns);
  expect(kept.at(now + 6 * 60 * MINUTE)(fading(30), columns)).toBe(made);
  expect(kept.at(now + 6 * 60 * MINUTE + 1)(fading(30), columns)).not.toBe(made);
});

test('the sample includes the last row; without rows, bounds are kept for a day', () => {
  const mixed: Columns = {
    ...columns,
    clock: () => Float64Array.from({ length: 300 }, (_, row) => (row === 299 ? now : now - 9000 * day)),
    attribute: () => ({ codes: new Uint16Array(300), texts: ['global'] }),
  };
  const kept = createKept(300).at;
  const made = kept(now)(fading(0.1), mixed);
  expect(kept(now + MINUTE)(fading(0.1), mixed)).toBe(made);
  expect(kept(now + MINUTE + 1)(fading(0.1), mixed)).not.toBe(made);
  const none = createKept(0).at;
  const empty = none(now)(fading(1), columns);
  expect(none(now + 24 * 60 * MINUTE)(fading(1), columns)).toBe(empty);
});

test('formulas that differ only in a table have different keys', () => {
  const kept = createKept(2).at(now);
  expect(workedOut(kept(fading(10, 1), columns)).high[0]).toBeCloseTo(0.5, 5);
  expect(workedOut(kept(fading(10, 0.5), columns)).high[0]).toBeCloseTo(0.25, 5);
});

test('eight formulas are kept: the ninth replaces the oldest', () => {
  const kept = createKept(2).at(now);
  const made = Array.from({ length: 8 }, (_, at) => kept(fading(at + 1), columns));
  for (const [at, each] of made.entries()) expect(kept(fading(at + 1), columns)).toBe(each);
  kept(fading(9), columns);
  for (const [at, each] of made.entries()) {
    if (at > 0) expect(kept(fading(at + 1), columns)).toBe(each);
  }
  expect(kept(fading(1), columns)).not.toBe(made[0]);
});

test('a formula that was recomputed counts as the newest', () => {
  const kept = createKept(2).at;
  for (let at = 1; at <= 8; at++) kept(now)(fading(at), columns);
  const later = now + 2 * day;
  const renewed = kept(later)(fading(1), columns);
  kept(later)(fading(9), columns);
  expect(kept(later)(fading(1), columns)).toBe(renewed);
});

test('bounds made ahead in steps are found afterwards, and equal those made row by row', () => {
  const kept = createKept(2);
  const lazy = kept.at(now)(fading(10), columns);
  const steps = kept.ahead(now, fading(10), columns, true);
  expect([...(steps ?? [])]).toHaveLength(1);
  expect(kept.ahead(now, fading(10), columns, true)).toBeUndefined();
  const found = kept.at(now)(fading(10), columns);
  expect(found).not.toBe(lazy);
  expect(found.workOut).toBeUndefined();
  const { low, high } = workedOut(lazy);
  expect(found).toMatchObject({ low, high });
  expect(kept.at(now + 60_000)(fading(10), columns)).toBe(found);
});

test('a row is bounded once, when it is first read; a change recomputes only the changed rows', () => {
  const ages = Float64Array.from([10, 20, 30, 40, 50], (days) => now - days * day);
  const five: Columns = {
    ...columns,
    clock: () => ages,
    attribute: () => ({ codes: new Uint16Array(5), texts: ['global'] }),
  };
  const kept = createKept(5);
  const column = kept.at(now)(fading(10), five);
  expect(column.range).toEqual([0, 1]);
  column.workOut?.(Int32Array.of(1, 0, 2), 2);
  expect([...column.high]).toEqual(
    [0.5, 0.25, -Infinity, -Infinity, -Infinity].map((each) => expect.closeTo(each, 6)),
  );
  ages.fill(now);
  column.workOut?.(Int32Array.of(0, 1), 2);
  expect(column.high[0]).toBeCloseTo(0.5, 6);
  kept.follow([0], 5);
  const after = kept.at(now)(fading(10), five);
  expect(after.high[0]).toBeCloseTo(1, 6);
  expect(after.high[2]).toBe(-Infinity);
  expect(workedOut(after, 3).high[1]).toBeCloseTo(0.25, 6);
  expect(after.high[2]).toBeCloseTo(1, 6);
  expect(after.low[2]).toBeGreaterThan(0.9);
});

test('making ahead is lazy unless all rows are wanted, and goes in steps if an age is unknown', () => {
  const kept = createKept(2);
  expect([...(kept.ahead(now, fading(10), columns, false) ?? [])]).toHaveLength(0);
  const lazy = kept.at(now)(fading(10), columns);
  expect(lazy.workOut).toBeDefined();
  expect(kept.ahead(now, fading(10), columns, false)).toBeUndefined();
  expect(kept.at(now)(fading(10), columns)).toBe(lazy);
  const unknown: Columns = { ...columns, clock: () => Float64Array.of(now, Number.NaN) };
  expect([...(kept.ahead(now, fading(1), unknown, false) ?? [])]).toHaveLength(1);
  expect(kept.at(now)(fading(1), unknown).workOut).toBeUndefined();
});

test('if the age of a row is unknown, all rows are bounded at once to know if the formula can be evaluated', () => {
  const unknown: Columns = { ...columns, clock: () => Float64Array.of(now, Number.NaN) };
  const { workOut, high } = createKept(2).at(now)(fading(10), unknown);
  expect(workOut).toBeUndefined();
  expect([...high]).toEqual([expect.closeTo(1, 6), expect.closeTo(0, 6)]);
});

test('recomputed rows are listed until the arrays are replaced or the list is too long', () => {
  const size = 5000;
  const ages = new Float64Array(2 * size).fill(now - 10 * day);
  const many: Columns = {
    ...columns,
    clock: () => ages,
    attribute: () => ({ codes: new Uint16Array(2 * size), texts: ['global'] }),
  };
  const kept = createKept(size);
  const column = () => kept.at(now)(fading(10), many);
  const { high } = column();
  const change = (rows: readonly number[], newSize = size) => {
    for (const row of rows) ages[row]! -= day;
    kept.follow(rows, newSize);
    const found = column();
    for (const row of rows) expect(found.high[row]).toBeCloseTo(2 ** ((ages[row]! - now) / day / 10), 5);
    return found;
  };
  expect(change([3, 5]).renewed).toEqual([3, 5]);
  expect(change([5])).toMatchObject({ renewed: [3, 5, 5] });
  expect(column().high).toBe(high);
  const most = change(Array.from({ length: 1250 }, (_, at) => at));
  expect(most.renewed).toHaveLength(1253);
  for (let round = 0; round < 2; round++) change(Array.from({ length: 1250 }, (_, at) => at));
  const anew = change(Array.from({ length: 1250 }, (_, at) => at));
  expect(anew.high).not.toBe(high);
  expect(anew.renewed).toEqual([]);
  const grown = change([size], size + 1);
  expect(grown.high).not.toBe(anew.high);
  expect(grown.renewed).toEqual([]);
});

test('many changed rows are recomputed ahead in steps, a few on demand', () => {
  const size = 10_000;
  const ages = new Float64Array(size).fill(now - 10 * day);
  const many: Columns = {
    ...columns,
    clock: () => ages,
    attribute: () => ({ codes: new Uint16Array(size), texts: ['global'] }),
  };
  const kept = createKept(size);
  for (const _ of kept.ahead(now, fading(10), many, true) ?? []);
  const change = (count: number) => {
    for (let row = 0; row < count; row++) ages[row]! -= day;
    kept.follow(
      Array.from({ length: count }, (_, row) => row),
      size,
    );
    return kept.ahead(now, fading(10), many, true);
  };
  expect(change(128)).toBeUndefined();
  expect(kept.at(now)(fading(10), many).high[127]).toBeCloseTo(2 ** -1.1, 6);
  const steps = change(2000);
  expect([...(steps ?? [])]).toHaveLength(2);
  // It is there, with nothing left to work out: what the clocks say now is not looked at again.
  ages.fill(now);
  const { high, renewed } = kept.at(now)(fading(10), many);
  expect([high[0], high[1999], high[2000]]).toEqual(
    [2 ** -1.2, 2 ** -1.1, 2 ** -1].map((each) => expect.closeTo(each, 6)),
  );
  expect(renewed).toHaveLength(2128);
  expect(kept.ahead(now, fading(10), many, true)).toBeUndefined();
});

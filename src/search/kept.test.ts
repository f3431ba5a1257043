import { expect, test } from 'vitest';
import type { Columns } from '../scoring/compile.ts';
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

test('bounds are kept for a minute, and made anew after it or before it', () => {
  const kept = createKept(2).at;
  const first = kept(now)(fading(10), columns);
  expect(first.high[0]).toBeCloseTo(0.5, 5);
  expect(first.high[1]).toBeCloseTo(0.25, 5);
  for (const later of [0, 1, 60_000]) expect(kept(now + later)(fading(10), columns)).toBe(first);
  const second = kept(now + 60_001)(fading(10), columns);
  expect(second).not.toBe(first);
  expect(kept(now + 60_001)(fading(10), columns)).toBe(second);
  // The clock went back.
  const third = kept(now + 60_000)(fading(10), columns);
  expect(third).not.toBe(second);
});

test('what is kept holds for all of its minute', () => {
  const short = createKept(2).at(now)(fading(10), columns);
  for (const [at, days] of [10, 20].entries()) {
    const atEnd = 2 ** (-(days + 60_000 / day) / 10);
    expect(short.low[at]).toBeLessThanOrEqual(atEnd);
    expect(short.high[at]).toBeGreaterThanOrEqual(2 ** (-days / 10));
  }
});

test('formulas that differ only in a table are told apart', () => {
  const kept = createKept(2).at(now);
  expect(kept(fading(10, 1), columns).high[0]).toBeCloseTo(0.5, 5);
  expect(kept(fading(10, 0.5), columns).high[0]).toBeCloseTo(0.25, 5);
});

test('eight formulas are kept: the ninth takes the place of that which was made first', () => {
  const kept = createKept(2).at(now);
  const made = Array.from({ length: 8 }, (_, at) => kept(fading(at + 1), columns));
  for (const [at, each] of made.entries()) expect(kept(fading(at + 1), columns)).toBe(each);
  kept(fading(9), columns);
  for (const [at, each] of made.entries()) {
    if (at > 0) expect(kept(fading(at + 1), columns)).toBe(each);
  }
  expect(kept(fading(1), columns)).not.toBe(made[0]);
});

test('one that was made anew counts as the newest', () => {
  const kept = createKept(2).at;
  for (let at = 1; at <= 8; at++) kept(now)(fading(at), columns);
  const renewed = kept(now + 60_001)(fading(1), columns);
  kept(now + 60_001)(fading(9), columns);
  expect(kept(now + 60_001)(fading(1), columns)).toBe(renewed);
});

test('what is made ahead in steps is what is found afterwards, and as it would have been made at once', () => {
  const kept = createKept(2);
  const steps = kept.ahead(now, fading(10), columns);
  expect([...(steps ?? [])]).toHaveLength(1);
  expect(kept.ahead(now, fading(10), columns)).toBeUndefined();
  const found = kept.at(now)(fading(10), columns);
  expect(found).toEqual(createKept(2).at(now)(fading(10), columns));
  expect(kept.at(now + 60_000)(fading(10), columns)).toBe(found);
});

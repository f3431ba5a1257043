import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KeptColumn } from '../scoring/compile.ts';
import { gather } from '../scoring/gather.ts';
import { resolveProfile } from '../scoring/profile.ts';
import { BUILTIN_PROFILE_NAMES, builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile } from '../scoring/score.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import { expectSame, indexOf, plainStore } from '../testing/index-oracle.ts';
import { levelsAlong, partWithLevels } from './ceilings.ts';

test('rows have levels only if a part that no query changes matters much; other parts are not computed for all rows', () => {
  const without = BUILTIN_PROFILE_NAMES.filter((name) => {
    const { root } = resolveProfile(builtinProfile(name));
    return partWithLevels(gather(root)) === undefined;
  });
  expect(without).toEqual(['hybrid', 'bm25', 'vector']);
});

test('if a part matters much for one query only, rows have no levels, and the answer is exact', async () => {
  const worth = {
    op: 'product',
    of: [
      { op: 'signal', name: 'importance' },
      { op: 'signal', name: 'usefulness' },
    ],
  } as const;
  const terms = [
    { weight: 0.45, of: { op: 'signal', name: 'similarity' } },
    { weight: 0.45, of: { op: 'signal', name: 'sessionLexical' } },
    { weight: 0.1, of: worth },
  ] as const;
  const score = { op: 'sum', terms } as const;
  const profile = resolveProfile(defineProfile({ name: 'worthy', description: 'Worth, a little.', score }));
  expect(partWithLevels(gather(profile.root))).toBeUndefined();
  for (let seed = 0; seed < 20; seed++) {
    const memories = plainStore(seed, 400);
    // Without a vector and a session, worth is all that decides.
    const query = { terms: ['birch'], vector: undefined };
    const request = { profile, query, filter: {}, now: ARBITRARY_NOW, limit: 3 };
    await expectSame(indexOf(memories), memories, memories, request);
  }
});

test('every row lies within its level, whichever rows were recomputed', () => {
  const bounds = fc.tuple(fc.constantFrom(0.1, 0.2, 0.5, 0.9), fc.constantFrom(0, 0.01, 0.3));
  fc.assert(
    fc.property(
      fc.array(bounds, { minLength: 1, maxLength: 12 }),
      fc.array(fc.array(fc.tuple(fc.nat(11), bounds), { maxLength: 3 }), { maxLength: 4 }),
      fc.constantFrom(4, 16),
      (rows, changes, count) => {
        const low = Float32Array.from(rows, ([least]) => least);
        const high = Float32Array.from(rows, ([least, more]) => least + more);
        const renewed: number[] = [];
        let range: readonly [number, number] = [Math.min(...low), Math.max(...high)];
        for (const change of [[], ...changes]) {
          for (const [at, [least, more]] of change) {
            const row = at % rows.length;
            low[row] = least;
            high[row] = least + more;
            renewed.push(row);
          }
          // As the range of what is kept: what the rows were before lies within it too.
          range = [Math.min(range[0], ...low), Math.max(range[1], ...high)];
          const column: KeptColumn = { low, high, range, renewed: [...renewed] };
          const { levels, ranges } = levelsAlong(column, range, count);
          for (let row = 0; row < rows.length; row++) {
            const [from, to] = ranges[levels.ofRow[row]!]!;
            expect(from).toBeLessThanOrEqual(low[row]!);
            expect(to).toBeGreaterThanOrEqual(high[row]!);
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('only recomputed rows get a new level', () => {
  const low = Float32Array.of(0, 0.5, 1);
  const column: KeptColumn = { low, high: low.slice(), range: [0, 1], renewed: [] };
  const first = levelsAlong(column, [0, 1], 4);
  expect([...first.levels.ofRow]).toEqual([0, 2, 3]);
  column.high[0] = 1;
  column.high[1] = 1;
  const second = levelsAlong({ ...column, renewed: [0] }, [0, 1], 4);
  expect(second.levels).toBe(first.levels);
  expect([...second.levels.ofRow]).toEqual([3, 2, 3]);
  // Of other arrays everything is looked at.
  expect([...levelsAlong({ ...column, high: column.high.slice() }, [0, 1], 4).levels.ofRow]).toEqual([
    3, 3, 3,
  ]);
});

test('rows of equal value stay within their level when one of them changes', () => {
  for (const other of [0.1, 0.9]) {
    const low = Float32Array.of(0.5, 0.5);
    const column: KeptColumn = { low, high: low.slice(), range: [0.5, 0.5], renewed: [] };
    levelsAlong(column, [0.5, 0.5], 4);
    column.low[1] = other;
    column.high[1] = other;
    const range = [Math.min(0.5, other), Math.max(0.5, other)] as const;
    const { levels, ranges } = levelsAlong({ ...column, range, renewed: [1] }, range, 4);
    for (const row of [0, 1]) {
      const [from, to] = ranges[levels.ofRow[row]!]!;
      expect(from).toBeLessThanOrEqual(column.low[row]!);
      expect(to).toBeGreaterThanOrEqual(column.high[row]!);
    }
  }
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emptyBlock } from '../scoring/operators/lanes.ts';
import { denseVector, indexed } from '../testing/index-oracle.ts';
import { sampleMemory, unitVector } from '../testing/sample-memory.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { picked, similarities } from './fill.ts';
import { createGroupLimits, followRows, groupOf, reachOf, reachOfGroup } from './groups.ts';
import { createPlainCodes, SCAN_ROWS } from './kernel/codes.ts';
import { GROUP_ROWS } from './kernel/scan.ts';
import { quantiseQuery } from './quantise.ts';
import { createResidentIndex, putMemory, type ResidentIndex } from './resident-index.ts';
import type { Skim } from './skim.ts';

const DIMENSIONS = 8;
const { fround } = Math;

/** Rows that stand beside each other are alike, so that whole groups are far from a query. */
function spaceOf(size: number, hasVector: (row: number) => boolean): ResidentIndex {
  const random = seededRandom(size);
  const index = createResidentIndex();
  let start = denseVector(random, DIMENSIONS);
  for (let row = 0; row < size; row++) {
    if (row % 150 === 0) start = denseVector(random, DIMENSIONS);
    const spread = random() < 0.02 ? 1 : 0.1;
    const vector = hasVector(row)
      ? unitVector(Array.from(start, (value) => value + spread * (random() - 0.5)))
      : undefined;
    const memory = sampleMemory({ id: `m${row}`, ordinal: row + 1 });
    putMemory(index, indexed(row, memory, { terms: new Map(), vector }));
  }
  return index;
}

const spaces = [
  spaceOf(2 * SCAN_ROWS + 77, () => true),
  spaceOf(3 * GROUP_ROWS, (row) => row !== 200),
  spaceOf(9 * GROUP_ROWS + 1, (row) => groupOf(row) !== 2),
];

/** The reach of each row, as the kernel has it, worked out for one after the other; NaN without a vector. */
function reaches(index: ResidentIndex, vector: Float32Array): readonly number[] {
  const { codes: query, scale, residual } = quantiseQuery(vector);
  const { spread, more } = reachOf(scale, residual);
  return Array.from({ length: index.size }, (_, row) => {
    const codes = index.codes!.view(row, 1);
    const product = codes.reduce((sum, code, at) => sum + code * query[at]!, 0);
    const similarity = fround(fround(fround(product) * index.scales[row]!) * fround(scale));
    return fround(fround(similarity + fround(index.residuals[row]! * fround(spread))) + fround(more));
  });
}

const search = fc.record({
  space: fc.nat(spaces.length - 1),
  seed: fc.nat(),
  /** The share of the rows that are looked at, and of those that are strong and weak. */
  looked: fc.constantFrom(1, 1, 0.9, 0.02, 0.002),
  strong: fc.constantFrom(0, 0.003, 0.3),
  weak: fc.constantFrom(0, 0.003, 0.3),
  levelCount: fc.constantFrom(1, 4, 16),
  /** The share of rows that reach more than the cuts. */
  above: fc.constantFrom(0, 0.001, 0.05, 1),
  most: fc.constantFrom(1, 64, 1024),
});

describe('rows that are passed over together', () => {
  test('are those that are passed over one by one, and the highest of them is the same', () => {
    fc.assert(
      fc.property(search, ({ space, seed, levelCount, above, most, ...shares }) => {
        const index = spaces[space]!;
        const random = seededRandom(seed);
        const all = Array.from({ length: index.size }, (_, row) => row);
        const some = (share: number) => all.filter(() => random() < share);
        const rows = some(shares.looked);
        const isLooked = new Set(rows);
        const strong = some(shares.strong).filter((row) => isLooked.has(row));
        const isStrong = new Set(strong);
        const weak = some(shares.weak).filter((row) => !isStrong.has(row));
        const vector = denseVector(random, DIMENSIONS);
        const reach = reaches(index, vector);
        const levels = { ofRow: new Uint8Array(index.size), ofGroup: new Uint16Array(index.size) };
        for (const row of all) {
          // Not all levels are in all groups.
          const level = Math.floor(random() * Math.min(levelCount, 1 + (groupOf(row) % 16)));
          levels.ofRow[row] = level;
          levels.ofGroup[groupOf(row)]! |= 1 << level;
        }
        const sorted = reach.filter((each) => !Number.isNaN(each)).sort((a, b) => b - a);
        const least = Float64Array.from({ length: 2 * levelCount }, () =>
          // Also just what a row reaches.
          fround(sorted[Math.floor(above * sorted.length * random())] ?? 1),
        );
        const classes = new Float64Array(2 * levelCount + 1);
        const skim = {
          weak: Int32Array.from(weak),
          classOf: new Uint8Array(index.size),
          levels: levelCount > 1 ? levels : undefined,
          levelCount,
          weakFrom: levelCount,
          // Nothing but the least of the cuts keeps a row out.
          cuts: new Float64Array(2 * levelCount).fill(-1),
          least,
          passed: { counts: classes.slice(), highest: classes.slice() },
        } as unknown as Skim;
        const similarity = similarities(index, vector, Int32Array.from(rows));
        const fill = picked(index, Int32Array.from(rows), Int32Array.from(strong), skim, similarity);
        const found: number[] = [];
        const block = emptyBlock(0);
        for (let isMore = true; isMore; ) {
          block.count = 0;
          isMore = fill(block, most);
          found.push(...block.rows.subarray(0, block.count));
        }
        const isWeak = new Set(weak);
        const others = rows.filter((row) => !isStrong.has(row));
        const leastOf = (row: number) =>
          least[(isWeak.has(row) ? levelCount : 0) + (levelCount > 1 ? levels.ofRow[row]! : 0)]!;
        const passed = others.filter((row) => reach[row]! <= leastOf(row));
        const isPassed = new Set(passed);
        expect(found).toEqual(others.filter((row) => !isPassed.has(row)));
        expect(skim.passed.counts.at(-1)).toBe(passed.length);
        expect(skim.passed.highest.at(-1)).toBe(Math.max(0, ...passed.map((row) => reach[row]!)));
      }),
      { numRuns: 300 },
    );
  });

  test('the rows to look at first are the most similar ones of so many each, the first where two are', () => {
    fc.assert(
      fc.property(
        fc.nat(spaces.length - 1),
        fc.nat(),
        fc.constantFrom(GROUP_ROWS, 3 * GROUP_ROWS, SCAN_ROWS),
        fc.constantFrom(1, 0.3, 0.002),
        (space, seed, together, looked) => {
          const index = spaces[space]!;
          const random = seededRandom(seed);
          const rows = Int32Array.from({ length: index.size }, (_, row) => row).filter(
            () => random() < looked,
          );
          const vector = denseVector(random, DIMENSIONS);
          const { products, tops, peaks } = similarities(index, vector, rows, together);
          const parts = [...new Set(Array.from(rows, (row) => Math.floor(row / together)))];
          expect(tops.map((row) => Math.floor(row / together))).toEqual(parts);
          for (const row of rows) {
            const top = tops[parts.indexOf(Math.floor(row / together))]!;
            expect(products[row]!).toBeLessThanOrEqual(products[top]!);
            if (products[row] === products[top]) expect(row).toBeGreaterThanOrEqual(top);
            expect(products[row]!).toBeLessThanOrEqual(peaks[groupOf(row)]!);
          }
        },
      ),
      { numRuns: 50 },
    );
  });
});

test('what a group reaches is at least what the kernel finds of any of its rows, to the bit', () => {
  const real = fc.oneof(fc.constantFrom(0, 1e-3, 1), fc.double({ min: 0, max: 1, noNaN: true }));
  const row = fc.record({
    product: fc.oneof(fc.integer(), fc.constantFrom(-0x80000000, -1, 0, 0x7fffffff)),
    scale: real,
    residual: real,
  });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 9 }), real, real, (rows, scale, residual) => {
      const { arrays, pick } = createPlainCodes(DIMENSIONS);
      arrays.states.fill(0);
      arrays.leasts.fill(Infinity);
      rows.forEach((each, at) => {
        arrays.products[at] = each.product;
        arrays.scales[at] = each.scale;
        arrays.residuals[at] = each.residual;
      });
      const reach = reachOf(scale, residual);
      pick(rows.length, reach);
      const limits = createGroupLimits();
      followRows(limits, rows.length, arrays.scales, arrays.residuals);
      const peak = Math.max(...rows.map(({ product }) => product));
      expect(reachOfGroup(limits, 0, peak, reach)).toBeGreaterThanOrEqual(arrays.highest[0]!);
    }),
    { numRuns: 2000 },
  );
});

test('groups follow the rows that come: a row without a vector stays in what is known', () => {
  const limits = createGroupLimits();
  const scales = Float32Array.from({ length: 3 * GROUP_ROWS }, (_, row) => row + 1);
  const residuals = scales.map((scale) => 2 * scale);
  followRows(limits, 5, scales, residuals);
  expect([limits.scales[0], limits.residuals[0]]).toEqual([5, 10]);
  scales[GROUP_ROWS] = Number.NaN;
  followRows(limits, GROUP_ROWS + 1, scales, residuals);
  followRows(limits, 3 * GROUP_ROWS, scales, residuals);
  expect([...limits.scales.subarray(0, 3)]).toEqual([GROUP_ROWS, Number.NaN, 3 * GROUP_ROWS]);
  expect(reachOfGroup(limits, 1, 5, reachOf(1, 0))).toBeNaN();
  expect([...limits.residuals.subarray(0, 3)]).toEqual([2, 4, 6].map((times) => times * GROUP_ROWS));
});

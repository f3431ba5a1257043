import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emptyBlock } from '../scoring/operators/lanes.ts';
import { denseVector, indexed } from '../testing/index-oracle.ts';
import { scaledRuns } from '../testing/runs.ts';
import { sampleMemory, unitVector } from '../testing/sample-memory.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { picked, similarities } from './fill.ts';
import {
  classesOfGroup,
  createGroups,
  followRows,
  groupOf,
  MOST_SESSIONS,
  productWithin,
  reachOf,
  setLine,
} from './groups.ts';
import { SCAN_ROWS } from './kernel/codes.ts';
import { GROUP_ROWS, NO_PRODUCT } from './kernel/scan.ts';
import { createPassing, passesOver } from './passing.ts';
import { dotError, quantiseQuery } from './quantise.ts';
import { createResidentIndex, putMemory, type ResidentIndex } from './resident-index.ts';
import type { Skim } from './skim.ts';

/** More than the kernel takes in a step. */
const DIMENSIONS = 20;

/** Rows that stand beside each other are alike, so that whole groups are far from a query. */
function spaceOf(
  size: number,
  hasVector: (row: number) => boolean,
  sessionOf: (row: number) => number,
): ResidentIndex {
  const random = seededRandom(size);
  const index = createResidentIndex();
  let start = denseVector(random, DIMENSIONS);
  for (let row = 0; row < size; row++) {
    if (row % 150 === 0) start = denseVector(random, DIMENSIONS);
    const spread = random() < 0.02 ? 1 : 0.1;
    const vector = hasVector(row)
      ? unitVector(Array.from(start, (value) => value + spread * (random() - 0.5)))
      : undefined;
    const memory = sampleMemory({
      id: `m${row}`,
      ordinal: row + 1,
      bornIn: sessionOf(row) === 0 ? undefined : `s${sessionOf(row)}`,
    });
    putMemory(index, indexed(row, memory, { terms: new Map(), vector }));
  }
  return index;
}

const SESSIONS = 60;

const spaces = [
  spaceOf(
    2 * SCAN_ROWS + 77,
    () => true,
    (row) => Math.floor(row / 70),
  ),
  spaceOf(
    3 * GROUP_ROWS,
    (row) => row !== 200,
    () => 0,
  ),
  // Of so many sessions in turn that not all of them are known of a group; and of just so many.
  spaceOf(
    9 * GROUP_ROWS + 1,
    (row) => groupOf(row) !== 2,
    (row) => row % (row < 600 ? 8 : 9),
  ),
];

/** How similar each row can be; NaN without a vector. */
function highs(index: ResidentIndex, vector: Float32Array): readonly number[] {
  followRows(index);
  const { codes: query, scale, residual } = quantiseQuery(vector, index.groups.leastScale);
  return Array.from({ length: index.size }, (_, row) => {
    const product = index.codes!.products(query, row, 1)[0]!;
    return scale * index.scales[row]! * product + dotError(residual, index.residuals[row]!);
  });
}

const search = fc.record({
  space: fc.nat(spaces.length - 1),
  seed: fc.nat(),
  /** The share of the rows that are looked at, and of those that are strong, and that match at all. */
  looked: fc.constantFrom(1, 1, 0.9, 0.02, 0.002),
  strong: fc.constantFrom(0, 0.003, 0.3),
  matching: fc.constantFrom(0, 0.003, 0.3),
  bandCount: fc.constantFrom(1, 2, 5),
  levelCount: fc.constantFrom(1, 4, 16),
  classCount: fc.constantFrom(1, 2, 7),
  areAlike: fc.constantFrom(true, true, true, false),
  /** The share of rows that reach more than the cuts. */
  above: fc.constantFrom(0, 0.001, 0.05, 1),
  most: fc.constantFrom(1, 64, 1024),
});

describe('rows that are skipped together', () => {
  test('would be skipped one by one too, and no class reaches more than its recorded highest similarity', () => {
    fc.assert(
      fc.property(
        search,
        ({ space, seed, levelCount, classCount, bandCount, areAlike, above, most, ...shares }) => {
          const index = spaces[space]!;
          const random = seededRandom(seed);
          const all = Array.from({ length: index.size }, (_, row) => row);
          const some = (share: number) => all.filter(() => random() < share);
          const rows = some(shares.looked);
          const isLooked = new Set(rows);
          const strong = some(shares.strong).filter((row) => isLooked.has(row));
          const isStrong = new Set(strong);
          // A strength is a band here, and strong rows have the highest one.
          const strengths = new Uint8Array(index.size);
          for (const row of some(shares.matching)) strengths[row] = Math.floor(random() * bandCount);
          for (const row of strong) strengths[row] = bandCount - 1;
          const tops = new Uint8Array(groupOf(index.size) + 1);
          strengths.forEach((each, row) => {
            tops[groupOf(row)] = Math.max(tops[groupOf(row)]!, each);
          });
          const vector = denseVector(random, DIMENSIONS);
          const high = highs(index, vector);
          const levels = { ofRow: new Uint8Array(index.size), ofGroup: new Uint16Array(index.size) };
          for (const row of all) {
            // Not all levels are in all groups.
            const level = Math.floor(random() * Math.min(levelCount, 1 + (groupOf(row) % 16)));
            levels.ofRow[row] = level;
            levels.ofGroup[groupOf(row)]! |= 1 << level;
          }
          const bandSize = classCount * levelCount;
          const classes = bandSize * bandCount;
          const sorted = high.filter((each) => !Number.isNaN(each)).sort((a, b) => b - a);
          const cuts = Float64Array.from(
            { length: classes },
            // Also just what a row reaches, and all or none of them.
            () =>
              [1, Infinity, -1][Math.floor(random() * 30)] ??
              sorted[Math.floor(above * sorted.length * random())] ??
              1,
          );
          const skim = {
            strengths: bandCount > 1 ? strengths : undefined,
            tops: bandCount > 1 ? tops : undefined,
            bandOf: Uint8Array.from({ length: bandCount }, (_, band) => band),
            bandCount,
            classOf: Uint8Array.from({ length: SESSIONS + 1 }, () => Math.floor(random() * classCount)),
            levels: levelCount > 1 ? levels : undefined,
            levelCount,
            bandSize,
            cuts,
            areAlike,
            passed: { counts: new Float64Array(classes + 1), highest: new Float64Array(classes) },
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
          const others = rows.filter((row) => !isStrong.has(row));
          const classAt = (row: number) =>
            strengths[row]! * bandSize +
            skim.classOf[index.sessions.codes[row]!]! * levelCount +
            (levelCount > 1 ? levels.ofRow[row]! : 0);
          const passed = others.filter((row) => {
            const cut = cuts[classAt(row)]!;
            return cut === Infinity || high[row]! <= cut;
          });
          const isPassed = new Set(passed);
          expect(found).toEqual(others.filter((row) => !isPassed.has(row)));
          const { counts, highest } = skim.passed;
          expect(counts.reduce((sum, count) => sum + count)).toBe(passed.length);
          // Where it matters of which class they are, each is counted with its own.
          if (!areAlike) expect(counts[classes]).toBe(0);
          for (let each = 0; each < classes; each++) {
            const reached = passed.flatMap((row) =>
              classAt(row) === each && high[row]! > 0 ? [high[row]!] : [],
            );
            expect(highest[each]).toBeGreaterThanOrEqual(Math.max(0, ...reached));
            expect(highest[each]).toBeLessThanOrEqual(Math.max(0, cuts[each]!));
            if (!areAlike) expect(highest[each]).toBe(Math.max(0, ...reached));
            // A group is bounded by its largest scale, and by all of its rows, whether they are looked at or not.
            if (classes === 1 && shares.looked === 1 && shares.strong === 0)
              expect(highest[each]).toBeLessThan(1.5 * Math.max(0, ...reached) + 0.1);
          }
        },
      ),
      { numRuns: scaledRuns(500) },
    );
  });

  test('the first rows are the most similar one of each part, or the earlier of two equal ones', () => {
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
      { numRuns: scaledRuns(50) },
    );
  });
});

const real = fc.oneof(fc.constantFrom(0, 1e-3, 1), fc.double({ min: 0, max: 1, noNaN: true }));
const anyProduct = fc.oneof(fc.integer(), fc.constantFrom(-0x7fffffff, -1, 0, 0x7fffffff));

test('the reach of a group is at least what each of its rows can reach', () => {
  const row = fc.record({ product: anyProduct, scale: real, residual: real });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 9 }), real, real, (rows, scale, residual) => {
      const groups = createGroups();
      const scales = Float32Array.from(rows, (each) => each.scale);
      const residuals = Float32Array.from(rows, (each) => each.residual);
      const sessions = { codes: new Uint32Array(rows.length) };
      followRows({ groups, size: rows.length, scales, residuals, sessions });
      const line = { factor: 0, margin: 0 };
      setLine(line, groups, 0, scale, residual);
      const peak = Math.max(...rows.map(({ product }) => product));
      rows.forEach(({ product }, at) => {
        const high = scale * scales[at]! * product + dotError(residual, residuals[at]!);
        expect(reachOf(line, peak)).toBeGreaterThanOrEqual(high);
      });
    }),
    { numRuns: scaledRuns(2000) },
  );
});

test('rows reach no more than a limit up to the highest product within it', () => {
  const most = 0x7fff_ffff;
  const factor = fc.double({ min: 2 ** -40, max: 2 ** -20, noNaN: true });
  const limit = fc.oneof(fc.constantFrom(-1, 0, 1, Infinity), fc.double({ min: -1, max: 2, noNaN: true }));
  // Also just what a product reaches, and the next lower number.
  const own = fc.option(fc.nat(most), { nil: undefined });
  const less = fc.constantFrom(1, 1 - 2 ** -53);
  fc.assert(
    fc.property(factor, real, limit, own, less, (factor, margin, given, product, times) => {
      const line = { factor, margin };
      const wanted = product === undefined ? given : times * reachOf(line, product);
      const found = productWithin(line, wanted);
      if (found >= 0) expect(reachOf(line, found)).toBeLessThanOrEqual(wanted);
      else expect(found).toBe(NO_PRODUCT);
      // Rounding may cost a product.
      if (found < most) expect(reachOf(line, Math.max(0, found) + 2)).toBeGreaterThan(wanted);
    }),
    { numRuns: scaledRuns(2000) },
  );
  expect(productWithin({ factor: 0, margin: 0.5 }, 0.6)).toBe(most);
  expect(productWithin({ factor: Number.NaN, margin: 0 }, Infinity)).toBe(NO_PRODUCT);
  expect(productWithin({ factor: 1, margin: Number.NaN }, 1)).toBe(NO_PRODUCT);
});

test('rows of a group are skipped up to the lowest cut of their band and level, whatever their session', () => {
  const sessions = ['s1', 's2'];
  const index = createResidentIndex();
  for (let row = 0; row < 4; row++) {
    const memory = sampleMemory({ id: `m${row}`, ordinal: row + 1, bornIn: sessions[row % 2] });
    putMemory(index, indexed(row, memory, { terms: new Map(), vector: unitVector([1, row]) }));
  }
  const vector = unitVector([1, 1]);
  const similarity = similarities(index, vector, Int32Array.of(0, 1, 2, 3));
  // Class = 9 × band + 3 × session + level; neither level 2 nor the third session is in the group.
  const cuts = Float64Array.of(
    ...[0.4, 0.5, 0, 0.3, 0.6, 0, 0, 0, 0],
    ...[0.2, 0.3, 0, 0.1, 0.4, 0, 0, 0, 0],
  );
  const skim = {
    bandCount: 2,
    bandSize: 9,
    levelCount: 3,
    bandOf: Uint8Array.of(0, 1),
    tops: Uint8Array.of(1),
    classOf: Uint8Array.of(2, 0, 1),
    levels: { ofRow: Uint8Array.of(0, 1, 0, 1), ofGroup: Uint16Array.of(0b11) },
    cuts,
    areAlike: true,
    passed: { counts: new Float64Array(19), highest: new Float64Array(18) },
  } as unknown as Skim;
  const passing = createPassing(index, skim, similarity);
  for (const raised of [0, 0.05]) {
    cuts.forEach((cut, each) => {
      cuts[each] = cut + raised;
    });
    expect(passesOver(passing, 0)).toBe(false);
    expect([...passing.leasts]).toEqual(
      [0.3, 0.5, Infinity, 0.1, 0.3, Infinity].map((each) => each + raised),
    );
    expect(passing.most).toBe(productWithin(passing, 0.1 + raised));
  }
});

test('a group is skipped as a whole if its highest product is within the cuts of all classes that it has', () => {
  const index = spaces[0]!;
  const rows = Int32Array.from({ length: GROUP_ROWS }, (_, row) => row);
  const similarity = similarities(index, denseVector(seededRandom(3), DIMENSIONS), rows);
  const peak = similarity.peaks[0]!;
  const line = { factor: 0, margin: 0 };
  setLine(line, index.groups, 0, similarity.scale, similarity.residual);
  const within = reachOf(line, peak);
  // Class 0 is of sessions that are not in the group.
  const skippedWith = (...cuts: number[]) => {
    const skim = {
      bandCount: 1,
      bandSize: 3,
      levelCount: 1,
      bandOf: Uint8Array.of(0),
      classOf: Uint8Array.of(1, 2, ...Array<number>(SESSIONS).fill(0)),
      cuts: Float64Array.from(cuts),
      areAlike: true,
      passed: { counts: new Float64Array(4), highest: new Float64Array(3) },
    } as unknown as Skim;
    const isSkipped = passesOver(createPassing(index, skim, similarity), 0);
    return { isSkipped, highest: [...skim.passed.highest] };
  };
  const below = within * (1 - 1e-6);
  expect(peak).toBeGreaterThan(0);
  expect(skippedWith(-1, within, within)).toEqual({ isSkipped: true, highest: [0, within, within] });
  expect(skippedWith(-1, 1, within)).toEqual({ isSkipped: true, highest: [0, within, within] });
  expect(skippedWith(1, within, below)).toEqual({ isSkipped: false, highest: [0, 0, 0] });
  expect(skippedWith(1, below, within)).toEqual({ isSkipped: false, highest: [0, 0, 0] });
});

test('groups follow appended rows, including rows without a vector and sessions', () => {
  const groups = createGroups();
  const scales = Float32Array.from({ length: 3 * GROUP_ROWS }, (_, row) => row + 1);
  const residuals = scales.map((scale) => 2 * scale);
  const sessions = Uint32Array.from({ length: 3 * GROUP_ROWS }, (_, row) =>
    groupOf(row) === 1 ? row % (MOST_SESSIONS + 1) : 50 + (row % MOST_SESSIONS),
  );
  const follow = (size: number) =>
    followRows({ groups, size, scales, residuals, sessions: { codes: sessions } });
  follow(5);
  expect([groups.scales[0], groups.residuals[0]]).toEqual([5, 10]);
  const classOf = Uint8Array.from({ length: 60 }, (_, session) => (session < 50 ? 0 : session - 50));
  const classes = (group: number) => classesOfGroup(groups, group, classOf, 0x1ff);
  expect(classes(0)).toBe(0b11111);
  scales[GROUP_ROWS] = Number.NaN;
  follow(GROUP_ROWS + 1);
  expect([classes(0), classes(1)]).toEqual([0xff, 1]);
  follow(3 * GROUP_ROWS);
  expect([...groups.scales.subarray(0, 3)]).toEqual([GROUP_ROWS, Number.NaN, 3 * GROUP_ROWS]);
  const line = { factor: 0, margin: 0 };
  setLine(line, groups, 1, 1, 0);
  expect(reachOf(line, 5)).toBeNaN();
  expect([...groups.residuals.subarray(0, 3)]).toEqual([2, 4, 6].map((times) => times * GROUP_ROWS));
  expect([classes(1), classes(2)]).toEqual([0x1ff, 0xff]);
});

test('the least scale is that of all rows with a vector so far, whatever their order', () => {
  const order = fc.array(
    fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 1, max: 1000 }) },
      { weight: 1, arbitrary: fc.constant(Number.NaN) },
    ),
    { minLength: 1, maxLength: 3 * GROUP_ROWS, size: 'max' },
  );
  fc.assert(
    fc.property(order, fc.array(fc.nat(3 * GROUP_ROWS), { maxLength: 4 }), (values, stops) => {
      const groups = createGroups();
      const scales = Float32Array.from(values);
      const sessions = { codes: new Uint32Array(scales.length) };
      for (const size of [...stops.sort((a, b) => a - b), scales.length]) {
        if (size > scales.length) continue;
        followRows({ groups, size, scales, residuals: scales, sessions });
        const known = values.slice(0, size).filter((each) => !Number.isNaN(each));
        expect(groups.leastScale).toBe(Math.min(...known));
      }
    }),
  );
});

test('rows of one session that follow each other are a run, wherever groups end', () => {
  const groups = createGroups();
  const numbers = [...Array(GROUP_ROWS - 1).fill(7), 7, 7, 0, 0, 3, 7];
  const codes = Uint32Array.from(numbers);
  const scales = new Float32Array(codes.length);
  const follow = (size: number) =>
    followRows({ groups, size, scales, residuals: scales, sessions: { codes } });
  const runs = () =>
    Array.from({ length: groups.runCount }, (_, at) => [groups.runStarts[at], groups.runSessions[at]]);
  follow(3);
  expect([runs(), groups.inSessions]).toEqual([[[0, 7]], 3]);
  follow(codes.length);
  follow(codes.length);
  const after = GROUP_ROWS + 1;
  expect(runs()).toEqual([
    [0, 7],
    [after, 0],
    [after + 2, 3],
    [after + 3, 7],
  ]);
  expect(groups.inSessions).toBe(codes.length - 2);
});

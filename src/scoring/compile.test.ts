import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CLOCK_NAMES } from '../domain/fields.ts';
import { atOnce } from '../domain/slices.ts';
import { ARBITRARY_NOW, arbitraryProfile, arbitrarySignals } from '../testing/arbitrary-profile.ts';
import { scaledRuns } from '../testing/runs.ts';
import { cancels, SLACK } from './cancelling.ts';
import { type Columns, compile, compileConditions, emptyBlock, reaches } from './compile.ts';
import { childrenOf, evaluate } from './evaluate.ts';
import { keepFormula } from './keep.ts';
import type { Node } from './operators/index.ts';
import { resolveProfile } from './profile.ts';
import { rangeOf } from './range.ts';
import { defineProfile, failedRequirement } from './score.ts';
import {
  ATTRIBUTE_NAMES,
  ATTRIBUTES,
  attributeText,
  EXACT_SIGNALS,
  isQuerySignal,
  SIGNAL_NAMES,
  SIGNALS,
  type Signals,
} from './signals.ts';

const now = ARBITRARY_NOW;
const rowSignals = SIGNAL_NAMES.filter((name) => !isQuerySignal(name));

/** A memory has every signal but those of the query and its clocks. */
const arbitraryRow = arbitrarySignals().map(
  (signals): Signals => ({
    ...Object.fromEntries(rowSignals.map((name) => [name, SIGNALS[name].otherwise])),
    ...Object.fromEntries(ATTRIBUTE_NAMES.map((name) => [name, ATTRIBUTES[name].otherwise])),
    ...signals,
  }),
);
const sampleRow: Signals = Object.fromEntries(rowSignals.map((name) => [name, SIGNALS[name].otherwise]));
const arbitraryRows = fc.array(arbitraryRow, { minLength: 1, maxLength: 6 });

function columnsOf(rows: readonly Signals[]): Columns {
  const column = (name: keyof Signals) => Float64Array.from(rows, (row) => Number(row[name] ?? Number.NaN));
  const made = new Map([...SIGNAL_NAMES, ...CLOCK_NAMES].map((name) => [name, column(name)]));
  const found = (name: keyof Signals) => made.get(name as (typeof SIGNAL_NAMES)[number]) ?? column(name);
  return {
    signal: found,
    clock: found,
    attribute(name) {
      const texts = [...new Set(rows.map((row) => attributeText(row, name)))];
      return { texts, codes: Uint32Array.from(rows, (row) => texts.indexOf(attributeText(row, name))) };
    },
  };
}

/** The rows, last first, so that places and rows differ; similarities known within `blur`. */
function blockOf(rows: readonly Signals[], blur: number) {
  const block = emptyBlock(now);
  block.count = rows.length;
  rows.forEach((_, at) => {
    const row = rows.length - 1 - at;
    block.rows[at] = row;
    const { similarity } = rows[row] as Signals;
    block.similarityLow[at] = similarity === undefined ? Number.NaN : Math.max(0, similarity - blur);
    block.similarityHigh[at] = similarity === undefined ? Number.NaN : Math.min(1, similarity + blur / 2);
    for (const name of EXACT_SIGNALS) block.exact[name][at] = rows[row]?.[name] ?? Number.NaN;
  });
  return block;
}

/** `undefined` where a clock is missing that the formula cannot do without. */
function valueAt(node: Node, signals: Signals, at: number): number | undefined {
  try {
    return evaluate(node, signals, at);
  } catch {
    return undefined;
  }
}

/** Whether it has a power next to which nothing is too small to count. */
const isSteep = (node: Node): boolean =>
  (node.op === 'power' && rangeOf(node.exponent)[0] < 0.05) || childrenOf(node).some(isSteep);

const tolerance = (value: number) => SLACK * Math.max(1, Math.abs(value));
const nodesOf = (definition: Parameters<typeof defineProfile>[0]) => {
  const profile = resolveProfile(defineProfile(definition));
  const { elapsed: _, ...parts } = profile.parts;
  return [profile.root, ...Object.values(parts)];
};

test.each([0, 0.05])('bounds hold the value of every row, of a similarity known within %d', (blur) => {
  fc.assert(
    fc.property(arbitraryProfile(), arbitraryRows, (definition, rows) => {
      const columns = columnsOf(rows);
      const block = blockOf(rows, blur);
      const known = (name: string) => {
        const given = rows.filter((row) => row[name as keyof Signals] !== undefined).length;
        return given === rows.length ? true : given === 0 ? false : undefined;
      };
      for (const node of nodesOf(definition)) {
        const plain = compile(node, columns);
        const high = compile(node, columns, { wanted: 'high' });
        const folded = compile(node, columns, { facts: { known, block } });
        for (const formula of [plain, folded, high]) {
          const bounds = formula.bounds(block);
          for (let at = 0; at < block.count; at++) {
            const value = valueAt(node, rows[block.rows[at] as number] as Signals, now);
            if (value === undefined) continue;
            const [below, above] = [bounds.low[at] as number, bounds.high[at] as number];
            expect(above).toBeGreaterThanOrEqual(value - tolerance(value));
            if (formula !== high) expect(below).toBeLessThanOrEqual(value + tolerance(value));
            // Nothing is blurred: both sides are the value, but for powers of what may cancel itself out or be 0 by rounding.
            if (blur > 0 || cancels(node) || isSteep(node)) continue;
            expect(above).toBeLessThanOrEqual(value + tolerance(value));
            expect(below).toBeGreaterThanOrEqual(value - tolerance(value));
          }
        }
      }
    }),
    { numRuns: scaledRuns(300) },
  );
});

test('bounds contain a power whose base is 0 in one order of rounding and 5e-324 in another', () => {
  const conflict = { op: 'signal', name: 'conflict' } as const;
  const rows = [{ ...sampleRow, conflict: 5e-324 }, sampleRow];
  for (const exponent of [0.02, 0.04]) {
    const { root } = resolveProfile(
      defineProfile({
        name: 'steep',
        description: 'A power next to 0.',
        score: { op: 'power', base: { op: 'mean', terms: [{ weight: 0.1, of: conflict }] }, exponent },
      }),
    );
    const { low, high } = compile(root, columnsOf(rows)).bounds(blockOf(rows, 0));
    for (const at of [0, 1]) {
      const value = valueAt(root, rows[1 - at] as Signals, now)!;
      expect(low[at]).toBeLessThanOrEqual(value + SLACK);
      expect(high[at]).toBeGreaterThanOrEqual(value - SLACK);
    }
  }
});

test('bounds contain products with negative factors, exact or as intervals', () => {
  const similarity = { op: 'signal', name: 'similarity' } as const;
  const lacking = {
    op: 'sum',
    terms: [
      { weight: 1, of: 0.5 },
      { weight: -1, of: similarity },
    ],
  } as const;
  const importance = { op: 'signal', name: 'importance' } as const;
  const products = [
    [lacking, lacking],
    [lacking, importance],
    [importance, lacking, similarity],
  ] as const;
  for (const of of products) {
    // A half more, so that the sum is within 0 and 1.
    const sum = {
      op: 'sum',
      terms: [
        { weight: 1, of: 0.5 },
        { weight: 1, of: { op: 'product', of } },
      ],
    } as const;
    const { root } = resolveProfile(defineProfile({ name: 'signs', description: 'Signs.', score: sum }));
    for (const value of [0, 0.2, 0.49, 0.51, 0.8, 1]) {
      const rows = [0, 0.3, 1].map((each) => ({ ...sampleRow, similarity: value, importance: each }));
      const block = blockOf(rows, 0.1);
      const { low, high } = compile(root, columnsOf(rows)).bounds(block);
      for (let at = 0; at < block.count; at++) {
        const exact = evaluate(root, rows[block.rows[at] as number] as Signals, now);
        expect(low[at]).toBeLessThanOrEqual(exact + SLACK);
        expect(high[at]).toBeGreaterThanOrEqual(exact - SLACK);
      }
    }
  }
});

test('kept bounds contain the value of every row for as long as they are kept, and stay close to it', () => {
  const arbitrarySpan = fc.constantFrom(0, 1, 60_000, 86_400_000);
  fc.assert(
    fc.property(
      arbitraryProfile({ signals: rowSignals }),
      arbitraryRows,
      arbitrarySpan,
      (definition, rows, span) => {
        for (const node of nodesOf(definition)) {
          const { low, high } = atOnce(keepFormula(node, columnsOf(rows), rows.length, now, now + span));
          rows.forEach((row, at) => {
            const [below, above] = [low[at] as number, high[at] as number];
            for (const moment of [now, now + span / 2, now + span]) {
              const value = valueAt(node, row, moment);
              if (value === undefined) continue;
              expect(below).toBeLessThanOrEqual(value);
              expect(above).toBeGreaterThanOrEqual(value);
              if (span > 0 || cancels(node) || isSteep(node)) continue;
              expect(above - below).toBeLessThanOrEqual(1e-6 * Math.max(1, Math.abs(value)));
            }
          });
        }
      },
    ),
    { numRuns: scaledRuns(300) },
  );
});

test('bounds of more rows than a block are kept, each at its row', () => {
  const rows = Array.from({ length: 2500 }, (_, at): Signals => ({ importance: at / 2500 }));
  const profile = resolveProfile(
    defineProfile({
      name: 'kept',
      description: 'A sum.',
      score: { op: 'mean', terms: [{ weight: 1, of: { op: 'signal', name: 'importance' } }] },
    }),
  );
  const { low, high } = atOnce(keepFormula(profile.root, columnsOf(rows), rows.length, now, now));
  expect([low.length, high.length]).toEqual([2500, 2500]);
  for (let at = 0; at < 2500; at++) {
    expect(low[at]).toBeLessThanOrEqual(at / 2500);
    expect(high[at]).toBeGreaterThanOrEqual(at / 2500);
    expect(low[at]).toBeCloseTo(at / 2500, 5);
    expect(high[at]).toBeCloseTo(at / 2500, 5);
  }
});

test('a requirement is decided as in evaluation; if the similarity is an interval, it may stay undecided', () => {
  fc.assert(
    fc.property(arbitraryProfile(), arbitraryRows, fc.constantFrom(0, 0.05), (definition, rows, blur) => {
      const profile = resolveProfile(defineProfile(definition));
      const block = blockOf(rows, blur);
      const verdict = compileConditions(profile.require, columnsOf(rows))(block);
      for (let at = 0; at < block.count; at++) {
        if (verdict[at] === 2) continue;
        const failed = failedRequirement(profile, rows[block.rows[at] as number] as Signals, now);
        expect(verdict[at]).toBe(failed === undefined ? 1 : 0);
      }
    }),
    { numRuns: scaledRuns(500) },
  );
});

test('a value reaches a threshold, or does not, or may', () => {
  expect(reaches(0.5, 0.6, 0.4)).toBe(1);
  expect(reaches(0.5, 0.6, 0.5)).toBe(2);
  expect(reaches(0.5, 0.6, 0.5 - SLACK / 2)).toBe(2);
  expect(reaches(0.5, 0.6, 0.55)).toBe(2);
  expect(reaches(0.5, 0.6, 0.6)).toBe(2);
  expect(reaches(0.5, 0.6, 0.6 + SLACK / 2)).toBe(2);
  expect(reaches(0.5, 0.6, 0.6 + 2 * SLACK)).toBe(0);
  expect(reaches(Number.NaN, Number.NaN, 0.5)).toBe(2);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MILLISECONDS_PER_DAY } from '../domain/time.ts';
import { EXACT_SIGNALS } from '../scoring/signals.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import {
  arbitraryFilter,
  arbitraryQuery,
  arbitraryStore,
  indexOf,
  plainStore,
  vocabulary,
} from '../testing/index-oracle.ts';
import { queryWords } from './lexical.ts';
import { dateMatch, queryColumns } from './query-columns.ts';
import { viewOf } from './view.ts';
import { STRENGTHS, wordScores } from './word-scores.ts';

const unrelated = { successors: new Map(), newer: new Map() };

test('a column fills a block with the value of each row, and leaves the rest of the block', () => {
  const filled = new Set<string>();
  fc.assert(
    fc.property(
      arbitraryStore,
      arbitraryQuery,
      arbitraryFilter,
      fc.nat(),
      fc.constantFrom({ commonFrom: 1, fewestStrong: 1 }, undefined),
      (memories, query, filter, skip, sizes) => {
        const index = indexOf(memories);
        const view = viewOf(index, unrelated, filter, ARBITRARY_NOW);
        const ids = query.terms.map((term) =>
          vocabulary.includes(term) ? vocabulary.indexOf(term) : undefined,
        );
        const words = queryWords(index, query.terms, ids, () => []);
        const read = new Set<string>(EXACT_SIGNALS);
        const scores = wordScores(index, words, view.turns, sizes);
        const { exact } = queryColumns(index, view, query, scores, words, read, 1);
        // Of all rows, visible or not, every second or third of them.
        const rows = Int32Array.from(memories.keys()).filter((row) => row % (2 + (skip % 2)) === 0);
        for (const name of EXACT_SIGNALS) {
          const column = exact[name];
          if (!column || rows.length === 0) continue;
          filled.add(name);
          const out = new Float64Array(rows.length + 1).fill(-1);
          column.fill(rows, rows.length - 1, out);
          const expected = [...rows.subarray(0, -1)].map((row) => column.at(row));
          expect([...out]).toEqual([...expected, -1, -1]);
        }
      },
    ),
    { numRuns: 200, seed: 3 },
  );
  expect([...filled].sort()).toEqual([...EXACT_SIGNALS].sort());
});

test('every row that may be skipped is in a band that allows for its words', () => {
  const strength = fc.integer({ min: 0, max: STRENGTHS });
  fc.assert(
    fc.property(
      fc.array(strength, { minLength: 1, maxLength: 60 }),
      strength,
      fc.nat(40),
      fc.constantFrom(3, STRENGTHS),
      (drawn, least, skip, most) => {
        const memories = plainStore(1, drawn.length);
        const index = indexOf(memories);
        const view = viewOf(index, unrelated, {}, ARBITRARY_NOW);
        // Rows that were not counted are no stronger than the least; those that were may be.
        const strengths = Uint8Array.from(drawn, (each, row) => Math.min(each, row < skip ? most : least));
        const rows = Int32Array.from(drawn.keys()).filter((row) => row < skip);
        const words = queryWords(index, ['amber'], [0], () => []);
        const lexical = { ...wordScores(index, words, view.turns), rows, strengths, least };
        const read = new Set<string>(EXACT_SIGNALS);
        const query = { terms: ['amber'] };
        const { passable } = queryColumns(index, view, query, lexical, words, read, 1);
        const { strong, bands, bandOf } = passable;
        const isStrong = new Set(strong);
        const above = [...strengths.keys()].filter((row) => {
          const [, highest] = bands[bandOf[strengths[row]!]!]![0]!.lexical;
          return !isStrong.has(row) && highest * STRENGTHS < strengths[row]!;
        });
        expect(above).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
});

test('a date matches in full inside of a range, half as well a week off either end of the nearest', () => {
  const day = MILLISECONDS_PER_DAY;
  const ranges = [
    { text: 'then', start: 100 * day, end: 101 * day },
    { text: 'later', start: 200 * day, end: 210 * day },
  ];
  const matchOn = (days: number) => dateMatch(days * day, ranges);
  expect([100, 100.5, 200, 209.9].map(matchOn)).toEqual([1, 1, 1, 1]);
  expect(matchOn(93)).toBeCloseTo(0.5, 12);
  expect(matchOn(108)).toBeCloseTo(0.5, 12);
  expect(matchOn(86)).toBeCloseTo(0.25, 12);
  expect(matchOn(193)).toBeCloseTo(0.5, 12);
  expect(matchOn(217)).toBeCloseTo(0.5, 12);
  expect(dateMatch(101 * day, ranges)).toBe(1);
  expect(dateMatch(101 * day + 1, ranges)).toBeLessThan(1);
});

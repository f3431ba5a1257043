import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import { indexed } from '../testing/index-oracle.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { lexicalRelevance, matchOfRelevance } from '../text/bm25.ts';
import { queryWords } from './lexical.ts';
import { createResidentIndex, putMemory } from './resident-index.ts';
import { viewOf } from './view.ts';
import { addBounds } from './word-bounds.ts';
import { countTerms, TERMS } from './word-rows.ts';
import { wordScores } from './word-scores.ts';

const turn = fc.record({
  /** How often it has each of some terms. */
  counts: fc.array(fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 30, 300), { minLength: 10, maxLength: 10 }),
  /** What it has besides. */
  others: fc.constantFrom(0, 0, 1, 5, 24, 26, 60, 400),
  asks: fc.boolean(),
  session: fc.constantFrom(0, 1, 1, 1, 2),
});

test('no row matches better than its bound, alone or with what stands beside it', () => {
  fc.assert(
    fc.property(
      fc.array(turn, { minLength: 1, maxLength: 12 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 10 }), { minLength: 1 }),
      fc.boolean(),
      fc.constantFrom(1, 2, 3, 300),
      (rows, ids, inContext, most) => {
        const index = createResidentIndex();
        for (const [row, { counts, others, asks, session }] of rows.entries()) {
          const terms = counts.flatMap((count, term) =>
            count > 0 ? [[term, Math.min(count, most)] as const] : [],
          );
          const all = others > 0 ? [...terms, [99, others] as const] : terms;
          const memory = sampleMemory({
            id: `m${row}`,
            ordinal: row + 1,
            content: asks ? 'Tea?' : 'Tea.',
            bornIn: session === 0 ? undefined : `s${session}`,
          });
          putMemory(index, {
            ...indexed(row, memory, { terms: new Map(), vector: undefined }),
            termIds: all.map(([term]) => term),
            termCounts: all.map(([, count]) => count),
          });
        }
        const { turns } = viewOf(index, { successors: new Map(), newer: new Map() }, {}, ARBITRARY_NOW);
        const around = inContext ? turns : undefined;
        const words = queryWords(
          index,
          ids.map((id) => `t${id}`),
          ids,
          () => [],
        );
        const scores = wordScores(index, words, around);
        const bounds = new Float64Array(scores.rows.length);
        for (let first = 0; first < words.postings.length; first += TERMS) {
          const counted = countTerms(index, words.postings.slice(first, first + TERMS));
          addBounds(
            index,
            words,
            counted,
            words.idfs.slice(first, first + TERMS),
            around,
            scores.rows,
            bounds,
          );
          counted.clear();
        }
        for (const [at, bound] of bounds.entries()) {
          const best = Math.max(scores.relevance[at]!, scores.inContext?.[at] ?? 0);
          expect(lexicalRelevance(bound, 1) + 1e-12).toBeGreaterThanOrEqual(best);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('the match of a relevance is its inverse', () => {
  for (const match of [0, 0.2, 0.999, 1, 1.3, 2.2])
    expect(matchOfRelevance(lexicalRelevance(match, 1))).toBeCloseTo(match, 12);
});

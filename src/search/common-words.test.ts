import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveProfile } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile } from '../scoring/score.ts';
import type { SearchableMemory } from '../store/state.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import { expectSame, indexOf, plainStore, vocabulary } from '../testing/index-oracle.ts';
import { scaledRuns } from '../testing/runs.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { lexicalRelevance } from '../text/bm25.ts';
import { commonWords } from './common-words.ts';
import { queryWords } from './lexical.ts';
import { countMatches, wordScores } from './word-scores.ts';

/** Words that no memory has, nor any like them: they weigh most, so that those that many have weigh little. */
const NOWHERE = ['jjjj', 'qqqq', 'vvvv', 'xxxx', 'zzzz'];

/** More memories than the first block: some in sessions, most with a word of five, a few with one that is rare. */
function conversation(seed: number, rows: number, inSessions: number): readonly SearchableMemory[] {
  const random = seededRandom(seed);
  return plainStore(seed, rows).map(({ memory, vector }, at): SearchableMemory => {
    const counts = vocabulary
      .filter((_, word) => random() < [0.5, 0.3, 0.05, 0.01, 0.01][word]!)
      .map((term) => [term, 1 + Math.floor(4 * random() ** 3)] as const);
    const bornIn = random() < inSessions ? `s${at % 3}` : undefined;
    return { memory: { ...memory, bornIn }, terms: new Map(counts), vector };
  });
}

const ranked = (name: string, score: Parameters<typeof defineProfile>[0]['score']) =>
  resolveProfile(defineProfile({ name, description: 'By words.', score }));
const profiles = [
  ...['hybrid', 'bm25', 'balanced', 'vector'].map((name) => resolveProfile(builtinProfile(name))),
  ranked('context', { op: 'signal', name: 'contextLexical' }),
  ranked('session', { op: 'signal', name: 'sessionLexical' }),
  ranked('beside-meaning', {
    op: 'mean',
    terms: [
      { weight: 4, of: { op: 'signal', name: 'contextLexical' } },
      { weight: 1, of: { op: 'signal', name: 'similarity', missing: 0 } },
    ],
  }),
];

describe('words that most memories have', () => {
  test('leave out no memory that could be among the best', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.integer({ min: 70, max: 400 }),
        fc.constantFrom(0, 0.7, 1),
        fc.constantFrom(...profiles),
        fc.subarray(vocabulary, { minLength: 1, maxLength: 3 }),
        fc.subarray(NOWHERE),
        fc.constantFrom(1, 3, 11, 51),
        fc.boolean(),
        async (seed, rows, inSessions, profile, known, unknown, limit, hasVector) => {
          const memories = conversation(seed, rows, inSessions);
          const vector = hasVector ? memories.find((each) => each.vector)!.vector : undefined;
          const query = { terms: [...known, ...unknown].sort(), vector };
          const request = { profile, query, filter: {}, now: ARBITRARY_NOW, limit };
          await expectSame(indexOf(memories), memories, memories, request);
        },
      ),
      { numRuns: scaledRuns(300), seed: 12 },
    );
  });
});

describe('commonWords', () => {
  const memories = conversation(5, 300, 0);
  const index = indexOf(memories);
  const wordsOf = (terms: readonly string[]) =>
    queryWords(
      index,
      terms,
      terms.map((term) => (vocabulary.includes(term) ? vocabulary.indexOf(term) : undefined)),
      () => [],
    );

  test('selects the commonest words while rows with only those stay below the limit', () => {
    const words = wordsOf(['amber', 'birch', 'cedar', ...NOWHERE]);
    const found = commonWords(words, 1)!;
    expect(found.isCommon).toEqual([true, true, ...words.idfs.slice(2).map(() => false)]);
    expect(found.most).toBe(lexicalRelevance((words.idfs[0]! + words.idfs[1]!) * 2.2, words.idfSum));
    expect(commonWords(wordsOf(['amber', 'dune', ...NOWHERE]), 1)!.isCommon[0]).toBe(true);
    expect(commonWords(wordsOf(['amber']), 1)).toBeUndefined();
  });

  test('a word in too few rows is not common', () => {
    const words = wordsOf(['amber', ...NOWHERE]);
    const { count } = words.postings[0]!;
    expect(commonWords(words, count)?.isCommon[0]).toBe(true);
    expect(commonWords(words, count + 1)).toBeUndefined();
  });

  test('leave rows uncounted, and list them only if they are not nearly all rows', () => {
    // Too few rows have another word for bounds of single rows to be worth it.
    const sizes = { commonFrom: 8, fewestStrong: 8 };
    const scores = wordScores(index, wordsOf(['amber', ...NOWHERE]), undefined, sizes);
    expect(scores.rows).toHaveLength(0);
    expect(scores.least).toBeGreaterThan(0);
    expect(new Set(scores.strengths)).toEqual(new Set([scores.least]));
    const standing = new Uint8Array(index.size);
    const found = memories.filter(({ terms }) => terms.has('amber')).length;
    for (const areAll of [true, false]) expect(countMatches(scores, standing, 0, areAll)).toBe(found);
    const seen = memories.filter(({ terms }, at) => terms.has('amber') && at % 3 > 0).length;
    standing.forEach((_, row) => {
      if (row % 3 === 0) standing[row] = 1;
    });
    expect(countMatches(scores, standing, 0, false)).toBe(seen);
    const few = wordScores(index, wordsOf(['cedar', 'dune', ...NOWHERE]), undefined, sizes);
    const has = (term: string) => memories.flatMap(({ terms }, at) => (terms.has(term) ? [at] : []));
    expect([...few.rows]).toEqual(has('dune'));
    expect(has('cedar').length).toBeGreaterThan(has('dune').length);
    for (const [row, strength] of few.strengths!.entries()) {
      if (has('dune').includes(row)) expect(strength).toBeGreaterThan(0);
      else expect(strength).toBe(has('cedar').includes(row) ? few.least : 0);
    }
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import { indexed } from '../testing/index-oracle.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { lexicalRelevance } from '../text/bm25.ts';
import { bm25Of } from './common-words.ts';
import { groupOf } from './groups.ts';
import { wordKernel } from './kernel/words.ts';
import { contextRelevance, frequencyIn, type QueryWords, queryWords, sessionScores } from './lexical.ts';
import { addPosting, noPostings } from './postings.ts';
import { createResidentIndex, putMemory, type ResidentIndex, removeMemory } from './resident-index.ts';
import { neighboursOf, type Turns, turnsOf } from './turns.ts';
import { viewOf } from './view.ts';
import { touchedRows } from './word-rows.ts';
import { STRENGTHS, TOGETHER, type WordScores, wordScores } from './word-scores.ts';

/** More than are counted together. */
const TERMS = 19;
const unrelated = { successors: new Map(), newer: new Map() };

interface Space {
  readonly index: ResidentIndex;
  readonly turns: Turns;
}

/** Rows with any of many terms, a few of them very often; turns of sessions follow each other, alternate, or are strewn. */
function space(seed: number, rows: number, sessionOf: (row: number) => number): Space {
  const random = seededRandom(seed);
  const index = createResidentIndex();
  for (let row = 0; row < rows; row++) {
    const session = sessionOf(row);
    const memory = sampleMemory({
      id: `m${row}`,
      ordinal: row + 1,
      type: random() < 0.1 ? 'summary' : 'fact',
      content: random() < 0.3 ? 'Tea?' : 'Tea.',
      bornIn: session === 0 ? undefined : `s${session}`,
      textChangedAt: random() < 0.1 ? Date.UTC(2026, 0, 2) : undefined,
      tier: random() < 0.1 ? 'cold' : 'hot',
    });
    const termIds = Array.from({ length: TERMS }, (_, term) => term).filter(() => random() < 0.15);
    const often = [1, 2, 24, 25, 26, 30, 31, 32, 255, 256, 70_000];
    const termCounts = termIds.map(() => (random() < 0.9 ? 1 : often[Math.floor(random() * often.length)]!));
    putMemory(index, {
      ...indexed(row, memory, { terms: new Map(), vector: undefined }),
      termIds,
      termCounts,
    });
  }
  return { index, turns: viewOf(index, unrelated, {}, ARBITRARY_NOW).turns };
}

const wordsOf = (index: ResidentIndex, ids: readonly number[]): QueryWords =>
  queryWords(
    index,
    ids.map((id) => `t${String(id).padStart(2, '0')}`),
    ids,
    () => [],
  );

/** A row whose strength is too low would be passed over though it can be among the best; that of a counted row need not be exact. */
function expectStrengths(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  scores: WordScores,
): void {
  const { rows, strengths, tops, least, uncounted } = scores;
  const counted = new Set(rows);
  const all = wordScores(index, words, turns);
  const places = new Map(Array.from(all.rows, (row, at) => [row, at]));
  const relevanceOf = (row: number) => {
    const at = places.get(row);
    return at === undefined ? [0, turns && 0] : [all.relevance[at], all.inContext?.[at]];
  };
  const wrong = Array.from({ length: index.size }, (_, row) => row).filter((row) => {
    const strength = strengths![row]!;
    const needed = Math.ceil(Math.max(...relevanceOf(row).map((each) => each ?? 0)) * STRENGTHS);
    const isRanked = counted.has(row) || strength <= least;
    return strength < needed || strength > STRENGTHS || tops![groupOf(row)]! < strength || !isRanked;
  });
  expect(wrong).toEqual([]);
  const others = Int32Array.from(index.alive.keys()).filter((row) => row < index.size && !counted.has(row));
  const found = uncounted?.scores(others);
  const said = Array.from(others, (_, at) =>
    found ? [found.relevance[at], found.inContext?.[at]] : [0, turns && 0],
  );
  expect(said).toEqual(Array.from(others, relevanceOf));
}

test('words counted together score as words counted one by one, to the last bit', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.integer({ min: 1, max: 90 }),
      fc.constantFrom<(row: number) => number>(
        () => 0,
        () => 1,
        (row) => 1 + Math.floor(row / 7),
        (row) => row % 3,
        (row) => (row * row) % 5,
      ),
      fc.uniqueArray(fc.integer({ min: 0, max: TERMS + 1 }), { minLength: 1 }),
      fc.constantFrom(undefined, 1, 5, Infinity),
      fc.constantFrom(1, 5),
      fc.boolean(),
      fc.constantFrom(wordKernel, () => undefined),
      (seed, rows, sessionOf, ids, commonFrom, fewestStrong, inContext, kernelOf) => {
        const { index, turns } = space(seed, rows, sessionOf);
        const words = wordsOf(index, ids);
        const around = inContext ? turns : undefined;
        const sizes = commonFrom === undefined ? undefined : { commonFrom, fewestStrong };
        const scores = wordScores(index, words, around, sizes, kernelOf);
        const has = (row: number) => words.postings.some((each) => each && frequencyIn(each, row) > 0);
        // Bounds tell of rows beside which a word counts for nothing.
        if (!scores.uncounted && scores.matches === undefined) {
          const isTouched = (row: number) =>
            has(row) ||
            (around !== undefined &&
              Array.from(index.alive.keys()).some(
                (other) => has(other) && neighboursIn(turns, index, other).includes(row),
              ));
          expect([...scores.rows]).toEqual(Array.from({ length: rows }, (_, row) => row).filter(isTouched));
        }
        scores.rows.forEach((row, at) => {
          const bm25 = bm25Of(index, words, row);
          const relevance = lexicalRelevance(bm25, words.idfSum);
          expect([scores.bm25(row), scores.relevance[at]]).toEqual([bm25, relevance]);
          if (!around) return;
          const isSeen = turns.states[row] !== 0;
          const expected = isSeen ? contextRelevance(index, turns, words, row) : relevance;
          expect(scores.inContext![at]).toBe(expected);
        });
        expectStrengths(index, words, around, scores);
        expect(scores.inContext === undefined).toBe(around === undefined);
      },
    ),
    { numRuns: 300 },
  );
});

test.each([
  ['sessions one after the other', (row: number) => Math.floor(row / 40)],
  ['one session', () => 1],
  // Turns that are not the rows beside each other, some of them blocks apart.
  ['sessions in which others stand', (row: number) => (row % 100 < 97 ? 1 + Math.floor(row / 700) : 0)],
  ['sessions in turn, for a while', (row: number) => (row % 1500 < 600 ? 1 + (row % 2) : 3)],
])('rows of many blocks score as others do: %s', (_, sessionOf) => {
  const { index, turns } = space(4, 2 * TOGETHER + 700, sessionOf);
  // Those of two passes over the index, and of one row in seven or none.
  for (const ids of [[...Array(9).keys()], [3], [TERMS]]) {
    const words = wordsOf(index, ids);
    for (const around of [turns, undefined]) {
      const scores = wordScores(index, words, around);
      if (ids.length === 9) expect(scores.rows.length).toBeGreaterThan(1.5 * TOGETHER);
      scores.rows.forEach((row, at) => {
        const relevance = lexicalRelevance(bm25Of(index, words, row), words.idfSum);
        expect(scores.relevance[at]).toBe(relevance);
        if (around && around.states[row] !== 0)
          expect(scores.inContext![at]).toBe(contextRelevance(index, around, words, row));
      });
      expectStrengths(index, words, around, scores);
      for (const sizes of [FEW, { commonFrom: 1, fewestStrong: 300 }])
        expectStrengths(index, words, around, wordScores(index, words, around, sizes));
    }
  }
});

test('counts of one query do not leak into another', () => {
  const { index, turns } = space(1, 60, () => 1);
  const all = wordsOf(index, [...Array(TERMS).keys()]);
  const one = wordsOf(index, [3]);
  const alone = wordScores(index, one, turns);
  const inSessions = sessionScores(index, turns, one);
  for (const other of [all, wordsOf(index, [5, 6, 7])]) {
    wordScores(index, other, turns);
    sessionScores(index, turns, other);
    expect(sessionScores(index, turns, one)).toEqual(inSessions);
    expect(wordScores(index, one, turns)).toMatchObject({
      rows: alone.rows,
      relevance: alone.relevance,
      inContext: alone.inContext,
    });
  }
});

test('words of memories that are gone, or left a session, count for no session', () => {
  const { index } = space(2, 60, (row) => 1 + (row % 2));
  const view = () => viewOf(index, unrelated, {}, ARBITRARY_NOW);
  const words = wordsOf(index, [0, 3, 6]);
  const { turns } = view();
  const before = sessionScores(index, turns, words);
  for (let key = 0; key < 60; key += 5) removeMemory(index, key);
  const followed = view();
  expect(followed.turns).toBe(turns);
  const expected = sessionScores(index, turnsOf(index, followed.standing), words);
  expect(expected.frequencies).not.toEqual(before.frequencies);
  expect(sessionScores(index, followed.turns, words)).toEqual(expected);
});

test('neighbours are up to two turns before and after, wherever in the index, and after turns are removed', () => {
  const sessions: readonly ((row: number) => number)[] = [
    () => 1,
    (row) => 1 + Math.floor(row / 33),
    // In turn, and a session that others stand between.
    (row) => 1 + (row % 3),
    (row) => (row % 32 === 31 ? 0 : 1),
    (row) => (row % 5 < 3 ? 2 : row % 4),
  ];
  for (const sessionOf of sessions) {
    const { index } = space(3, 200, sessionOf);
    const view = () => viewOf(index, unrelated, {}, ARBITRARY_NOW);
    const expectBeside = ({ turns }: { readonly turns: Turns }) => {
      for (let row = 0; row < index.size; row++) {
        const postings = noPostings();
        addPosting(postings, row, 1);
        const beside = neighboursIn(turns, index, row);
        const expected = [...beside, row].sort((a, b) => a - b);
        expect([...touchedRows(index.size, [postings, undefined], turns)]).toEqual(expected);
      }
    };
    expectBeside(view());
    for (let key = 0; key < 200; key += 7) removeMemory(index, key);
    expectBeside(view());
  }
});

/** The turns up to two places before and after one, whether their words count or not. */
function neighboursIn(turns: Turns, index: ResidentIndex, row: number): readonly number[] {
  if (turns.states[row] === 0) return [];
  const list = Array.from(index.sessions.lists.of(index.sessions.codes[row]!)).filter(
    (each) => turns.states[each] !== 0,
  );
  const at = list.indexOf(row);
  // Of those that count `neighboursOf` must know the same places.
  for (const { row: other, offset } of neighboursOf(index, turns, row)) expect(list[at + offset]).toBe(other);
  return [-2, -1, 1, 2].flatMap((offset) => list[at + offset] ?? []);
}

test('a word that occurs once, in a row or next to it, is bounded exactly', () => {
  const rows = 400;
  const random = seededRandom(9);
  const index = createResidentIndex();
  for (let row = 0; row < rows; row++) {
    const memory = sampleMemory({
      id: `m${row}`,
      ordinal: row + 1,
      content: random() < 0.3 ? 'Tea?' : 'Tea.',
      // Its text was replaced: nothing counts beside it.
      textChangedAt: random() < 0.3 ? Date.UTC(2026, 0, 2) : undefined,
      // Of four turns, so that most have an end of their session near them.
      bornIn: row % 90 < 70 ? `s${Math.floor(row / 4)}` : undefined,
    });
    // One that all rows have makes them long; of the others, none is twice among five rows.
    const termIds = row % 5 === 0 ? [0, 1 + ((row / 5) % 7)] : [0];
    const termCounts = termIds.map((id) => (id === 0 ? 1 + Math.floor(random() * 60) : 1));
    putMemory(index, {
      ...indexed(row, memory, { terms: new Map(), vector: undefined }),
      termIds,
      termCounts,
    });
  }
  const { turns } = viewOf(index, unrelated, {}, ARBITRARY_NOW);
  const words = wordsOf(index, [1, 2, 3, 4, 5, 6, 7]);
  for (const around of [turns, undefined]) {
    const { strengths, matches, rows: strong, least } = wordScores(index, words, around, FEW);
    const all = wordScores(index, words, around);
    expect(matches).toBe(Math.ceil(rows / 5));
    const exact = new Map(Array.from(all.rows, (row) => [row, all.strengths![row]!]));
    const differing = [...strengths!.subarray(0, rows).keys()].filter(
      (row) => strengths![row] !== (exact.get(row) ?? 0),
    );
    // A rounding may lift one to the next step.
    expect(differing.length).toBeLessThan(5);
    expect([...strong]).toEqual([...strengths!.keys()].filter((row) => strengths![row]! > least));
    expect(strong.length).toBeGreaterThan(0);
    expect(strong.length).toBeLessThan(all.rows.length);
  }
});

/** Bounds whatever can be bounded. */
const FEW = { commonFrom: 1, fewestStrong: 1 };

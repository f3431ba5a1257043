import fc from 'fast-check';
import { expect, test } from 'vitest';
import { signalsOf } from '../scoring/signals.ts';
import { editsBetween, spellNaively } from '../testing/naive-spelling.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { distanceWithin, unitsOf } from '../text/spelling.ts';
import { createResidentIndex, putMemory, turnOf } from './resident-index.ts';
import { standIns, vocabularyOf } from './vocabulary.ts';

/** Words of few letters, so that many resemble each other. */
const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '1'), minLength: 1, maxLength: 12 });
const spelt = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 3, maxLength: 11 });

test('the distance equals its definition, up to the limit', () => {
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 3 }), (a, b, most) => {
      expect(distanceWithin(unitsOf(a), unitsOf(b), most)).toBe(Math.min(editsBetween(a, b), most + 1));
    }),
    { numRuns: 3000 },
  );
  expect(distanceWithin(unitsOf('pyhton'), unitsOf('python'), 2)).toBe(1);
  // No part is edited twice: this is 2 by Damerau's own distance.
  expect(distanceWithin(unitsOf('ca'), unitsOf('abc'), 3)).toBe(3);
});

/** An index of texts of one memory each, over the words of all of them. */
function indexOf(texts: readonly (readonly string[])[]) {
  const terms = [...new Set(texts.flat())];
  const index = createResidentIndex();
  const put = (key: number) => {
    const ids = [...new Set(texts[key])].map((each) => terms.indexOf(each)).sort((a, b) => a - b);
    const memory = sampleMemory({ id: `m${key}` });
    putMemory(index, {
      key,
      ordinal: key + 1,
      signals: signalsOf(memory),
      tags: [],
      turn: turnOf(memory),
      termIds: ids,
      termCounts: ids.map(() => 1),
      vector: undefined,
    });
  };
  return { index, put, source: { termsOf: (ids: readonly number[]) => ids.map((id) => terms[id]) }, terms };
}

test('the vocabulary finds what comparing with every visible word finds, as it grows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.oneof(word, spelt), { maxLength: 6 }), { minLength: 1, maxLength: 12 }),
      fc.array(fc.oneof(word, spelt), { minLength: 1, maxLength: 6 }),
      fc.nat(12),
      async (texts, queried, hidden) => {
        const { index, put, source, terms } = indexOf(texts);
        for (let count = 1; count <= texts.length; count++) {
          put(count - 1);
          const vocabulary = await vocabularyOf(index, source);
          const visible = texts.slice(0, count).filter((_, at) => at !== hidden);
          const frequencyOf = (id: number) =>
            visible.filter((each) => each.includes(terms[id] as string)).length;
          const memories = visible.map((each, at) => ({
            memory: sampleMemory({ id: `v${at}` }),
            terms: new Map(each.map((term) => [term, 1])),
            vector: undefined,
          }));
          const unknown = [...new Set(queried)].sort().filter((each) => !visible.flat().includes(each));
          // As a stem comes from a longer word.
          const written = new Map(unknown.map((term, at) => [term, term + 'ing'.slice(0, at % 4)]));
          const found = unknown
            .map((term) => ({
              term,
              standIns: standIns(vocabulary, term, frequencyOf, written.get(term)).map(
                ({ term, distance }) => ({
                  term,
                  distance,
                }),
              ),
            }))
            .filter(({ standIns }) => standIns.length > 0);
          expect(found).toEqual(spellNaively(unknown, memories, written));
        }
      },
    ),
    { numRuns: 400 },
  );
});

test('concurrent recalls add each term once', async () => {
  const { index, put, source } = indexOf([['python', 'pylon'], ['pythons']]);
  put(0);
  put(1);
  const all = await Promise.all([vocabularyOf(index, source), vocabularyOf(index, source)]);
  for (const { count } of all) expect(count).toBe(3);
  const failing = { termsOf: () => Promise.reject(new Error('closed')) };
  const other = indexOf([['python']]);
  other.put(0);
  const answers = await Promise.allSettled([
    vocabularyOf(other.index, failing),
    vocabularyOf(other.index, other.source),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(other.index.vocabulary?.count).toBe(1);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  BM25_B,
  BM25_K1,
  bm25Score,
  inverseDocumentFrequency,
  lengthNormalization,
  lexicalRelevance,
  PRIOR_MEMORY_COUNT,
  prepareBm25Query,
  termScore,
} from './bm25.ts';

test('the constants', () => {
  expect([BM25_K1, BM25_B, PRIOR_MEMORY_COUNT]).toEqual([1.2, 0.75, 50]);
});

test('idf by hand', () => {
  // N = 3 + 50 = 53, n = 1: ln(1 + 52.5 / 1.5) = ln 36 = 3.58351893845611
  expect(inverseDocumentFrequency(3, 1)).toBeCloseTo(3.58351893845611, 14);
  // N = 53, n = 0 (unknown): ln(1 + 53.5 / 0.5) = ln 108 = 4.68213122712422
  expect(inverseDocumentFrequency(3, 0)).toBeCloseTo(4.68213122712422, 14);
  // N = 53, n = 3 (in every memory): ln(1 + 50.5 / 3.5) = ln(54 / 3.5) = 2.736221078068907
  expect(inverseDocumentFrequency(3, 3)).toBeCloseTo(2.736221078068907, 13);
  // N = 50, n = 0 (empty space): ln(1 + 50.5 / 0.5) = ln 102 = 4.62497281328427
  expect(inverseDocumentFrequency(0, 0)).toBeCloseTo(4.62497281328427, 14);
});

test('term score by hand', () => {
  // length 8, average 4: 1.2 · (0.25 + 0.75 · 2) = 2.1
  expect(lengthNormalization(8, 4)).toBeCloseTo(2.1, 15);
  // frequency 3: 2 · 3 · 2.2 / (3 + 2.1) = 13.2 / 5.1 = 2.588235294117647
  expect(termScore(2, 3, lengthNormalization(8, 4))).toBeCloseTo(2.588235294117647, 14);
});

test('one occurrence in a memory of average length is worth exactly the idf', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1e-6, max: 30, noNaN: true }),
      fc.integer({ min: 1, max: 5000 }),
      (idf, length) => {
        expect(termScore(idf, 1, lengthNormalization(length, length))).toBe(idf);
      },
    ),
  );
});

test('an average memory with every query term once has a lexical relevance of exactly .9', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 100_000 }),
      fc.integer({ min: 1, max: 500 }),
      (terms, memoryCount, length) => {
        const documentFrequency = (term: string) => 1 + ((term.length * 7919) % memoryCount);
        const query = prepareBm25Query(terms, { memoryCount, averageLength: length, documentFrequency });
        expect(
          lexicalRelevance(
            bm25Score(query, () => 1, length),
            query.idfSum,
          ),
        ).toBe(0.9);
      },
    ),
  );
});

test('lexical relevance by hand', () => {
  expect(lexicalRelevance(0, 5)).toBe(0);
  expect(lexicalRelevance(2.5, 5)).toBe(0.45); // x = 0.5
  expect(lexicalRelevance(5, 5)).toBe(0.9); // x = 1
  expect(lexicalRelevance(8, 5)).toBeCloseTo(0.95, 15); // x = 1.6: 0.9 + 0.1 · 0.6 / 1.2
  expect(lexicalRelevance(11, 5)).toBe(1); // x = 2.2 = k1 + 1, which no memory reaches
  expect(lexicalRelevance(0, 0)).toBe(0); // no query terms
});

test('an unknown term counts against every memory', () => {
  const statistics = {
    memoryCount: 3,
    averageLength: 4,
    documentFrequency: (term: string) => (term === 'tea' ? 1 : 0),
  };
  const query = prepareBm25Query(['tea', 'zebra'], statistics);
  // ln 36 / (ln 36 + ln 108) = 3.58351893845611 / 8.26565016558033 = 0.433543503586; · 0.9 = 0.390189153228
  const score = bm25Score(query, (term) => (term === 'tea' ? 1 : 0), 4);
  expect(lexicalRelevance(score, query.idfSum)).toBeCloseTo(0.39018915, 8);
});

test('terms are distinct and in the order of UTF-16 code units', () => {
  const statistics = { memoryCount: 1, averageLength: 1, documentFrequency: () => 0 };
  // U+FF5E sorts after U+1F600, whose first code unit is D83D.
  const query = prepareBm25Query(['b', '～', 'a', '😀', 'b', 'Z'], statistics);
  expect(query.terms).toEqual(['Z', 'a', 'b', '😀', '～']);
  expect(query.idfs).toHaveLength(5);
});

test('the order and the repetition of query terms change no bit', () => {
  const terms = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { minLength: 1, maxLength: 12 });
  const counts = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 7, maxLength: 7 });
  fc.assert(
    fc.property(terms, counts, fc.integer({ min: 1, max: 90 }), (query, frequencies, length) => {
      const place = (term: string) => term.charCodeAt(0) - 97;
      const statistics = {
        memoryCount: 40,
        averageLength: 13.7,
        documentFrequency: (term: string) => place(term) * 5,
      };
      const score = (list: readonly string[]) =>
        bm25Score(prepareBm25Query(list, statistics), (term) => frequencies[place(term)], length);
      expect(score([...query, ...query].reverse())).toBe(score(query));
    }),
  );
});

test('lexical relevance rises strictly with BM25 and stays within 0 and 1', () => {
  const share = fc.integer({ min: 0, max: 2_199_999 });
  fc.assert(
    fc.property(share, share, fc.double({ min: 1e-3, max: 1e3, noNaN: true }), (first, second, idfSum) => {
      const low = lexicalRelevance((Math.min(first, second) / 1e6) * idfSum, idfSum);
      const high = lexicalRelevance((Math.max(first, second) / 1e6) * idfSum, idfSum);
      if (first === second) expect(high).toBe(low);
      else expect(high).toBeGreaterThan(low);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
    }),
  );
});

test('even the shortest memory with the most repetitions stays at most 1', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 2 ** 32 - 1 }), { minLength: 1, maxLength: 6 }),
      (frequencies) => {
        const terms = frequencies.map((_, index) => String(index));
        const statistics = {
          memoryCount: 9,
          averageLength: 1e12,
          documentFrequency: (term: string) => Number(term),
        };
        const query = prepareBm25Query(terms, statistics);
        const length = frequencies.reduce((sum, frequency) => sum + frequency, 0);
        const relevance = lexicalRelevance(
          bm25Score(query, (term) => frequencies[Number(term)], length),
          query.idfSum,
        );
        expect(relevance).toBeGreaterThan(0);
        expect(relevance).toBeLessThanOrEqual(1);
      },
    ),
  );
});

test('a term score rises with frequency and rarity, and falls with length', () => {
  const count = fc.integer({ min: 1, max: 1000 });
  fc.assert(
    fc.property(count, count, count, count, (frequency, length, averageLength, documentFrequency) => {
      const score = (f: number, l: number, n: number) =>
        termScore(inverseDocumentFrequency(2000, n), f, lengthNormalization(l, averageLength));
      const base = score(frequency, length, documentFrequency);
      expect(score(frequency + 1, length, documentFrequency)).toBeGreaterThan(base);
      expect(score(frequency, length + 1, documentFrequency)).toBeLessThan(base);
      expect(score(frequency, length, documentFrequency + 1)).toBeLessThan(base);
      expect(base).toBeGreaterThan(0);
    }),
  );
});

test('a store without any term has no division by zero', () => {
  expect(lengthNormalization(0, 0)).toBe(BM25_K1);
});

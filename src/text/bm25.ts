/**
 * BM25 and the lexical signal made from it. Only + − × ÷ and `Math.log`, in a fixed order, so that every
 * reader (resident index, naive scorer, tests) gets the same bits.
 *
 * Sources: Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); the inverse
 * document frequency that is never negative is that of Lucene's `BM25Similarity`; the factor (k1 + 1), which
 * Lucene has dropped since version 8, is kept as in SQLite's FTS5.
 */

/** How soon further occurrences of a term stop adding to the score: smaller is sooner. */
export const BM25_K1 = 1.2;

/** How far the length of a memory counts against it: 0 not at all, 1 in full proportion. */
export const BM25_B = 0.75;

/**
 * Every space is assumed to have this many more memories, without the term, so that term weights in a space of three
 * memories already resemble those in a large one.
 */
export const PRIOR_MEMORY_COUNT = 50;

/** The part of the lexical signal that x up to 1 makes up. The rest rewards repetition and brevity. */
const COVERAGE_SHARE = 0.9;
const EXCESS_SHARE = 0.1;

/**
 * ln(1 + (N − n + 0.5) / (n + 0.5)) with N = `memoryCount` + {@link PRIOR_MEMORY_COUNT}.
 *
 * @param memoryCount memories in the statistics, an integer ≥ 0.
 * @param documentFrequency how many of them contain the term, 0 (an unknown term) to `memoryCount`.
 * @returns more than 0; the rarer the term, the higher.
 */
export function inverseDocumentFrequency(memoryCount: number, documentFrequency: number): number {
  const population = memoryCount + PRIOR_MEMORY_COUNT;
  return Math.log(1 + (population - documentFrequency + 0.5) / (documentFrequency + 0.5));
}

/**
 * Returns k1 · (1 − b + b · length / averageLength), which the length of a memory adds to the denominator of each of
 * its term scores. It depends on no query, so an index may keep it, as float64.
 *
 * @param length terms in the memory, repetitions included, ≥ 0.
 * @param averageLength mean length over the memories in the statistics; if 0, every length counts as average.
 */
export function lengthNormalization(length: number, averageLength: number): number {
  const ratio = averageLength > 0 ? length / averageLength : 1;
  return BM25_K1 * (1 - BM25_B + BM25_B * ratio);
}

/**
 * Returns what one query term adds to the BM25 of one memory: idf · frequency · (k1 + 1) / (frequency + normalization).
 *
 * @param idf see {@link inverseDocumentFrequency}; any other weight > 0 may be used instead.
 * @param frequency occurrences of the term in the memory, ≥ 0.
 * @param normalization see {@link lengthNormalization}.
 * @returns 0 (frequency 0) to idf · (k1 + 1), never reached; exactly `idf` for one occurrence in a memory of average
 * length.
 */
export function termScore(idf: number, frequency: number, normalization: number): number {
  return idf * ((frequency * (BM25_K1 + 1)) / (frequency + normalization));
}

/**
 * The lexical signal: 0.9 · min(x, 1) + 0.1 · max(0, x − 1) / k1 with x = bm25 / idfSum.
 *
 * 0.9 means as good as a memory of average length that contains every query term once. Rises strictly with
 * BM25, depends on no other memory's score, and is at most 1, because x < k1 + 1 whatever the memory holds.
 *
 * @param bm25 BM25 of the memory, ≥ 0.
 * @param idfSum sum of idf over the distinct query terms, unknown ones included; 0 only if there are none.
 * @returns 0 to 1; 0 if there are no query terms.
 */
export function lexicalRelevance(bm25: number, idfSum: number): number {
  if (!(idfSum > 0)) return 0;
  const x = bm25 / idfSum;
  return x <= 1 ? COVERAGE_SHARE * x : COVERAGE_SHARE + (EXCESS_SHARE * (x - 1)) / BM25_K1;
}

/** Statistics over the memories of one space that BM25 counts: all except stubs. */
export interface Bm25Statistics {
  /** Memories counted, an integer ≥ 0. */
  readonly memoryCount: number;
  /** Their mean number of terms, ≥ 0. */
  readonly averageLength: number;
  /** How many of them contain the term; 0 for a term that none contains. */
  readonly documentFrequency: (term: string) => number;
}

/** A query prepared for scoring. Scores must be summed in the order of `terms`. */
export interface Bm25Query {
  /** The distinct terms, in ascending order of UTF-16 code units. */
  readonly terms: readonly string[];
  /** Weight of the term at the same place in `terms`. */
  readonly idfs: readonly number[];
  /** Sum of `idfs`, first to last. */
  readonly idfSum: number;
  /** Mean length the query was prepared with. */
  readonly averageLength: number;
}

/**
 * Prepares a query: each distinct term once, sorted and weighted. Unknown terms are included.
 *
 * @param terms the terms of the analysed query, in any order, repeated or not.
 * @param idfOf weight of a term; default {@link inverseDocumentFrequency} over `statistics`.
 */
export function prepareBm25Query(
  terms: Iterable<string>,
  statistics: Bm25Statistics,
  idfOf: (term: string) => number = (term) =>
    inverseDocumentFrequency(statistics.memoryCount, statistics.documentFrequency(term)),
): Bm25Query {
  const distinct = [...new Set(terms)].sort();
  const idfs = distinct.map(idfOf);
  let idfSum = 0;
  for (const idf of idfs) idfSum += idf;
  return { terms: distinct, idfs, idfSum, averageLength: statistics.averageLength };
}

/**
 * Computes the BM25 of one memory, term by term in the query's order.
 *
 * @param frequencyOf occurrences of a term in the memory; 0 or `undefined` if it does not contain it.
 * @param length terms in the memory, repetitions included.
 * @returns 0 or more, less than `query.idfSum` · (k1 + 1).
 */
export function bm25Score(
  query: Bm25Query,
  frequencyOf: (term: string) => number | undefined,
  length: number,
): number {
  const normalization = lengthNormalization(length, query.averageLength);
  let score = 0;
  for (let index = 0; index < query.terms.length; index++) {
    const frequency = frequencyOf(query.terms[index]!) ?? 0;
    if (frequency > 0) score += termScore(query.idfs[index]!, frequency, normalization);
  }
  return score;
}

import { BM25_K1, lengthNormalization, lexicalRelevance, termScore } from '../text/bm25.ts';
import { frequencyIn, type QueryWords } from './lexical.ts';
import type { ResidentIndex } from './resident-index.ts';

/** The highest relevance that rows with only common words may reach. */
const MOST_RELEVANCE = 0.25;

/** Words of a query that are so frequent, and weigh so little, that most rows with them need not be counted. */
export interface CommonWords {
  /** For each term of the query: whether it is common. */
  readonly isCommon: readonly boolean[];
  /** The highest relevance of a row if neither it nor its neighbours contain any other word. */
  readonly most: number;
}

/**
 * Selects the commonest words of a query, as many as keep rows without any other word below `MOST_RELEVANCE`. Returns
 * `undefined` if none is in at least `from` rows.
 */
export function commonWords(words: QueryWords, from: number): CommonWords | undefined {
  const { idfs, idfSum, postings } = words;
  const countOf = (term: number) => postings[term]?.count ?? 0;
  const byCount = [...postings.keys()].sort((a, b) => countOf(b) - countOf(a));
  const isCommon = postings.map(() => false);
  let sum = 0;
  let most = 0;
  for (const term of byCount) {
    // The limit of a term's score as its frequency grows.
    const bound = lexicalRelevance((sum + idfs[term]!) * (BM25_K1 + 1), idfSum);
    if (countOf(term) < from || bound > MOST_RELEVANCE) break;
    sum += idfs[term]!;
    most = bound;
    isCommon[term] = true;
  }
  return most === 0 ? undefined : { isCommon, most };
}

/** Computes the BM25 score of a row, without its neighbours. */
export function bm25Of({ lengths }: ResidentIndex, words: QueryWords, row: number): number {
  const normalization = lengthNormalization(lengths[row]!, words.averageLength);
  let bm25 = 0;
  words.postings.forEach((postings, term) => {
    const frequency = postings ? frequencyIn(postings, row) : 0;
    if (frequency > 0) bm25 += termScore(words.idfs[term]!, frequency, normalization);
  });
  return bm25;
}

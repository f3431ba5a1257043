import { BM25_K1, lengthNormalization, lexicalRelevance, termScore } from '../text/bm25.ts';
import { frequencyIn, type QueryWords } from './lexical.ts';
import type { ResidentIndex } from './resident-index.ts';

/** Relevance that rows with nothing but common words of the query reach at most. */
const MOST_RELEVANCE = 0.25;

/** Words of a query that so many rows have, and that weigh so little, that most of these rows need not be counted. */
export interface CommonWords {
  /** Of each term of the query: whether it is one of them. */
  readonly isCommon: readonly boolean[];
  /** A row that has no other word, in it or beside it, is not more relevant than this. */
  readonly most: number;
}

/**
 * The commonest words of a query, as many as leave rows that have no other below a bound; `undefined` where none of them is in
 * `from` rows.
 */
export function commonWords(words: QueryWords, from: number): CommonWords | undefined {
  const { idfs, idfSum, postings } = words;
  const countOf = (term: number) => postings[term]?.count ?? 0;
  const byCount = [...postings.keys()].sort((a, b) => countOf(b) - countOf(a));
  const isCommon = postings.map(() => false);
  let sum = 0;
  let most = 0;
  for (const term of byCount) {
    // No frequency gives more than this.
    const bound = lexicalRelevance((sum + idfs[term]!) * (BM25_K1 + 1), idfSum);
    if (countOf(term) < from || bound > MOST_RELEVANCE) break;
    sum += idfs[term]!;
    most = bound;
    isCommon[term] = true;
  }
  return most === 0 ? undefined : { isCommon, most };
}

/** BM25 of a row: in it alone. */
export function bm25Of({ lengths }: ResidentIndex, words: QueryWords, row: number): number {
  const normalization = lengthNormalization(lengths[row]!, words.averageLength);
  let bm25 = 0;
  words.postings.forEach((postings, term) => {
    const frequency = postings ? frequencyIn(postings, row) : 0;
    if (frequency > 0) bm25 += termScore(words.idfs[term]!, frequency, normalization);
  });
  return bm25;
}

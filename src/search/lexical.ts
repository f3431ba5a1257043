import { SUBSTRING_RELEVANCE } from '../store/substring.ts';
import { addTermScores, type Bm25Query, lexicalRelevance, prepareBm25Query } from '../text/bm25.ts';
import {
  averageLength,
  documentFrequency,
  type GrowingPostings,
  normalizations,
  type ResidentIndex,
} from './resident-index.ts';

/** BM25 of every row for one query. */
export interface LexicalScores {
  /** NaN everywhere when the query has no words at all: the relevance is then unknown, not 0. */
  readonly relevance: Float64Array;
  readonly bm25: Float64Array;
}

/** Scores a query's terms; `ids` are the store's numbers of them, `undefined` for one it has never seen. */
export function lexicalScores(
  index: ResidentIndex,
  terms: readonly string[],
  ids: readonly (number | undefined)[],
): LexicalScores {
  const bm25 = new Float64Array(index.size);
  const relevance = new Float64Array(index.size);
  const postings = new Map<string, GrowingPostings>();
  for (const [at, term] of terms.entries()) {
    const id = ids[at];
    const found = id === undefined ? undefined : index.postings.get(id);
    if (found) postings.set(term, found);
  }
  const query: Bm25Query = prepareBm25Query(terms, {
    memoryCount: index.memoryCount,
    averageLength: averageLength(index),
    documentFrequency: (term) => {
      const found = postings.get(term);
      return found ? documentFrequency(index, found) : 0;
    },
  });
  const lengths = normalizations(index);
  const touched: GrowingPostings[] = [];
  query.terms.forEach((term, at) => {
    const found = postings.get(term);
    if (!found) return;
    addTermScores(query.idfs[at]!, found, lengths, bm25);
    touched.push(found);
  });
  for (const { rows, count } of touched) {
    for (let at = 0; at < count; at++) {
      const row = rows[at]!;
      relevance[row] = lexicalRelevance(bm25[row]!, query.idfSum);
    }
  }
  return { relevance, bm25 };
}

/** Scores of a query in which no term is left: a row either holds its text, or not. */
export function substringScores(index: ResidentIndex, keys: Iterable<number>): LexicalScores {
  const relevance = new Float64Array(index.size);
  for (const key of keys) {
    const row = index.rowOfKey.get(key);
    if (row !== undefined) relevance[row] = SUBSTRING_RELEVANCE;
  }
  return { relevance, bm25: new Float64Array(index.size) };
}

/** Scores of a recall without a query. */
export function noLexicalScores(index: ResidentIndex): LexicalScores {
  return { relevance: new Float64Array(index.size).fill(Number.NaN), bm25: new Float64Array(index.size) };
}

import { SUBSTRING_RELEVANCE } from '../store/substring.ts';
import {
  addTermScores,
  inverseDocumentFrequency,
  lengthNormalization,
  lexicalRelevance,
  prepareBm25Query,
  termScore,
} from '../text/bm25.ts';
import { NEIGHBOUR_OFFSETS } from '../text/context.ts';
import {
  averageLength,
  documentFrequency,
  type GrowingPostings,
  normalizations,
  type ResidentIndex,
} from './resident-index.ts';
import { type Context, neighboursOf, sessionOf, type Turns } from './turns.ts';

/** How far off a neighbour may stand. */
const FURTHEST = Math.max(...NEIGHBOUR_OFFSETS);

/** The words of a query, weighed by what the index knows of them. */
export interface QueryWords {
  /** In the order in which scores are summed. */
  readonly terms: readonly string[];
  readonly idfs: readonly number[];
  /** How many memories have each. */
  readonly documentFrequencies: readonly number[];
  /** `undefined` for a term that no memory has. */
  readonly postings: readonly (GrowingPostings | undefined)[];
  readonly idfSum: number;
  readonly averageLength: number;
  /** What the mean length is made of, as it was then. */
  readonly memoryCount: number;
  readonly totalLength: number;
}

/** The words of a query by the store's numbers of them, `undefined` for one it has never seen. */
export function queryWords(
  index: ResidentIndex,
  terms: readonly string[],
  ids: readonly (number | undefined)[],
): QueryWords {
  const known = new Map<string, GrowingPostings>();
  for (const [at, term] of terms.entries()) {
    const id = ids[at];
    const found = id === undefined ? undefined : index.postings.get(id);
    if (found) known.set(term, found);
  }
  const frequencies = new Map([...known].map(([term, found]) => [term, documentFrequency(index, found)]));
  const { memoryCount, totalLength } = index;
  const query = prepareBm25Query(terms, {
    memoryCount,
    averageLength: averageLength(index),
    documentFrequency: (term) => frequencies.get(term) ?? 0,
  });
  return {
    ...query,
    documentFrequencies: query.terms.map((term) => frequencies.get(term) ?? 0),
    postings: query.terms.map((term) => known.get(term)),
    memoryCount,
    totalLength,
  };
}

/** BM25 of every row for one query. */
export interface LexicalScores {
  /** NaN everywhere when the query has no words at all: the relevance is then unknown, not 0. */
  readonly relevance: Float64Array;
  readonly bm25: Float64Array;
}

export function lexicalScores(index: ResidentIndex, words: QueryWords): LexicalScores {
  const bm25 = new Float64Array(index.size);
  const relevance = new Float64Array(index.size);
  const lengths = normalizations(index);
  words.postings.forEach((postings, at) => {
    if (postings) addTermScores(words.idfs[at]!, postings, lengths, bm25);
  });
  for (const postings of words.postings) {
    if (!postings) continue;
    const { rows, count } = postings;
    for (let at = 0; at < count; at++) {
      const row = rows[at]!;
      relevance[row] = lexicalRelevance(bm25[row]!, words.idfSum);
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

/** The relevance of the words of a row together with those around it. */
export function contextRelevance(index: ResidentIndex, turns: Turns, words: QueryWords, row: number): number {
  const neighbours = neighboursOf(index, turns, row);
  let length = index.lengths[row]!;
  for (const { row: other, weight } of neighbours) length += weight * index.lengths[other]!;
  const normalization = lengthNormalization(length, words.averageLength);
  let bm25 = 0;
  words.postings.forEach((postings, at) => {
    if (!postings) return;
    let frequency = frequencyIn(postings, row);
    for (const { row: other, weight } of neighbours) frequency += weight * frequencyIn(postings, other);
    if (frequency > 0) bm25 += termScore(words.idfs[at]!, frequency, normalization);
  });
  return lexicalRelevance(bm25, words.idfSum);
}

/**
 * {@link contextRelevance} of every row that has a word of the query, or stands beside one: term by term, in the same
 * order of additions, so that both give the same bits.
 */
export function contextScores(
  { rows, places, sessions }: Turns,
  { weights, lengths }: Context,
  words: QueryWords,
  { relevance }: LexicalScores,
): Float64Array {
  const counts = new Uint32Array(rows.length);
  const bm25 = new Float64Array(rows.length);
  /** The last term that was counted around each place. */
  const counted = new Uint32Array(rows.length);
  words.postings.forEach((postings, term) => {
    if (!postings) return;
    const idf = words.idfs[term]!;
    for (let at = 0; at < postings.count; at++) {
      const place = places[postings.rows[at]!]!;
      if (place >= 0) counts[place] = postings.frequencies[at]!;
    }
    for (let at = 0; at < postings.count; at++) {
      const found = places[postings.rows[at]!]!;
      if (found < 0) continue;
      const session = sessions[found]!;
      const end = Math.min(found + FURTHEST, rows.length - 1);
      for (let place = Math.max(0, found - FURTHEST); place <= end; place++) {
        if (sessions[place] !== session || counted[place] === term + 1) continue;
        counted[place] = term + 1;
        let frequency = counts[place]!;
        for (let each = 0; each < NEIGHBOUR_OFFSETS.length; each++) {
          const weight = weights[NEIGHBOUR_OFFSETS.length * place + each]!;
          if (weight > 0) frequency += weight * counts[place + NEIGHBOUR_OFFSETS[each]!]!;
        }
        if (frequency > 0) {
          bm25[place]! += termScore(
            idf,
            frequency,
            lengthNormalization(lengths[place]!, words.averageLength),
          );
        }
      }
    }
    for (let at = 0; at < postings.count; at++) {
      const place = places[postings.rows[at]!]!;
      if (place >= 0) counts[place] = 0;
    }
  });
  const scores = relevance.slice();
  for (let place = 0; place < rows.length; place++) {
    if (bm25[place]! > 0) scores[rows[place]!] = lexicalRelevance(bm25[place]!, words.idfSum);
  }
  return scores;
}

/** The relevance of each session as one text, among the sessions that have a visible memory. */
export function sessionScores(turns: Turns, words: QueryWords): Float64Array {
  const { places, sessions, lengths, totalLength } = turns;
  const count = lengths.length;
  const bm25 = new Float64Array(count);
  const average = count > 0 ? totalLength / count : 0;
  let idfSum = 0;
  for (const postings of words.postings) {
    const frequencies = new Map<number, number>();
    for (let at = 0; postings && at < postings.count; at++) {
      const place = places[postings.rows[at]!]!;
      if (place < 0) continue;
      const session = sessions[place]!;
      frequencies.set(session, (frequencies.get(session) ?? 0) + postings.frequencies[at]!);
    }
    const idf = inverseDocumentFrequency(count, frequencies.size);
    idfSum += idf;
    for (const [session, frequency] of frequencies) {
      bm25[session]! += termScore(idf, frequency, lengthNormalization(lengths[session]!, average));
    }
  }
  return bm25.map((each) => lexicalRelevance(each, idfSum));
}

/** {@link sessionScores} by row; a row without a session has its own relevance. */
export function sessionRelevance(
  index: ResidentIndex,
  turns: Turns,
  scores: Float64Array,
  { relevance }: LexicalScores,
  row: number,
): number {
  const session = sessionOf(index, turns, row);
  return session < 0 ? relevance[row]! : scores[session]!;
}

/** How often a term occurs in a row: postings stand in ascending order of rows. */
export function frequencyIn({ rows, frequencies, count }: GrowingPostings, row: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]! < row) low = middle + 1;
    else high = middle;
  }
  return low < count && rows[low] === row ? frequencies[low]! : 0;
}

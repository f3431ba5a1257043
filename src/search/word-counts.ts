import type {
  CountedWords,
  NeighbourCounts,
  TermCounts,
  UnknownTerm,
  WordCounts,
} from '../scoring/word-counts.ts';
import { inverseDocumentFrequency, lengthNormalization, termScore } from '../text/bm25.ts';
import { type AskedWord, frequencyIn, type QueryWords, type SessionScores } from './lexical.ts';
import type { Postings } from './postings.ts';
import type { ResidentIndex } from './resident-index.ts';
import { neighboursOf, sessionOf, type Turns } from './turns.ts';

/** What is needed to count the words of a query in a row, besides the row. */
export interface Counting {
  readonly words: QueryWords;
  /** Absent if the formula reads neither neighbours nor sessions. */
  readonly turns: Turns | undefined;
  /** Absent if the formula reads neither neighbours nor sessions. */
  readonly sessions: SessionScores | undefined;
  /** The words of the query as written, by term. */
  readonly written: ReadonlyMap<string, string> | undefined;
}

/** What the words of a row are counted from later, when the index may have changed. Rows and postings never change. */
export interface CountedRow {
  readonly row: number;
  readonly length: number;
  readonly neighbours: readonly (Omit<NeighbourCounts, 'id'> & {
    readonly row: number;
    readonly key: number;
  })[];
  /** The number of its session, or 0 if it has no visible one, and how many terms that session has. */
  readonly session: number;
  readonly sessionLength: number;
}

export function countedRow(index: ResidentIndex, { turns }: Counting, row: number): CountedRow {
  const neighbours = turns ? neighboursOf(index, turns, row) : [];
  const session = turns ? sessionOf(index, turns, row) : 0;
  return {
    row,
    length: index.lengths[row]!,
    neighbours: neighbours.map(({ row: other, offset, weight }) => ({
      row: other,
      key: index.keys[other]!,
      offset,
      asks: index.asks[other] === 1,
      length: index.lengths[other]!,
      weight,
    })),
    session,
    sessionLength: turns?.sessionLengths[session] ?? 0,
  };
}

/** Returns the words of a row, counted on first access. `idOf` returns the id of a neighbour by its key. */
export function countedWords(
  counting: Counting,
  counted: CountedRow,
  idOf: (key: number) => string | undefined,
): CountedWords {
  return new LaterCounts(counting, counted, idOf);
}

/**
 * Counts on access. The getters are own properties, so that copying or comparing an object reads them, but all objects
 * share them. Getters made for each object would give each its own shape, which is slow.
 */
class LaterCounts implements CountedWords {
  declare readonly lexical: WordCounts;
  declare readonly contextLexical: WordCounts | undefined;
  declare readonly sessionLexical: WordCounts | undefined;
  readonly #counting: Counting;
  readonly #counted: CountedRow;
  readonly #idOf: (key: number) => string | undefined;

  constructor(counting: Counting, counted: CountedRow, idOf: (key: number) => string | undefined) {
    this.#counting = counting;
    this.#counted = counted;
    this.#idOf = idOf;
    Object.defineProperties(this, LaterCounts.#getters);
  }

  static readonly #getters: PropertyDescriptorMap = {
    lexical: {
      enumerable: true,
      get(this: LaterCounts) {
        return inMemories(this.#counting, { ...this.#counted, neighbours: [] }, this.#idOf);
      },
    },
    contextLexical: {
      enumerable: true,
      get(this: LaterCounts) {
        return this.#counting.turns && inMemories(this.#counting, this.#counted, this.#idOf);
      },
    },
    sessionLexical: {
      enumerable: true,
      get(this: LaterCounts) {
        const { sessions } = this.#counting;
        if (!sessions || this.#counted.session === 0) return sessions && this.lexical;
        return inSessions(this.#counting, sessions, this.#counted);
      },
    },
  };
}

function inMemories(
  counting: Counting,
  { row, length, neighbours }: CountedRow,
  idOf: (key: number) => string | undefined,
): WordCounts {
  const { words } = counting;
  const { averageLength, memoryCount, totalLength } = words;
  let fullLength = length;
  for (const each of neighbours) fullLength += each.weight * each.length;
  const normalization = lengthNormalization(fullLength, averageLength);
  const frequency = (postings: Postings | undefined, of: number) =>
    postings ? frequencyIn(postings, of) : 0;
  const named = namesOf(counting);
  return {
    among: 'memories',
    texts: memoryCount,
    totalLength,
    averageLength,
    length,
    neighbours: neighbours.map(({ key, row: _, ...rest }) => ({ id: idOf(key) ?? '', ...rest })),
    fullLength,
    terms: words.postings.map((postings, at): TermCounts => {
      const count = frequency(postings, row);
      const around = neighbours.map((each) => frequency(postings, each.row));
      let sum = count;
      for (const [each, { weight }] of neighbours.entries()) sum += weight * around[each]!;
      const texts = words.documentFrequencies[at]!;
      return {
        ...named[at]!,
        texts,
        idf: inverseDocumentFrequency(memoryCount, texts),
        count,
        around,
        frequency: sum,
        score: termScore(words.idfs[at]!, sum, normalization),
      };
    }),
    unknown: unknownTerms(counting, memoryCount, ({ documentFrequency }) => documentFrequency),
  };
}

function inSessions(
  counting: Counting,
  { count: texts, totalLength, frequencies }: SessionScores,
  { session, sessionLength: length }: CountedRow,
): WordCounts {
  const { words } = counting;
  const averageLength = texts > 0 ? totalLength / texts : 0;
  const normalization = lengthNormalization(length, averageLength);
  const named = namesOf(counting);
  return {
    among: 'sessions',
    texts,
    totalLength,
    averageLength,
    length,
    neighbours: [],
    fullLength: length,
    terms: frequencies.map(({ sessions, counts }, at): TermCounts => {
      const count = counts[sessions.indexOf(session)] ?? 0;
      const idf = inverseDocumentFrequency(texts, sessions.length);
      const score = termScore(words.weights[at]! * idf, count, normalization);
      return {
        ...named[at]!,
        texts: sessions.length,
        idf,
        count,
        around: [],
        frequency: count,
        score,
      };
    }),
    unknown: unknownTerms(counting, texts, () => 0),
  };
}

type Named = Pick<TermCounts, 'term' | 'word' | 'insteadOf' | 'weight'>;

/** Returns the name of every term, in order. */
function namesOf({ words, written }: Counting): readonly Named[] {
  let place = 0;
  return words.terms.map((term, at) => {
    const weight = words.weights[at]!;
    while (place < words.asked.length && words.asked[place]!.end <= at) place += 1;
    const asked = words.asked[place];
    if (!asked || asked.standIns.length === 0) return { term, word: written?.get(term) ?? term, weight };
    return { term, word: term, insteadOf: asked.term, weight };
  });
}

function unknownTerms(
  { words, written }: Counting,
  all: number,
  textsOf: (word: AskedWord) => number,
): readonly UnknownTerm[] {
  return words.asked.flatMap((each) => {
    if (each.standIns.length === 0) return [];
    const { term } = each;
    const texts = textsOf(each);
    return [{ term, word: written?.get(term) ?? term, texts, idf: inverseDocumentFrequency(all, texts) }];
  });
}

import type { MemoryRecord } from '../domain/memory.ts';
import type { CountedWords, TermCounts, WordCounts } from '../scoring/word-counts.ts';
import { grouped } from '../store/belief-state.ts';
import type { SearchableMemory } from '../store/state.ts';
import type { PreparedQuery, Spelling } from '../store/store.ts';
import {
  type Bm25Query,
  bm25Score,
  inverseDocumentFrequency,
  lengthNormalization,
  lexicalRelevance,
  termScore,
} from '../text/bm25.ts';
import { spellNaively } from './naive-spelling.ts';

/** The data beside a memory on which its word signals depend. This file defines them in the most obvious way. */
export interface WordsAround {
  readonly query: PreparedQuery;
  /** The stand-ins for terms that no visible memory has. */
  readonly spelling: readonly Spelling[];
  readonly memories: Texts;
  readonly sessions: Texts;
  /** The visible memories of each session, in order. */
  readonly turns: ReadonlyMap<string, readonly SearchableMemory[]>;
}

/** Texts among which words are counted. */
interface Texts {
  readonly bm25: Bm25Query;
  /** The terms to look for, as in `bm25`. */
  readonly looked: readonly Looked[];
  readonly count: number;
  readonly length: number;
  having(term: string): number;
}

interface Looked {
  readonly term: string;
  readonly weight: number;
  readonly insteadOf?: string;
}

export function wordsAround(
  memories: readonly SearchableMemory[],
  visible: readonly SearchableMemory[],
  query: PreparedQuery,
): WordsAround {
  const turns = grouped(
    visible.flatMap((each) =>
      each.memory.bornIn === undefined ? [] : [[each.memory.bornIn, each] as const],
    ),
  );
  for (const each of turns.values()) each.sort((a, b) => inOrder(a.memory, b.memory));
  // Statistics are over all memories that are not stubs, eligible or not.
  const counted = memories.filter(({ memory }) => memory.tier !== 'stub').map((each) => [each]);
  const spelling = spellNaively(query.terms, visible, query.written);
  return {
    query,
    spelling,
    memories: textsOf(counted, query, spelling),
    sessions: textsOf([...turns.values()], query, spelling),
    turns,
  };
}

function textsOf(
  texts: readonly (readonly SearchableMemory[])[],
  query: PreparedQuery,
  spelling: readonly Spelling[],
): Texts {
  const count = texts.length;
  const length = sumOf(texts, (text) => sumOf(text, ({ terms }) => lengthOf(terms)));
  const having = (term: string) => texts.filter((text) => text.some(({ terms }) => terms.has(term))).length;
  const idfOf = (term: string) => inverseDocumentFrequency(count, having(term));
  const asked = [...new Set(query.terms)].sort().map((term) => {
    const standIns = spelling.find((each) => each.term === term)?.standIns;
    const looked = standIns?.map((each): Looked => {
      return { term: each.term, weight: each.distance === undefined ? 0.25 : 0.5, insteadOf: term };
    }) ?? [{ term, weight: 1 }];
    const idfs = looked.map((each) => each.weight * idfOf(each.term));
    const place = sumOf(idfs, (each) => each);
    return { looked, idfs, place: standIns ? Math.max(idfOf(term), place) : place };
  });
  const looked = asked.flatMap((each) => each.looked);
  const bm25 = {
    terms: looked.map(({ term }) => term),
    idfs: asked.flatMap(({ idfs }) => idfs),
    idfSum: sumOf(asked, ({ place }) => place),
    averageLength: count > 0 ? length / count : 0,
  };
  return { bm25, looked, count, length, having };
}

/** The BM25 of a memory by itself. */
export function bm25Of(searched: SearchableMemory, { memories }: WordsAround): number {
  return bm25Score(memories.bm25, (term) => wordsOf(searched).get(term), lengthOf(wordsOf(searched)));
}

/** The words of a memory and, with decreasing weight, of the turns around it. */
export function contextOf(searched: SearchableMemory, around: WordsAround, lexical: number): number {
  const { bm25 } = around.memories;
  if (around.query.terms.length === 0 || searched.memory.bornIn === undefined) return lexical;
  const sum = (of: (words: ReadonlyMap<string, number>) => number) => {
    let total = of(wordsOf(searched));
    for (const { each, weight } of lenders(searched, around)) total += weight * of(wordsOf(each));
    return total;
  };
  const score = bm25Score(bm25, (term) => sum((words) => words.get(term) ?? 0), sum(lengthOf));
  return lexicalRelevance(score, bm25.idfSum);
}

/** The words of the whole session of a memory. */
export function sessionOf({ memory }: SearchableMemory, around: WordsAround, lexical: number): number {
  const { bm25 } = around.sessions;
  const turns = turnsOf(memory, around);
  if (around.query.terms.length === 0 || turns.length === 0) return lexical;
  const count = (term: string) => sumOf(turns, ({ terms }) => terms.get(term) ?? 0);
  const length = sumOf(turns, ({ terms }) => lengthOf(terms));
  return lexicalRelevance(bm25Score(bm25, count, length), bm25.idfSum);
}

/** The counts from which the word signals of a memory are computed. */
export function countedNaively(
  searched: SearchableMemory,
  around: WordsAround,
  read: ReadonlySet<string>,
): CountedWords | undefined {
  if (around.query.terms.length === 0) return undefined;
  const looksAround = read.has('contextLexical') || read.has('sessionLexical');
  const turns = turnsOf(searched.memory, around);
  return {
    get lexical(): WordCounts {
      return countsOf('memories', [searched], [], around);
    },
    get contextLexical() {
      return looksAround ? countsOf('memories', [searched], lenders(searched, around), around) : undefined;
    },
    get sessionLexical() {
      if (!looksAround) return undefined;
      return turns.length > 0 ? countsOf('sessions', turns, [], around) : this.lexical;
    },
  };
}

function countsOf(
  among: WordCounts['among'],
  text: readonly SearchableMemory[],
  neighbours: readonly Lender[],
  around: WordsAround,
): WordCounts {
  const { bm25, looked, count: texts, length: totalLength, having } = around[among];
  const { averageLength } = bm25;
  const written = (term: string) => around.query.written?.get(term) ?? term;
  const withLent = (own: number, of: (each: SearchableMemory) => number) => {
    let sum = own;
    for (const { each, weight } of neighbours) sum += weight * of(each);
    return sum;
  };
  const length = sumOf(text, (each) => lengthOf(wordsOf(each)));
  const fullLength = withLent(length, (each) => lengthOf(wordsOf(each)));
  return {
    among,
    texts,
    totalLength,
    averageLength,
    length,
    neighbours: neighbours.map(({ each, offset, asks, weight }) => ({
      id: each.memory.id,
      offset,
      asks,
      length: lengthOf(wordsOf(each)),
      weight,
    })),
    fullLength,
    terms: looked.map(({ term, weight, insteadOf }): TermCounts => {
      const of = (each: SearchableMemory) => wordsOf(each).get(term) ?? 0;
      const count = sumOf(text, of);
      const frequency = withLent(count, of);
      const idf = inverseDocumentFrequency(texts, having(term));
      return {
        term,
        word: insteadOf === undefined ? written(term) : term,
        ...(insteadOf === undefined ? {} : { insteadOf }),
        weight,
        texts: having(term),
        idf,
        count,
        around: neighbours.map(({ each }) => of(each)),
        frequency,
        score: termScore(weight * idf, frequency, lengthNormalization(fullLength, averageLength)),
      };
    }),
    unknown: around.spelling.map(({ term }) => ({
      term,
      word: written(term),
      texts: having(term),
      idf: inverseDocumentFrequency(texts, having(term)),
    })),
  };
}

interface Lender {
  readonly each: SearchableMemory;
  readonly offset: number;
  readonly asks: boolean;
  readonly weight: number;
}

/** The turns around a memory whose words count for it, in the order in which they are added. */
function lenders(searched: SearchableMemory, around: WordsAround): readonly Lender[] {
  const { memory } = searched;
  const others = turnsOf(memory, around).filter((each) => each.memory.id !== memory.id);
  const last = others.at(-1)?.memory;
  const written = memory.textChangedAt ?? (memory.revisionCount > 1 ? memory.updatedAt : memory.createdAt);
  const replaced = last !== undefined && written > last.createdAt && written > memory.createdAt;
  const isTurn = (each: MemoryRecord) => each.type !== 'summary' && each.source !== 'consolidated';
  if (memory.bornIn === undefined || replaced || !isTurn(memory)) return [];
  const place = others.filter((each) => inOrder(each.memory, memory) < 0).length;
  const share = (each: SearchableMemory) => Math.min(1, 25 / Math.max(1, lengthOf(wordsOf(each))));
  const beside = [
    [others[place - 1], -1],
    [others[place], 1],
    [others[place - 2], -2],
    [others[place + 1], 2],
  ] as const;
  return beside.flatMap(([each, offset]) => {
    if (!each || !isTurn(each.memory)) return [];
    const asks = /[?？؟]/.test(each.memory.content);
    const base = offset === -1 ? (asks ? 0.7 : 0.3) : offset === 1 ? 0.25 : 0.15;
    return [{ each, offset, asks, weight: base * (share(searched) * share(each)) }];
  });
}

function turnsOf({ bornIn }: MemoryRecord, { turns }: WordsAround): readonly SearchableMemory[] {
  return bornIn === undefined ? [] : (turns.get(bornIn) ?? []);
}

/** The words of a memory; none for a stub, whose words are neither searched nor counted. */
function wordsOf({ memory, terms }: SearchableMemory): ReadonlyMap<string, number> {
  return memory.tier === 'stub' ? new Map() : terms;
}

function inOrder(a: MemoryRecord, b: MemoryRecord): number {
  return a.createdAt - b.createdAt || a.ordinal - b.ordinal;
}

function sumOf<Each>(list: readonly Each[], of: (each: Each) => number): number {
  return list.reduce((total, each) => total + of(each), 0);
}

function lengthOf(terms: ReadonlyMap<string, number>): number {
  let length = 0;
  for (const count of terms.values()) length += count;
  return length;
}

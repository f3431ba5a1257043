import type { SignalName } from './signals.ts';

/**
 * The counts from which a word signal was computed. They reproduce it to the last bit: with x = Σ score / Σ idf over
 * the terms of the query, the signal is 0.9 · min(x, 1) + 0.1 · max(0, x − 1) / 1.2. Numbers are integers unless stated
 * otherwise; the other numbers follow from those.
 */
export interface WordCounts {
  /** What counts as one text: a memory of the space, visible or not, or a session with a visible memory. */
  readonly among: 'memories' | 'sessions';
  /** How many such texts there are, stubs excluded. */
  readonly texts: number;
  /** How many terms all of them have. All lengths here include repetitions. */
  readonly totalLength: number;
  /** `totalLength / texts`, not rounded; 0 if there are no texts. */
  readonly averageLength: number;
  /** How many terms this memory has, or the visible memories of its session. */
  readonly length: number;
  /** The visible turns whose words also count, in the order in which they are added. */
  readonly neighbours: readonly NeighbourCounts[];
  /** `length` + Σ `weight · length` over the neighbours, not rounded. */
  readonly fullLength: number;
  /**
   * The terms that were looked for, in the order in which they are summed: the distinct terms of the query, or their
   * stand-ins.
   */
  readonly terms: readonly TermCounts[];
  /** The terms of the query that no visible memory contains and that have stand-ins. */
  readonly unknown: readonly UnknownTerm[];
}

/**
 * A term with stand-ins. In a full match it counts its own idf, or the weighted idf of all stand-ins, if that is more.
 */
export interface UnknownTerm {
  readonly term: string;
  readonly word: string;
  /** How many of the texts contain it, none of them visible. */
  readonly texts: number;
  readonly idf: number;
}

/** A turn beside a memory, in the session in which both were made. */
export interface NeighbourCounts {
  readonly id: string;
  /** Its place relative to the memory among the visible turns: −2, −1, 1 or 2. */
  readonly offset: number;
  /** Whether its content holds a question mark. */
  readonly asks: boolean;
  readonly length: number;
  /** The share of its words that counts, from 0 to 0.7, not rounded. */
  readonly weight: number;
}

/** How often a term of the query occurs. */
export interface TermCounts {
  readonly term: string;
  /** The word of the query that it comes from, as it was written. */
  readonly word: string;
  /** The unknown term of the query that it stands in for. */
  readonly insteadOf?: string | undefined;
  /**
   * 1 for a term of the query. For a stand-in: 0.5 if the query's term is misspelt, 0.25 if it is the beginning of the
   * stand-in.
   */
  readonly weight: number;
  /** How many of the texts contain it. */
  readonly texts: number;
  /** ln(1 + (N − texts + 0.5) / (texts + 0.5)) with N = all texts + 50. */
  readonly idf: number;
  /** Occurrences in this memory, or session. */
  readonly count: number;
  /** Occurrences in each neighbour, in their order. */
  readonly around: readonly number[];
  /** `count` + Σ `weight · around` over the neighbours, not rounded. */
  readonly frequency: number;
  /** What it adds to BM25: weight · idf · frequency · 2.2 / (frequency + 1.2 · (0.25 + 0.75 · fullLength / averageLength)). */
  readonly score: number;
}

/** The counts behind each word signal that a formula reads. Each may be computed on first access. */
export type CountedWords = { readonly [Name in SignalName]?: WordCounts | undefined };

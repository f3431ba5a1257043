import type { SignalName } from './signals.ts';

/**
 * What a signal of words was made from: counts, from which it can be recomputed to the last bit. With x = Σ score / Σ idf
 * over the terms of the query it is 0.9 · min(x, 1) + 0.1 · max(0, x − 1) / 1.2. Numbers are integers where nothing else is said;
 * the others follow from them.
 */
export interface WordCounts {
  /** What counts as one text: memories of the space, visible or not, or sessions with a visible memory. */
  readonly among: 'memories' | 'sessions';
  /** How many such texts there are; stubs are none. */
  readonly texts: number;
  /** The terms of all of them, repetitions included, as in every length here. */
  readonly totalLength: number;
  /** `totalLength / texts`, not rounded; 0 where there are none. */
  readonly averageLength: number;
  /** The terms of this memory, or of the visible memories of its session. */
  readonly length: number;
  /** The turns around whose words count too, in the order in which they are added: visible ones only. */
  readonly neighbours: readonly NeighbourCounts[];
  /** `length`, and `weight · length` of each neighbour, not rounded. */
  readonly fullLength: number;
  /** What was looked for, in the order in which it is summed: the distinct terms of the query, or what stands for them. */
  readonly terms: readonly TermCounts[];
  /** The terms of the query that no visible memory has and others stand for. */
  readonly unknown: readonly UnknownTerm[];
}

/** A term that others stand for: of a full match it takes its own idf, or all of theirs with their weights, if that is more. */
export interface UnknownTerm {
  readonly term: string;
  readonly word: string;
  /** How many of the texts have it, none of them visible. */
  readonly texts: number;
  readonly idf: number;
}

/** A turn beside a memory, in the session in which both were made. */
export interface NeighbourCounts {
  readonly id: string;
  /** Where it stands among the visible turns: −2, −1, 1 or 2. */
  readonly offset: number;
  /** Whether its content holds a question mark. */
  readonly asks: boolean;
  readonly length: number;
  /** The share of its words that counts, 0–0.7, not rounded. */
  readonly weight: number;
}

/** How often a term of the query occurs. */
export interface TermCounts {
  readonly term: string;
  /** The word of the query that it comes from, as it was written. */
  readonly word: string;
  /** The term of the query that it stands for, because that one is unknown. */
  readonly insteadOf?: string | undefined;
  /** 1; of a term that stands for another 0.5 where that one is misspelt, 0.25 where it is the beginning of this one. */
  readonly weight: number;
  /** How many of the texts have it. */
  readonly texts: number;
  /** ln(1 + (N − texts + 0.5) / (texts + 0.5)) with N = all texts + 50. */
  readonly idf: number;
  /** Occurrences in this memory, or session. */
  readonly count: number;
  /** Occurrences in each neighbour, in their order. */
  readonly around: readonly number[];
  /** `count`, and `weight · around` of each neighbour, not rounded. */
  readonly frequency: number;
  /** What it adds to BM25: weight · idf · frequency · 2.2 / (frequency + 1.2 · (0.25 + 0.75 · fullLength / averageLength)). */
  readonly score: number;
}

/** What the signals of words that a formula reads were made from; each may be counted only when it is looked at. */
export type CountedWords = { readonly [Name in SignalName]?: WordCounts | undefined };

import type { MemoryType, Source } from '../domain/memory.ts';
import type { Instant } from '../domain/time.ts';

/** A memory that may enter a context, with what choosing and rendering need of it. */
export interface ContextCandidate {
  readonly id: string;
  readonly type: MemoryType;
  readonly title?: string | undefined;
  readonly content: string;
  /** The date that is shown; usually when it was last updated. */
  readonly at: Instant;
  readonly source: Source;
  /** A pointer to the origin: a file, a commit, a message id. */
  readonly sourceRef?: string | undefined;
  /** Finite, ≥ 0. All candidates must have scores of the same recall. 0 means not a hit. */
  readonly score: number;
  /**
   * Replaces the score when memories are chosen and ordered. After reranking: the score at the memory's new place, once
   * scores are sorted. Default is the score.
   */
  readonly worth?: number | undefined;
  /** Its place in the answer, from 0. Breaks ties of equal worth. */
  readonly rank?: number | undefined;
  /** Found through a link, not by itself. Default is false. */
  readonly isAssociative?: boolean | undefined;
  /** Enters before all others, whatever its score, and is never left out as a duplicate. Default is false. */
  readonly mustInclude?: boolean | undefined;
  /** How certain it is, 0–1. A less certain memory cannot replace it as a duplicate. Default is 1. */
  readonly confidence?: number | undefined;
}

/** A candidate ready to be packed. */
export interface PackCandidate extends ContextCandidate {
  /** How many tokens it takes when rendered, header included: a whole number ≥ 0. */
  readonly tokens: number;
  /** The section that it belongs to. Used only with `shares`. */
  readonly section?: string | undefined;
}

export function worthOf({ worth, score }: ContextCandidate): number {
  return worth ?? score;
}

/** Orders must-includes first, then by worth, rank and id. Total over the memories of one space. */
export function compareCandidates(a: ContextCandidate, b: ContextCandidate): number {
  return (
    Number(b.mustInclude === true) - Number(a.mustInclude === true) ||
    worthOf(b) - worthOf(a) ||
    (a.rank ?? 0) - (b.rank ?? 0) ||
    (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  );
}

/** Returns the text of a memory, with its title. */
export function textOf({ title, content }: Pick<ContextCandidate, 'title' | 'content'>): string {
  return title === undefined || title === '' ? content : `${title}\n${content}`;
}

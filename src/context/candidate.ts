import type { MemoryType, Source } from '../domain/memory.ts';
import type { Instant } from '../domain/time.ts';

/** A memory that may enter a context: what choosing and rendering need of it. */
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
  /** Finite, ≥ 0. Only scores of one recall may stand together. 0 is no hit. */
  readonly score: number;
  /**
   * What it counts for where memories are chosen and put in order. Of a reranked answer: the score that stands at its
   * place once the scores are sorted. Default is its score.
   */
  readonly worth?: number | undefined;
  /** Its place in the answer, from 0; decides between equal worth. */
  readonly rank?: number | undefined;
  /** Found through a link, not by itself. Default is false. */
  readonly isAssociative?: boolean | undefined;
  /** Enters before all others, whatever its score, and is never left out as a duplicate. Default is false. */
  readonly mustInclude?: boolean | undefined;
  /** 0–1: how sure it is. Nothing that is less sure can stand in its place. Default is 1. */
  readonly confidence?: number | undefined;
}

/** A candidate that is ready to be packed. */
export interface PackCandidate extends ContextCandidate {
  /** What it takes when it is rendered, header and all: a whole number ≥ 0. */
  readonly tokens: number;
  /** The section that it belongs to. Read only with `shares`. */
  readonly section?: string | undefined;
}

export function worthOf({ worth, score }: ContextCandidate): number {
  return worth ?? score;
}

/** Must-includes first, then by worth, rank and id: total over memories of one space. */
export function compareCandidates(a: ContextCandidate, b: ContextCandidate): number {
  return (
    Number(b.mustInclude === true) - Number(a.mustInclude === true) ||
    worthOf(b) - worthOf(a) ||
    (a.rank ?? 0) - (b.rank ?? 0) ||
    (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  );
}

/** What a memory says, with its title. */
export function textOf({ title, content }: Pick<ContextCandidate, 'title' | 'content'>): string {
  return title === undefined || title === '' ? content : `${title}\n${content}`;
}

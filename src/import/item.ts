import { createHash } from 'node:crypto';
import type { Memory, RememberInput } from '../index.ts';

/** One thing that an importer found in a source. */
export type ImportItem =
  /** A statement to remember. Its id is stable: the same source gives the same id again. */
  | {
      readonly kind: 'statement';
      readonly where: string;
      readonly input: RememberInput & { readonly id: string };
    }
  /** A memory as an export wrote it, with all its clocks and counters. */
  | { readonly kind: 'record'; readonly where: string; readonly memory: Memory }
  /** A place that cannot be used; the rest of the source can. */
  | { readonly kind: 'unusable'; readonly where: string; readonly reason: string };

/** A source being read. */
export interface ImportSource {
  readonly items: AsyncIterable<ImportItem>;
  /** How much of it has been read, 0–1; `undefined` when its size is not known. */
  share(): number | undefined;
}

export interface SourceOptions {
  /** For statements that name none. Default is `global`. */
  readonly scope?: string | undefined;
  /** Added to those of every statement. */
  readonly tags?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A content of at most so many bytes fits into a store with default settings. */
export const MAX_CONTENT_BYTES = 32 * 1024;
const MAX_TITLE = 1000;

/** An id that the same parts give again: a word for the kind of source and 96 bits of SHA-256. */
export function stableId(kind: string, parts: readonly (string | number | undefined)[]): string {
  return `${kind}:${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)}`;
}

/** A title as long as a memory's may be. */
export function fitTitle(title: string): string | undefined {
  const trimmed = title.trim();
  if (trimmed === '') return undefined;
  return trimmed.length <= MAX_TITLE ? trimmed : `${trimmed.slice(0, MAX_TITLE - 1).toWellFormed()}…`;
}

/** The tags of a statement and those that the whole import gets; `undefined` for none. */
export function joinTags(
  own: readonly string[],
  added: readonly string[] | undefined,
): readonly string[] | undefined {
  const tags = [...new Set([...own, ...(added ?? [])])];
  return tags.length > 0 ? tags : undefined;
}

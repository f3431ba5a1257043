import { createHash } from 'node:crypto';
import { redactPrivate } from '../domain/redaction.ts';
import { splitLong } from '../files/plain-text.ts';
import type { Memory, RememberInput } from '../index.ts';

/** One thing that an importer found in a source. */
export type ImportItem =
  /** A statement to remember. Its id is stable: the same source gives the same id again. */
  | {
      readonly kind: 'statement';
      readonly where: string;
      readonly input: RememberInput & { readonly id: string };
      /** The names by which links of the source find it. */
      readonly names?: readonly string[] | undefined;
    }
  /** A memory as an export wrote it, with all its clocks and counters. */
  | { readonly kind: 'record'; readonly where: string; readonly memory: Memory }
  /** A place that cannot be used; the rest of the source can. */
  | { readonly kind: 'unusable'; readonly where: string; readonly reason: string }
  /** Two statements that belong together, each by the first of these names that something in the source has. */
  | {
      readonly kind: 'link';
      readonly from: readonly string[];
      readonly to: readonly string[];
      /** Set where the first has a named relation to the second, which the statement of one of these names states. */
      readonly relation?: { readonly name: string; readonly statedBy: readonly string[] } | undefined;
    }
  /** An entity that is remembered only if a relation of the source joins it. */
  | {
      readonly kind: 'entity';
      readonly input: RememberInput & { readonly id: string };
      readonly names: readonly string[];
    }
  /** What two of these entities have to do with each other, by the first of these names that something in the source has. */
  | {
      readonly kind: 'relation';
      readonly from: readonly string[];
      readonly to: readonly string[];
      readonly name: string;
      readonly statedBy: string;
    }
  /** Something that a memory has no place for, as people call it, in the plural. */
  | { readonly kind: 'left-out'; readonly what: string };

/** A source being read. */
export interface ImportSource {
  readonly items: AsyncIterable<ImportItem>;
  /** How much of it has been read, 0–1; `undefined` when its size is not known. */
  share(): number | undefined;
  /** Whose the items are; absent where the source is not divided by users. */
  readonly user?: string | undefined;
}

export interface SourceOptions {
  /** For statements that name none. Default is `global`. */
  readonly scope?: string | undefined;
  /** Added to those of every statement. */
  readonly tags?: readonly string[] | undefined;
  /** Of a document of several users: the one whose memories are read. */
  readonly user?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A content of at most so many bytes fits into a store with default settings. */
export const MAX_CONTENT_BYTES = 32 * 1024;
const MAX_TITLE = 1000;
const MAX_SOURCE_REF = 2000;

/**
 * An id that the same parts give again: a word for the kind of source and 96 bits of SHA-256. What is private is left
 * out of it: from a hash a short secret can be guessed.
 */
export function stableId(kind: string, parts: readonly (string | number | undefined)[]): string {
  const shown = parts.map((part) => (typeof part === 'string' ? redactPrivate(part) : part));
  return `${kind}:${createHash('sha256').update(JSON.stringify(shown)).digest('hex').slice(0, 24)}`;
}

/** A title as long as a memory's may be. */
export function fitTitle(title: string): string | undefined {
  const trimmed = title.trim();
  if (trimmed === '') return undefined;
  return trimmed.length <= MAX_TITLE ? trimmed : `${trimmed.slice(0, MAX_TITLE - 1).toWellFormed()}…`;
}

const MAX_AUTHOR = 200;
const MAX_ROLE = 64;

/** A name as long as an author's may be. */
export function fitAuthor(name: string): string | undefined {
  return name.trim().slice(0, MAX_AUTHOR).trim().toWellFormed() || undefined;
}

/** The tags of a statement and those that the whole import gets; `undefined` for none. */
export function joinTags(
  own: readonly string[],
  added: readonly string[] | undefined,
): readonly string[] | undefined {
  const tags = [...new Set([...own, ...(added ?? [])])];
  return tags.length > 0 ? tags : undefined;
}

export function unusable(where: string, reason: string): ImportItem {
  return { kind: 'unusable', where, reason };
}

/** The items of a piece of a source, which is reported alone where it is nested more deeply than can be read. */
export function withoutTooDeep(where: string, read: () => Iterable<ImportItem>): readonly ImportItem[] {
  try {
    return [...read()];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [unusable(where, 'is nested too deeply')];
  }
}

/** What another system says about one of its records. */
export interface ForeignRecord extends Omit<RememberInput, 'id' | 'source' | 'sourceRef'> {
  /** The system, the first part of ids and of `sourceRef`. */
  readonly system: string;
  readonly where: string;
  /** What makes the record known again, within the system and the scope of the import. */
  readonly key: readonly (string | number | undefined)[];
  /** Its id in the system; without one its place is the `sourceRef`. */
  readonly reference: string | undefined;
  /** The names by which links of the source find it. */
  readonly names?: readonly string[] | undefined;
}

/** The record as a statement, or as several, then without a topic, when its text is longer than a memory may be. */
export function foreignStatements(record: ForeignRecord, options: SourceOptions): readonly ImportItem[] {
  const { system, where, key, reference, content, title, tags, topicKey, names, author, role, ...said } =
    record;
  // Of one topic each piece would replace the one before. What is private may reach over the end of a piece.
  const pieces = splitLong(redactPrivate(content), MAX_CONTENT_BYTES);
  return pieces.map((piece, part) => ({
    kind: 'statement',
    where,
    ...(names === undefined || part > 0 ? {} : { names }),
    input: {
      ...(options.scope === undefined ? {} : { scope: options.scope }),
      ...said,
      ...(pieces.length === 1 && topicKey !== undefined ? { topicKey } : {}),
      id: stableId(system, [options.scope, ...key, part]),
      content: piece,
      title: title === undefined ? undefined : fitTitle(title),
      tags: joinTags(tags ?? [], options.tags),
      ...(author === undefined ? {} : { author: fitAuthor(author) }),
      ...(role === undefined ? {} : { role: role.slice(0, MAX_ROLE) }),
      source: 'imported',
      sourceRef: (reference === undefined ? where : `${system}:${reference}`)
        .slice(0, MAX_SOURCE_REF)
        .toWellFormed(),
    },
  }));
}

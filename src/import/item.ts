import { createHash } from 'node:crypto';
import { FIELDS } from '../domain/fields.ts';
import { redactPrivate } from '../domain/redaction.ts';
import { splitLong } from '../files/plain-text.ts';
import type { Memory, RememberInput } from '../index.ts';
import {
  fitAuthor,
  fitMetadata,
  fitName,
  fitTags,
  fitText,
  fitTitle,
  fitTopic,
  fitUpdated,
  type Lose,
} from './fit.ts';

/** One thing that an importer found in a source. */
export type ImportItem =
  /** A statement to remember. Its id is stable: the same source gives the same id again. */
  | {
      readonly kind: 'statement';
      readonly where: string;
      readonly input: RememberInput & { readonly id: string };
      /** The names by which links of the source find it. */
      readonly names?: readonly string[] | undefined;
      /** What it says where another memory has its content already, said of something else. */
      readonly apart?: string | undefined;
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

/**
 * An id that the same parts give again: a word for the kind of source and 96 bits of SHA-256. What is private is left
 * out of it: from a hash a short secret can be guessed.
 */
export function stableId(kind: string, parts: readonly (string | number | undefined)[]): string {
  const shown = parts.map((part) => (typeof part === 'string' ? redactPrivate(part) : part));
  return `${kind}:${createHash('sha256').update(JSON.stringify(shown)).digest('hex').slice(0, 24)}`;
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
  /** What it says where another memory has its content already, said of something else. */
  readonly apart?: string | undefined;
}

/**
 * The record as a statement, or as several, then without a topic, when its text is longer than a memory may be; and
 * what of it does not fit into one.
 */
export function foreignStatements(record: ForeignRecord, options: SourceOptions): readonly ImportItem[] {
  const { system, where, key, reference, names, apart, ...given } = record;
  const lost: ImportItem[] = [];
  const { content, topicKey, ...said } = fitted(given, options.tags, (what) =>
    lost.push({ kind: 'left-out', what }),
  );
  // Of one topic each piece would replace the one before. What is private may reach over the end of a piece.
  const pieces = splitLong(redactPrivate(content), MAX_CONTENT_BYTES);
  const whole = apart === undefined ? undefined : redactPrivate(fitText(apart, () => {}));
  const isApart = pieces.length === 1 && whole && Buffer.byteLength(whole) <= MAX_CONTENT_BYTES;
  const statements = pieces.map(
    (piece, part): ImportItem => ({
      kind: 'statement',
      where,
      ...(isApart ? { apart: whole } : {}),
      ...(names === undefined || part > 0 ? {} : { names }),
      input: {
        ...(options.scope === undefined ? {} : { scope: options.scope }),
        ...said,
        ...(pieces.length === 1 && topicKey !== undefined ? { topicKey } : {}),
        id: stableId(system, [options.scope, ...key, part]),
        content: piece,
        source: 'imported',
        sourceRef: fitText(reference === undefined ? where : `${system}:${reference}`, () => {})
          .slice(0, FIELDS.sourceRef.maxCharacters)
          .toWellFormed(),
      },
    }),
  );
  return [...statements, ...lost];
}

/** What another system says, as much of it as a memory may hold. */
function fitted(
  said: Pick<RememberInput, 'content'> & Partial<RememberInput>,
  added: readonly string[] | undefined,
  lose: Lose,
) {
  const {
    content,
    title,
    tags = [],
    author,
    role,
    kind,
    aliases,
    topicKey,
    metadata,
    sessionId,
    createdAt,
    updatedAt,
    ...rest
  } = said;
  return {
    ...rest,
    content: fitText(content, lose),
    title: title === undefined ? undefined : fitTitle(fitText(title, lose)),
    tags: joinTags(fitTags(tags, added, lose), added),
    ...(author === undefined ? {} : { author: fitAuthor(fitText(author, lose)) }),
    ...(role === undefined ? {} : { role: fitName(fitText(role, lose), FIELDS.role.maxCharacters) }),
    ...(kind === undefined ? {} : { kind: fitName(fitText(kind, lose), FIELDS.kind.maxCharacters) }),
    ...(aliases === undefined ? {} : { aliases: aliases.map((alias) => fitText(alias, lose)) }),
    topicKey: topicKey === undefined ? undefined : fitTopic(topicKey, lose),
    ...(metadata === undefined ? {} : { metadata: fitMetadata(metadata, lose) }),
    sessionId: sessionId === undefined ? undefined : fitSession(sessionId),
    createdAt,
    updatedAt: fitUpdated(createdAt, updatedAt),
  };
}

/** A session is known again by its id: of two long ones that begin alike a part would not do. */
function fitSession(id: string): string {
  const fits = id.length <= FIELDS.sessionId.maxCharacters && id.isWellFormed() && !id.includes('\0');
  return fits ? id : stableId('session', [id]);
}

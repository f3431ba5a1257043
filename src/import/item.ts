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
  /** A statement to remember. Its id is stable: importing the same source again gives the same id. */
  | {
      readonly kind: 'statement';
      readonly where: string;
      readonly input: RememberInput & { readonly id: string };
      /** The names by which links of the source refer to it. */
      readonly names?: readonly string[] | undefined;
      /** Content to use instead if a memory with another title has the same content already. */
      readonly apart?: string | undefined;
      /**
       * Whether it is an entity that only gives its names to an existing entity of one of them, whose content stays as
       * it is.
       */
      readonly givesNames?: boolean | undefined;
      /** The fields that its source can tell. If one is absent from `input`, the source has no value for it. */
      readonly tells?: readonly string[] | undefined;
    }
  /** A memory as an export wrote it, with all its times and counters. */
  | { readonly kind: 'record'; readonly where: string; readonly memory: Memory }
  /** A place in the source that cannot be imported. The rest of the source can. */
  | { readonly kind: 'unusable'; readonly where: string; readonly reason: string }
  /** A link between two statements. Each end lists names; the first one that an item of the source has counts. */
  | {
      readonly kind: 'link';
      readonly from: readonly string[];
      readonly to: readonly string[];
      /** A named relation of `from` to `to`; the statement that states it goes by one of the names in `statedBy`. */
      readonly relation?: { readonly name: string; readonly statedBy: readonly string[] } | undefined;
    }
  /** An entity that is remembered only if a relation of the source refers to it. */
  | {
      readonly kind: 'entity';
      readonly input: RememberInput & { readonly id: string };
      readonly names: readonly string[];
    }
  /**
   * A relation between two such entities. Each end lists names; the first one that an entity of the source has counts.
   */
  | {
      readonly kind: 'relation';
      readonly from: readonly string[];
      readonly to: readonly string[];
      readonly name: string;
      readonly statedBy: string;
    }
  /** Something that a memory has no field for; `what` is a plural noun such as `attachments`. */
  | { readonly kind: 'left-out'; readonly what: string };

/** A source being read. */
export interface ImportSource {
  readonly items: AsyncIterable<ImportItem>;
  /** How much of it has been read, 0–1; `undefined` when its size is not known. */
  share(): number | undefined;
  /** The user whose items these are; absent if the source is not divided by users. */
  readonly user?: string | undefined;
}

export interface SourceOptions {
  /** The scope of statements that name none. Default is `global`. */
  readonly scope?: string | undefined;
  /** Tags that are added to every memory. */
  readonly tags?: readonly string[] | undefined;
  /** The user whose memories are read from a document of several users. */
  readonly user?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The longest content that a store with default settings accepts. */
export const MAX_CONTENT_BYTES = 32 * 1024;

/**
 * Returns a stable id of `parts`: `kind` and 96 bits of SHA-256. Private passages are redacted before hashing, because
 * a short secret could be guessed from its hash.
 */
export function stableId(kind: string, parts: readonly (string | number | undefined)[]): string {
  const shown = parts.map((part) => (typeof part === 'string' ? redactPrivate(part) : part));
  return `${kind}:${createHash('sha256').update(JSON.stringify(shown)).digest('hex').slice(0, 24)}`;
}

/** Joins the tags of a statement with those of the whole import; `undefined` if there are none. */
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

/** Reports a field of a record that has no place in a memory. */
export function leftOutField(name: string): ImportItem {
  return { kind: 'left-out', what: `fields ${JSON.stringify(name)}` };
}

/** Returns the items of one part of a source. If it is nested too deeply to read, only that part is reported. */
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
  /** The name of the system, which ids and `sourceRef` begin with. */
  readonly system: string;
  readonly where: string;
  /** Identifies the record within its system and the scope of the import. Its id is made of it. */
  readonly key: readonly (string | number | undefined)[];
  /** Its id in the system. Without one, `sourceRef` is `where`. */
  readonly reference: string | undefined;
  /** The names by which links of the source refer to it. */
  readonly names?: readonly string[] | undefined;
  /** Content to use instead if a memory with another title has the same content already. */
  readonly apart?: string | undefined;
}

/**
 * Returns the record as a statement. A text that is too long for one memory is split into several statements without a
 * topic. What does not fit into the fields of a memory is returned as `left-out` items.
 */
export function foreignStatements(record: ForeignRecord, options: SourceOptions): readonly ImportItem[] {
  const { system, where, key, reference, names, apart, ...given } = record;
  const lost: ImportItem[] = [];
  const { content, topicKey, ...said } = fitted(given, options.tags, (what) =>
    lost.push({ kind: 'left-out', what }),
  );
  // With a topic, each piece would replace the one before. Redaction comes first: a private passage may span two
  // pieces.
  const pieces = splitLong(redactPrivate(content), MAX_CONTENT_BYTES);
  const whole = apart === undefined ? undefined : redactPrivate(fitText(apart, () => {}));
  const isApart = pieces.length === 1 && whole && Buffer.byteLength(whole) <= MAX_CONTENT_BYTES;
  const statements = pieces.map(
    (piece, part): ImportItem => ({
      kind: 'statement',
      where,
      ...(isApart ? { apart: whole } : {}),
      ...(given.type === 'entity' ? { givesNames: true } : {}),
      ...(names === undefined || part > 0 ? {} : { names }),
      tells: Object.keys(given),
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

/** Cuts the fields of a record to what a memory may hold, and calls `lose` for each loss. */
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

/** Returns a session id as it is, or hashed if a memory cannot hold it. Cutting it could make two sessions the same. */
function fitSession(id: string): string {
  const fits = id.length <= FIELDS.sessionId.maxCharacters && id.isWellFormed() && !id.includes('\0');
  return fits ? id : stableId('session', [id]);
}

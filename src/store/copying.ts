import { columnOf, FIELD_NAMES } from '../domain/fields.ts';
import type { EmbeddingInfo } from './store.ts';

/** One row of a part, by its columns: values as JSON has them, the same from every store. */
export type CopyRow = Readonly<Record<string, string | number | boolean | null>>;

/** What tells a row of a part from the others: the values of its key's columns, in their order. */
export type CopyKey = readonly (string | number)[];

interface Part {
  readonly key: readonly string[];
  readonly columns: readonly string[];
}

/**
 * What a space consists of, each part after those that its rows refer to. `terms` of a memory are JSON as in
 * `termsToCopy`, its `vector` float32, little endian, in base64. Rows are ordered by their keys: texts byte by byte, in UTF-8.
 */
export const COPY_PARTS = {
  memory: {
    key: ['key'],
    columns: ['key', ...FIELD_NAMES.map(columnOf), 'content_key', 'terms', 'vector'],
  },
  // Nothing logs it, so that it is a part of its own.
  compared: { key: ['key'], columns: ['key', 'compared'] },
  // Its ranges are those of the memory that has the lower key of its two.
  link: { key: ['a_id', 'b_id', 'kind'], columns: ['a_id', 'b_id', 'kind', 'weight', 'at'] },
  event: {
    key: ['sequence'],
    columns: [
      'sequence',
      'operation',
      'at',
      'verb',
      'memory_key',
      'memory_id',
      'before',
      'redacted',
      'undoes',
      'link',
      'run',
      'settings',
    ],
  },
  usage: {
    key: ['sequence'],
    columns: [
      'sequence',
      'at',
      'strategy',
      'effect',
      'query_hash',
      'session_id',
      'used',
      'after_event',
      'before',
    ],
  },
  recall: {
    key: ['sequence'],
    columns: ['sequence', 'at', 'strategy', 'session_id', 'query', 'hits', 'details', 'redacted'],
  },
  similar_pair: {
    key: ['sequence'],
    columns: [
      'sequence',
      'older_id',
      'newer_id',
      'kind',
      'similarity',
      'at',
      'attempts',
      'resolution',
      'ended_at',
      'ended_by',
      'dropped',
    ],
  },
  session: { key: ['id'], columns: ['id', 'scope', 'started_at', 'active_at', 'ended_at'] },
  tombstone: { key: ['hash'], columns: ['hash', 'at', 'reason'] },
  vote: {
    key: ['memory_id', 'voter', 'operation'],
    columns: ['memory_id', 'voter', 'operation', 'vote'],
  },
} as const satisfies Readonly<Record<string, Part>>;

export type CopyPart = keyof typeof COPY_PARTS;

export const PART_NAMES = Object.keys(COPY_PARTS) as readonly CopyPart[];

/** What is not kept in rows: the counters of a space, and what was decided for it. */
export interface CopyHead {
  /** Another value whenever anything of the space was written. */
  readonly stamp: string;
  /** How often what is derived from the texts was replaced. */
  readonly generation: number;
  /** The last key, sequence, pair, recording and ordinal that were given; the instants of the last event and use. */
  readonly key: number;
  readonly sequence: number;
  readonly at: number;
  readonly usage: number;
  readonly usedAt: number;
  readonly pair: number;
  readonly recording: number;
  readonly ordinal: number;
  readonly embedding: EmbeddingInfo | undefined;
  readonly analyzer: string | undefined;
  /** As `settingsToJson` writes them. */
  readonly settings: string;
  /** The key of the hashes of tombstones; `undefined` before the first. */
  readonly tombstoneKey: string | undefined;
}

/** Rows after a key, up to another one, both of which may be left out; or those of memories with these keys. */
export type CopyRange =
  | {
      readonly after?: CopyKey | undefined;
      readonly upTo?: CopyKey | undefined;
      readonly limit?: number | undefined;
    }
  | { readonly among: readonly number[] };

/** The rows of a space. Each call sees one state, two calls may see two. */
export interface CopyRows extends AsyncDisposable {
  /** Rows in the order of their keys. Of links only ranges with `after` and `upTo`, or `among`. Throws `store_corrupt`. */
  rows(part: CopyPart, range: CopyRange): Promise<readonly CopyRow[]>;
  count(part: CopyPart): Promise<number>;
}

export interface CopySource extends CopyRows {
  head(): Promise<CopyHead>;
  /** What the logs say was written after a head. */
  touched(since: CopyHead): Promise<{
    /** The keys of the memories that were written or removed, and of those at both ends of a link that was. */
    readonly keys: readonly number[];
    /** Earlier rows of the logs were redacted. */
    readonly redacted: boolean;
  }>;
}

/** A space that nobody can open until it is complete. What was put into it stays when a copy is interrupted. */
export interface CopyTarget extends CopyRows {
  /**
   * Takes rows away, and writes others, new or not, as one transaction. Where links lack a memory, they are passed over: they come with it.
   * Throws `store_busy` when another copy writes to it.
   */
  put(part: CopyPart, rows: readonly CopyRow[], gone: readonly CopyRow[]): Promise<void>;
  /** Makes it a space like any other. Throws `already_exists`. */
  finish(head: CopyHead): Promise<void>;
}

/** What a store gives that spaces can be copied from, and into, with everything that they hold. */
export interface StoreCopying {
  /** Reads a space that may be in use. Throws `not_found`. */
  from(space: string): Promise<CopySource>;
  /** Makes a space, or goes on with one that was left incomplete. Throws `already_exists`. */
  into(space: string): Promise<CopyTarget>;
  /**
   * The same text for every way to reach the same store, and another one for any other; `undefined` where that cannot be told.
   * Absent where the words that name a store say it.
   */
  identity?(): Promise<string | undefined>;
  /** What hides spaces from a list of all of them, such as files that cannot be read: a sentence each, with what to do. */
  unlisted?(): Promise<readonly string[]>;
}

/** Terms of a memory as a copy has them: each followed by how often it occurs, in code-unit order. */
export function termsToCopy(terms: Iterable<readonly [term: string, count: number]>): string {
  return JSON.stringify([...terms].sort(([a], [b]) => (a < b ? -1 : 1)).flat());
}

/** The key of a row. */
export function copyKeyOf(part: CopyPart, row: CopyRow): CopyKey {
  return COPY_PARTS[part].key.map((column) => row[column] as string | number);
}

/// <reference lib="esnext.disposable" preserve="true" />

import { columnOf, FIELD_NAMES } from '../domain/fields.ts';
import type { EmbeddingInfo } from './store.ts';

/** One row of a part: JSON values by column, the same from every store. */
export type CopyRow = Readonly<Record<string, string | number | boolean | null>>;

/** Identifies a row of a part: the values of its key columns, in order. */
export type CopyKey = readonly (string | number)[];

interface Part {
  readonly key: readonly string[];
  readonly columns: readonly string[];
}

/**
 * The parts of a space. Each part comes after those that its rows refer to. `terms` of a memory is JSON (see
 * `termsToCopy`); its `vector` is little-endian float32 in base64. Rows are ordered by key, texts by their UTF-8 bytes.
 */
export const COPY_PARTS = {
  memory: {
    key: ['key'],
    columns: ['key', ...FIELD_NAMES.map(columnOf), 'content_key', 'terms', 'vector'],
  },
  // A part of its own because no log records its changes.
  compared: { key: ['key'], columns: ['key', 'compared'] },
  // A range of keys refers to the lower memory key of the two ends.
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

/** The data of a space that is not kept in rows: its counters and its settings. */
export interface CopyHead {
  /** A value that every write to the space changes. */
  readonly stamp: string;
  /** How often the space was reindexed. */
  readonly generation: number;
  /** The last key, sequence, pair, recording and ordinal assigned, and the instants of the last event and use. */
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

/** Selects rows: after a key and up to another, both optional; or those of the memories with these keys. */
export type CopyRange =
  | {
      readonly after?: CopyKey | undefined;
      readonly upTo?: CopyKey | undefined;
      readonly limit?: number | undefined;
    }
  | { readonly among: readonly number[] };

/** The rows of a space. Each call is consistent in itself; two calls may see different states. */
export interface CopyRows extends AsyncDisposable {
  /** Rows in key order. Links support only ranges with `after` and `upTo`, or `among`. Throws `store_corrupt`. */
  rows(part: CopyPart, range: CopyRange): Promise<readonly CopyRow[]>;
  count(part: CopyPart): Promise<number>;
}

export interface CopySource extends CopyRows {
  head(): Promise<CopyHead>;
  /** The changes that the logs record after a head. */
  touched(since: CopyHead): Promise<{
    /** The keys of memories that were written or removed, and of both ends of links that were. */
    readonly keys: readonly number[];
    /** Whether earlier rows of the logs were redacted. */
    readonly redacted: boolean;
  }>;
}

/** A space under construction, which nobody can open until it is complete. It keeps its rows if a copy is interrupted. */
export interface CopyTarget extends CopyRows {
  /**
   * Removes the rows `gone` and inserts or replaces the others, in one transaction. Skips links with a missing end; they
   * are copied together with that memory. Throws `store_busy` if another copy writes to the space.
   */
  put(part: CopyPart, rows: readonly CopyRow[], gone: readonly CopyRow[]): Promise<void>;
  /** Turns it into an ordinary space. Throws `already_exists`. */
  finish(head: CopyHead): Promise<void>;
  /** What a copy that did not finish leaves, in one sentence with what to do; `undefined` if nothing. */
  unfinished(): string | undefined;
}

/** The part of a store that copies whole spaces out of it and into it. */
export interface StoreCopying {
  /** Opens a space, which may be in use, to copy from. Throws `not_found`. */
  from(space: string): Promise<CopySource>;
  /** Creates a space to copy into, or resumes one that was left incomplete. Throws `already_exists`. */
  into(space: string): Promise<CopyTarget>;
  /**
   * Identifies the store: equal for every address of the same store, different for any other store; `undefined` if
   * unknown. Absent if the address itself identifies the store.
   */
  identity?(): Promise<string | undefined>;
  /** Problems that hide spaces from `listSpaces`, such as unreadable files: one sentence each, with what to do. */
  unlisted?(): Promise<readonly string[]>;
}

/** Serialises the terms of a memory for a copy: each term followed by its count, in code-unit order. */
export function termsToCopy(terms: Iterable<readonly [term: string, count: number]>): string {
  return JSON.stringify([...terms].sort(([a], [b]) => (a < b ? -1 : 1)).flat());
}

/** The key of a row. */
export function copyKeyOf(part: CopyPart, row: CopyRow): CopyKey {
  return COPY_PARTS[part].key.map((column) => row[column] as string | number);
}

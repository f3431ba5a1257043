import { SalienceError } from '../../model/errors.ts';
import type { Judge, MemoryRecord, Metadata, Source, Tier } from '../../model/memory.ts';
import { checksumOf, verify } from './checksum.ts';
import type { SqlValue } from './connection.ts';
import { damagedRow, isObject, isTextList, storedJson } from './damage.ts';

/** The columns of a record, in the order in which {@link toRow} gives their values. */
export const RECORD_COLUMNS = [
  'id',
  'scope',
  'type',
  'title',
  'content',
  'tags',
  'metadata',
  'topic_key',
  'session_id',
  'created_at',
  'updated_at',
  'last_accessed_at',
  'valid_from',
  'valid_until',
  'expires_at',
  'invalidated_at',
  'invalid_reason',
  'cold_since',
  'consolidated_at',
  'importance',
  'importance_judge',
  'confidence',
  'usefulness',
  'weight',
  'stability',
  'access_count',
  'sessions',
  'revision_count',
  'tier',
  'core',
  'supersedes',
  'source',
  'source_ref',
  'ordinal',
  'author',
  'role',
  'born_in',
  'seen',
  'derived_from',
] as const;

/** The list of a record's columns for SELECT and INSERT. */
export const RECORD_COLUMN_LIST = RECORD_COLUMNS.join(', ');

/** What {@link fromRow} reads. */
export const ROW_COLUMNS = ['row', ...RECORD_COLUMNS, 'content_key', 'checksum'] as const;

/** The list of these columns, each with the name of its table. */
export const ROW_COLUMN_LIST = ROW_COLUMNS.map((column) => `memory.${column}`).join(', ');

/** What the checksum of a row covers, in this order. */
export const CHECKED_COLUMNS = ['row', ...RECORD_COLUMNS, 'content_key'] as const;

type Column = (typeof RECORD_COLUMNS)[number];

export type MemoryRow = Readonly<Record<Column, string | number | null>> & {
  readonly row: number;
  readonly content_key: number;
  readonly checksum: number | null;
};

/** Throws `invalid_text` for what SQLite would store as something else. */
export function toRow(memory: MemoryRecord): SqlValue[] {
  return [
    text(memory.id, 'id'),
    text(memory.scope, 'scope'),
    text(memory.type, 'type'),
    optionalText(memory.title, 'title'),
    text(memory.content, 'content'),
    JSON.stringify(memory.tags),
    JSON.stringify(memory.metadata),
    optionalText(memory.topicKey, 'topicKey'),
    optionalText(memory.sessionId, 'sessionId'),
    memory.createdAt,
    memory.updatedAt,
    memory.lastAccessedAt ?? null,
    memory.validFrom ?? null,
    memory.validUntil ?? null,
    memory.expiresAt ?? null,
    memory.invalidatedAt ?? null,
    optionalText(memory.invalidReason, 'invalidReason'),
    memory.coldSince ?? null,
    memory.consolidatedAt ?? null,
    real(memory.importance),
    memory.importanceJudge,
    real(memory.confidence),
    real(memory.usefulness),
    real(memory.weight),
    real(memory.stability),
    memory.accessCount,
    JSON.stringify(memory.sessions),
    memory.revisionCount,
    memory.tier,
    memory.core ? 1 : 0,
    JSON.stringify(memory.supersedes.map((id) => text(id, 'supersedes'))),
    memory.source,
    optionalText(memory.sourceRef, 'sourceRef'),
    memory.ordinal,
    optionalText(memory.author, 'author'),
    optionalText(memory.role, 'role'),
    optionalText(memory.bornIn, 'bornIn'),
    memory.seen ?? null,
    JSON.stringify(memory.derivedFrom.map((id) => text(id, 'derivedFrom'))),
  ];
}

/**
 * The checksum of a record with these values of {@link toRow}; `null`, for a trigger to compute it, where SQLite makes a
 * number of a text.
 */
export function checksumOfRecord(
  row: number,
  { importance, confidence, usefulness, weight, stability }: MemoryRecord,
  values: readonly SqlValue[],
  contentKey: number,
): number | null {
  const asText = [importance, confidence, usefulness, weight, stability].some(
    (value) => real(value) !== value,
  );
  return asText ? null : checksumOf([row, ...values, contentKey]);
}

/** The record in a row. Throws `store_corrupt` for a row that cannot have been written. */
export function fromRow(row: MemoryRow): MemoryRecord {
  const place = { table: 'memory', row: row.row };
  verify(
    CHECKED_COLUMNS.map((column) => row[column]),
    row.checksum,
    place,
  );
  return {
    id: row.id as string,
    scope: row.scope as string,
    type: row.type as string,
    title: (row.title as string | null) ?? undefined,
    content: row.content as string,
    tags: storedJson<string[]>(row.tags, isTextList, place, 'tags'),
    metadata: storedJson<Metadata>(row.metadata, isObject, place, 'metadata'),
    topicKey: (row.topic_key as string | null) ?? undefined,
    sessionId: (row.session_id as string | null) ?? undefined,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    lastAccessedAt: (row.last_accessed_at as number | null) ?? undefined,
    validFrom: (row.valid_from as number | null) ?? undefined,
    validUntil: (row.valid_until as number | null) ?? undefined,
    expiresAt: (row.expires_at as number | null) ?? undefined,
    invalidatedAt: (row.invalidated_at as number | null) ?? undefined,
    invalidReason: (row.invalid_reason as string | null) ?? undefined,
    coldSince: (row.cold_since as number | null) ?? undefined,
    consolidatedAt: (row.consolidated_at as number | null) ?? undefined,
    importance: row.importance as number,
    importanceJudge: row.importance_judge as Judge,
    confidence: row.confidence as number,
    usefulness: row.usefulness as number,
    weight: row.weight as number,
    stability: row.stability as number,
    accessCount: row.access_count as number,
    sessions: storedJson<string[]>(row.sessions, isTextList, place, 'sessions'),
    revisionCount: row.revision_count as number,
    tier: row.tier as Tier,
    core: row.core === 1,
    supersedes: storedJson<string[]>(row.supersedes ?? '[]', isTextList, place, 'supersedes'),
    source: row.source as Source,
    sourceRef: (row.source_ref as string | null) ?? undefined,
    ordinal: row.ordinal as number,
    author: (row.author as string | null) ?? undefined,
    role: (row.role as string | null) ?? undefined,
    bornIn: (row.born_in as string | null) ?? undefined,
    seen: (row.seen as number | null) ?? undefined,
    derivedFrom: storedJson<string[]>(row.derived_from, isTextList, place, 'derived_from'),
  };
}

const absent = {
  title: undefined,
  topicKey: undefined,
  sessionId: undefined,
  lastAccessedAt: undefined,
  validFrom: undefined,
  validUntil: undefined,
  expiresAt: undefined,
  invalidatedAt: undefined,
  coldSince: undefined,
  invalidReason: undefined,
  consolidatedAt: undefined,
  sourceRef: undefined,
  author: undefined,
  role: undefined,
  bornIn: undefined,
  seen: undefined,
  derivedFrom: [],
} as const;

/** A record out of the log, in the event `sequence`; JSON leaves out what is absent. Throws `store_corrupt`. */
export function recordFromJson(json: string, sequence: number): MemoryRecord {
  const record = storedJson<MemoryRecord & { readonly supersedes?: string | readonly string[] }>(
    json,
    isRecord,
    { table: 'event', row: sequence },
    'before',
  );
  // An older version knew of one superseded memory at most.
  return { ...absent, ...record, supersedes: [record.supersedes ?? []].flat() };
}

const textKeys = ['id', 'scope', 'type', 'content', 'tier', 'source'] as const;
const numberKeys = [
  'createdAt',
  'updatedAt',
  'importance',
  'confidence',
  'usefulness',
  'weight',
  'stability',
] as const;

/** Whether this has at least what every version wrote, in the right kinds. */
function isRecord(value: unknown): boolean {
  return (
    isObject<MemoryRecord>(value) &&
    textKeys.every((key) => typeof value[key] === 'string') &&
    numberKeys.every((key) => Number.isFinite(value[key])) &&
    isTextList(value.tags) &&
    isTextList(value.sessions) &&
    isTextList([value.supersedes ?? []].flat()) &&
    isObject(value.metadata)
  );
}

/** A vector as float32, little endian on every machine. */
export function toVectorBytes(vector: Float32Array): Uint8Array {
  if (littleEndian) return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  const bytes = new DataView(new ArrayBuffer(vector.byteLength));
  for (const [index, value] of vector.entries()) bytes.setFloat32(index * 4, value, true);
  return new Uint8Array(bytes.buffer);
}

/** A row of a table of bytes, one for each memory. */
export interface BytesRow {
  readonly row: number;
  readonly bytes: Uint8Array;
  readonly checksum: number | null;
}

/** What is derived from the text of a memory, joined to its row. */
export interface DerivedColumns {
  readonly terms: Uint8Array | null;
  readonly terms_checksum: number | null;
  readonly vector: Uint8Array | null;
  readonly vector_checksum: number | null;
}

/** The vector in a row. Throws `store_corrupt` when it has other than `dimensions` components, where that is given. */
export function fromVectorRow({ row, bytes, checksum }: BytesRow, dimensions?: number): Float32Array {
  verify([row, bytes], checksum, { table: 'vector', row });
  if (
    !(bytes instanceof Uint8Array) ||
    bytes.byteLength % 4 !== 0 ||
    bytes.byteLength !== (dimensions ?? bytes.byteLength / 4) * 4
  ) {
    throw damagedRow({ table: 'vector', row }, 'it has not the length of a vector of this space');
  }
  if (littleEndian) {
    // A view must start at a multiple of 4, which what the driver hands out nearly always does.
    const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
    return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: bytes.byteLength / 4 }, (_, index) => view.getFloat32(index * 4, true));
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Throws `invalid_text` for what SQLite would store as something else. */
export function text(value: string, field: string): string {
  // The driver ends a text at its first NUL, and UTF-8 has no lone surrogates.
  if (value.isWellFormed() && !value.includes('\0')) return value;
  throw new SalienceError(
    'invalid_text',
    `${field}: the text holds a NUL or half of a surrogate pair; remove it`,
    { details: { field } },
  );
}

/** The driver binds what lies within an epsilon above a whole number as that number; as text it arrives whole. */
export function real(value: number): SqlValue {
  return value !== 0 && Math.abs(value) < Number.EPSILON ? String(value) : value;
}

export function optionalText(value: string | undefined, field: string): string | null {
  return value === undefined ? null : text(value, field);
}

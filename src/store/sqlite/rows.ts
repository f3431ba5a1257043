import { SalienceError } from '../../model/errors.ts';
import type { Judge, MemoryRecord, Metadata, Source, Tier } from '../../model/memory.ts';
import type { SqlValue } from './connection.ts';

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
] as const;

/** The list of a record's columns for SELECT and INSERT. */
export const RECORD_COLUMN_LIST = RECORD_COLUMNS.join(', ');

type Column = (typeof RECORD_COLUMNS)[number];

export type MemoryRow = Readonly<Record<Column, string | number | null>> & { readonly row: number };

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
  ];
}

export function fromRow(row: MemoryRow): MemoryRecord {
  return {
    id: row.id as string,
    scope: row.scope as string,
    type: row.type as string,
    title: (row.title as string | null) ?? undefined,
    content: row.content as string,
    tags: JSON.parse(row.tags as string) as string[],
    metadata: JSON.parse(row.metadata as string) as Metadata,
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
    sessions: JSON.parse(row.sessions as string) as string[],
    revisionCount: row.revision_count as number,
    tier: row.tier as Tier,
    core: row.core === 1,
    supersedes: JSON.parse((row.supersedes as string | null) ?? '[]') as string[],
    source: row.source as Source,
    sourceRef: (row.source_ref as string | null) ?? undefined,
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
} as const;

/** A record out of the log; JSON leaves out what is absent. */
export function recordFromJson(json: string): MemoryRecord {
  const record = JSON.parse(json) as MemoryRecord & { readonly supersedes?: string | readonly string[] };
  // An older version knew of one superseded memory at most.
  return { ...absent, ...record, supersedes: [record.supersedes ?? []].flat() };
}

/** A vector as float32, little endian on every machine. */
export function toVectorBytes(vector: Float32Array): Uint8Array {
  if (littleEndian) return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  const bytes = new DataView(new ArrayBuffer(vector.byteLength));
  for (const [index, value] of vector.entries()) bytes.setFloat32(index * 4, value, true);
  return new Uint8Array(bytes.buffer);
}

export function fromVectorBytes(bytes: Uint8Array): Float32Array {
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

import { SalienceError } from '../../domain/errors.ts';
import {
  columnOf,
  FIELD_NAMES,
  FIELDS,
  type FieldKind,
  type FieldName,
  type NumberField,
} from '../../domain/fields.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { isStorable } from '../../domain/wellformed.ts';
import { damagedRow, isObject, isTextList, type Place, storedJson } from '../../store/damage.ts';
import { ABSENT, isRelationList } from '../../store/stored-json.ts';
import { checksumOf, verify } from './checksum.ts';
import type { Connection } from './connection.ts';
import { real, type SqlValue } from './driver.ts';

/** How a field is written into its column and read from it. */
interface Codec {
  readonly name: FieldName;
  readonly column: string;
  write(value: unknown): SqlValue;
  read(value: unknown, place: Place): unknown;
}

/** Sorted by field name. The checksums of stored rows depend on this order. */
const CODECS: readonly Codec[] = FIELD_NAMES.toSorted().map((name) => {
  const column = columnOf(name);
  return { name, column, ...codecOf(name, column, FIELDS[name].kind) };
});

/** The columns of a record, in the order in which {@link toRow} gives their values. */
export const RECORD_COLUMNS: readonly string[] = CODECS.map(({ column }) => column);

/** `RECORD_COLUMNS` as a list for SELECT and INSERT. */
export const RECORD_COLUMN_LIST = RECORD_COLUMNS.join(', ');

/** The index of `ordinal` in `RECORD_COLUMNS`. */
export const ORDINAL_AT = CODECS.findIndex(({ name }) => name === 'ordinal');

/** The columns that {@link fromRow} reads. */
export const ROW_COLUMNS = ['row', ...RECORD_COLUMNS, 'content_key', 'checksum'];

/** `ROW_COLUMNS` as a list for SELECT, each with the name of the table. */
export const ROW_COLUMN_LIST = ROW_COLUMNS.map((column) => `memory.${column}`).join(', ');

/** The columns that the checksum of a row covers, in this order. */
export const CHECKED_COLUMNS = [...RECORD_COLUMNS, 'row', 'content_key'];

/** The columns that {@link fromValues} reads, as a list for SELECT. Reading rows as arrays takes half the time of objects. */
export const VALUE_COLUMN_LIST = [...CHECKED_COLUMNS, 'checksum']
  .map((column) => `memory.${column}`)
  .join(', ');

/** The index of `row` in `VALUE_COLUMN_LIST`, and the number of columns in it. */
export const ROW_AT = RECORD_COLUMNS.length;
export const VALUE_COUNT = CHECKED_COLUMNS.length + 1;

export type MemoryRow = Readonly<Record<string, string | number | null>> & {
  readonly row: number;
  readonly tier: string;
  readonly content_key: number;
  readonly checksum: number | null;
};

/** Returns the values of `RECORD_COLUMNS`. Throws `invalid_text` for a text that SQLite would not store unchanged. */
export function toRow(memory: MemoryRecord): SqlValue[] {
  return CODECS.map(({ name, write }) => write(memory[name]));
}

function codecOf(name: FieldName, column: string, kind: FieldKind): Pick<Codec, 'write' | 'read'> {
  switch (kind) {
    case 'name':
    case 'text':
    case 'content':
    case 'scope':
      return { write: (value) => optionalText(value as string | undefined, name), read: optional };
    case 'names':
    case 'texts':
      return {
        write: (value) => {
          const list = value as readonly string[] | undefined;
          if (list === undefined) return null;
          return list.length === 0 ? '[]' : JSON.stringify(list.map((each) => text(each, name)));
        },
        // Version 1 wrote NULL for an empty list.
        read: (value, place) =>
          value === null && ABSENT[name] === undefined
            ? undefined
            : storedJson(value ?? '[]', isTextList, place, column),
      };
    case 'relations':
      return {
        write: (value) => (value === undefined ? null : JSON.stringify(value)),
        read: (value, place) =>
          value === null ? undefined : storedJson(value, isRelationList, place, column),
      };
    case 'metadata':
      return {
        write: (value) => JSON.stringify(value),
        read: (value, place) => storedJson(value, isObject, place, column),
      };
    case 'number':
      return { write: (value) => real(value as number), read: (value) => value };
    case 'flag':
      return { write: (value) => (value ? 1 : 0), read: (value) => value === 1 };
    case 'count':
    case 'instant':
    case 'choice':
      return { write: (value) => (value as SqlValue | undefined) ?? null, read: optional };
  }
}

const NUMBERS = FIELD_NAMES.filter((name) => FIELDS[name].kind === 'number') as readonly NumberField[];

function optional(value: unknown): unknown {
  return value ?? undefined;
}

/**
 * Returns the checksum of a record, whose `values` are those of {@link toRow}. Returns `null` if a number is bound as text, which
 * SQLite converts to a number; a trigger then computes the checksum.
 */
export function checksumOfRecord(
  row: number,
  memory: MemoryRecord,
  values: readonly SqlValue[],
  contentKey: number,
): number | null {
  const asText = NUMBERS.some((name) => real(memory[name]) !== memory[name]);
  return asText ? null : checksumOf([...values, row, contentKey]);
}

/** Reads the record in a row. Throws `store_corrupt` for a damaged row. */
export function fromRow(row: MemoryRow): MemoryRecord {
  return fromValues([...CHECKED_COLUMNS.map((column) => row[column] ?? null), row.checksum]);
}

/** Does the same as {@link fromRow} with an array that begins with the values of {@link VALUE_COLUMN_LIST}. */
export function fromValues(values: readonly SqlValue[]): MemoryRecord {
  const place = { table: 'memory', row: values[ROW_AT] as number };
  verify(values.slice(0, VALUE_COUNT - 1), values[VALUE_COUNT - 1], place);
  // A copy of `ABSENT` gives every record the same shape. Adding so many fields one by one makes slow objects.
  const record: Record<string, unknown> = { ...ABSENT };
  CODECS.forEach(({ name, read }, at) => {
    record[name] = read(values[at], place);
  });
  return record as unknown as MemoryRecord;
}

/** Runs a statement that selects {@link VALUE_COLUMN_LIST}, and returns the records. */
export function readRecords(
  connection: Connection,
  sql: string,
  ...values: readonly SqlValue[]
): MemoryRecord[] {
  return connection.lists(sql, ...values).map(fromValues);
}

/** Returns a vector as float32, little-endian on every machine. */
export function toVectorBytes(vector: Float32Array): Uint8Array {
  if (littleEndian) return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  const bytes = new DataView(new ArrayBuffer(vector.byteLength));
  for (const [index, value] of vector.entries()) bytes.setFloat32(index * 4, value, true);
  return new Uint8Array(bytes.buffer);
}

/** A row of `vector` or `term_vector`, which have one row per memory. */
export interface BytesRow {
  readonly row: number;
  readonly bytes: Uint8Array;
  readonly checksum: number | null;
}

/** The columns with data derived from the text of a memory, joined to its row. */
export interface DerivedColumns {
  readonly terms: Uint8Array | null;
  readonly terms_checksum: number | null;
  readonly vector: Uint8Array | null;
  readonly vector_checksum: number | null;
}

/** Reads the vector in a row. Throws `store_corrupt` if it is damaged, or if `dimensions` is given and its length differs. */
export function fromVectorRow({ row, bytes, checksum }: BytesRow, dimensions?: number): Float32Array {
  verify([row, bytes], checksum, { table: 'vector', row });
  if (
    !(bytes instanceof Uint8Array) ||
    bytes.byteLength % 4 !== 0 ||
    bytes.byteLength !== (dimensions ?? bytes.byteLength / 4) * 4
  ) {
    throw damagedRow({ table: 'vector', row }, 'its length is not that of the vectors of this space');
  }
  if (littleEndian) {
    // A `Float32Array` must start at a multiple of 4. The bytes from the driver nearly always do.
    const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
    return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: bytes.byteLength / 4 }, (_, index) => view.getFloat32(index * 4, true));
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Returns `value`. Throws `invalid_text` if SQLite would not store it unchanged. */
export function text(value: string, field: string): string {
  if (isStorable(value)) return value;
  throw new SalienceError(
    'invalid_text',
    `${field}: the text holds a NUL or half of a surrogate pair; remove it`,
    { details: { field } },
  );
}

export function optionalText(value: string | undefined, field: string): string | null {
  return value === undefined ? null : text(value, field);
}

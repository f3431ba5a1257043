import { SalienceError } from '../../domain/errors.ts';
import { columnOf, FIELD_NAMES, FIELDS, type FieldKind, type FieldName } from '../../domain/fields.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { isInstant } from '../../domain/time.ts';
import { isStorable } from '../../domain/wellformed.ts';
import { damagedRow, isObject, isTextList, type Place, storedJson } from '../../store/damage.ts';
import { ABSENT, isRelationList } from '../../store/stored-json.ts';
import type { Found, SpacePlace } from './moment.ts';
import { type FormedQuery, raw, type Sql, sql } from './sql.ts';

/** How a field is written into its column and read from it. */
interface Codec {
  readonly name: FieldName;
  readonly column: string;
  write(value: unknown): unknown;
  read(value: unknown, place: Place): unknown;
}

const CODECS: readonly Codec[] = FIELD_NAMES.map((name) => ({
  name,
  column: columnOf(name),
  ...codecOf(name, FIELDS[name].kind),
}));

/** The columns that {@link fromRow} reads. */
export const RECORD_COLUMNS = raw(
  ['key', ...CODECS.map(({ column }) => column)].map((column) => `memory.${column}`).join(', '),
);

/** Selects whole rows of the memories that meet `condition`. Naming columns costs the server more than sending a few unneeded ones. */
export function memoriesWhere({ database, id }: SpacePlace, condition: Sql): FormedQuery {
  const query = sql`SELECT memory FROM ${database.tables.memory} AS memory WHERE memory.space_id = ${id}::uuid AND ${condition}`;
  return { ...query, form: 'memory' };
}

function codecOf(name: FieldName, kind: FieldKind): Pick<Codec, 'write' | 'read'> {
  const column = columnOf(name);
  switch (kind) {
    case 'names':
    case 'texts':
      return {
        write: (value) =>
          value === undefined
            ? null
            : JSON.stringify((value as readonly string[]).map((each) => checkedText(each, name))),
        read: (value, place) =>
          value === null && ABSENT[name] === undefined
            ? undefined
            : storedJson(value, isTextList, place, column),
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
      // Turns −0 into 0, because SQLite has no negative zero.
      return {
        write: (value) => (value as number) + 0,
        read: (value, place) => {
          if (value !== null && !Number.isFinite(value))
            throw damagedRow(place, `its ${column} is not a number`);
          return value;
        },
      };
    case 'instant':
      return {
        write: (value) => value ?? null,
        read: (value, place) => {
          if (value !== null && !isInstant(value)) throw damagedRow(place, `its ${column} is not a time`);
          return value ?? undefined;
        },
      };
    case 'name':
    case 'text':
    case 'content':
    case 'scope':
      return {
        write: (value) => (value === undefined ? null : checkedText(value as string, name)),
        read: (value) => value ?? undefined,
      };
    case 'flag':
    case 'count':
    case 'choice':
      return { write: (value) => value ?? null, read: (value) => value ?? undefined };
  }
}

/** Returns the columns of a record. Throws `invalid_text`. */
export function toRow(memory: MemoryRecord): Found {
  return Object.fromEntries(CODECS.map(({ name, column, write }) => [column, write(memory[name])]));
}

/** Reads the record in a row. Throws `store_corrupt` for a damaged row. */
export function fromRow(row: Found): MemoryRecord {
  const place = { table: 'memory', row: Number(row['key']) };
  // A copy of `ABSENT` gives every record the same shape.
  const record: Record<string, unknown> = { ...ABSENT };
  for (const { name, column, read } of CODECS) record[name] = read(row[column] ?? null, place);
  return record as unknown as MemoryRecord;
}

/** Returns `value`. Throws `invalid_text` if PostgreSQL cannot store it. */
export function checkedText(value: string, field: string): string {
  if (isStorable(value)) return value;
  throw new SalienceError(
    'invalid_text',
    `${field}: the text holds a NUL or half of a surrogate pair; remove it`,
    { details: { field } },
  );
}

/** Returns terms in their stored form: a JSON array of each term followed by its count. */
export function termsToJson(terms: ReadonlyMap<string, number>): string {
  for (const term of terms.keys()) checkedText(term, 'term');
  return JSON.stringify([...terms].flat());
}

/** Reads stored terms. Throws `store_corrupt`. */
export function termsFromJson(json: unknown, key: number): ReadonlyMap<string, number> {
  const place = { table: 'derived', row: key };
  const list = storedJson<readonly unknown[]>(json, Array.isArray, place, 'terms');
  const terms = new Map<string, number>();
  for (let at = 0; at < list.length; at += 2) {
    const [term, count] = [list[at], list[at + 1]];
    if (typeof term !== 'string' || !(Number.isSafeInteger(count) && (count as number) > 0))
      throw damagedRow(place, 'its terms have the wrong length');
    terms.set(term, count as number);
  }
  return terms;
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Returns a vector as float32, little-endian on every machine, in base64. */
export function vectorToText(vector: Float32Array): string {
  if (littleEndian)
    return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
  const bytes = Buffer.alloc(vector.byteLength);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

/** Reads a vector in base64. Throws `store_corrupt` if it is damaged, or if `dimensions` is given and its length differs. */
export function vectorFromText(text: string, key: number, dimensions?: number): Float32Array {
  return vectorFromBytes(Buffer.from(text, 'base64'), key, dimensions);
}

/** Does the same as {@link vectorFromText} with the bytes of a vector, and copies them. */
export function vectorFromBytes(bytes: Buffer, key: number, dimensions?: number): Float32Array {
  if (bytes.byteLength % 4 !== 0 || bytes.byteLength !== (dimensions ?? bytes.byteLength / 4) * 4)
    throw damagedRow({ table: 'derived', row: key }, 'its length is not that of the vectors of this space');
  if (littleEndian) {
    // Copied, because many small buffers share one `ArrayBuffer`.
    const own = new Uint8Array(bytes);
    return new Float32Array(own.buffer, 0, own.byteLength / 4);
  }
  return Float32Array.from({ length: bytes.byteLength / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}

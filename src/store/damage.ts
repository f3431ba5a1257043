import { SalienceError } from '../domain/errors.ts';

/** A finding that is not damage: another process is reading, or is forgetting memories right now. */
export const NOT_ERASED_YET: string =
  'bytes of forgotten memories are not erased yet: open the space for writing while no other process reads it';

/** The place of damage: a table, and what identifies the row in it. */
export interface Place {
  readonly table: string;
  readonly row: number | string;
}

/** The error for a stored value that is not what was written. It names table and row. */
export function damagedRow({ table, row }: Place, problem: string, cause?: unknown): SalienceError {
  return new SalienceError(
    'store_corrupt',
    `the row ${row} of ${table} is damaged: ${problem}. Run doctor, then ${
      derived.includes(table) ? 'reindex the space' : 'restore the space from a backup'
    }`,
    { details: { table, row }, cause },
  );
}

/** An object that may have this shape; none of its values has been checked. */
export type Untrusted<Shape> = { readonly [Key in keyof Shape]?: unknown };

/** Tables that a reindex rebuilds from the memories. */
const derived: readonly string[] = ['term', 'term_vector', 'vector', 'derived'];

/** Parses JSON that this store wrote. Throws `store_corrupt` if it is not JSON or `isValid` rejects it. */
export function storedJson<Value>(
  json: unknown,
  isValid: (value: unknown) => boolean,
  place: Place,
  column: string,
): Value {
  let value: unknown;
  try {
    value = typeof json === 'string' ? JSON.parse(json) : undefined;
  } catch (error) {
    throw damagedRow(place, `its ${column} is not JSON`, error);
  }
  if (!isValid(value)) throw damagedRow(place, `its ${column} is malformed`);
  return value as Value;
}

/** Whether this is an object. Its properties still have to be checked. */
export function isObject<Shape>(value: unknown): value is Untrusted<Shape> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

import { describe } from './describe.ts';
import { SalienceError } from './errors.ts';
import type { JsonValue, Metadata } from './memory.ts';
import { isPlain } from './options.ts';
import { type Instant, parseInstant } from './time.ts';

/**
 * Checks of arguments. Each returns the value, or throws an error that names the field and says what is expected.
 */

export function invalidArgument(field: string, problem: string): SalienceError {
  return new SalienceError('invalid_argument', `${field}: ${problem}`, { details: { field } });
}

export function text(
  value: unknown,
  field: string,
  options: { readonly maxCharacters?: number } = {},
): string {
  if (typeof value !== 'string') throw invalidArgument(field, `expected a string, not ${describe(value)}`);
  if (value.trim() === '') throw invalidArgument(field, 'it must not be empty');
  if (options.maxCharacters !== undefined && value.length > options.maxCharacters) {
    throw invalidArgument(
      field,
      `${value.length} characters are too many; at most ${options.maxCharacters} are allowed`,
    );
  }
  return value;
}

/** Checks that a value can be a file path. */
export function filePath(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return value;
  throw invalidArgument(field, `${describe(value)} is not a path; give the name of a file`);
}

export function number(value: unknown, field: string, low: number, high: number): number {
  // The sum makes 0 of -0, which JSON does not keep.
  if (typeof value === 'number' && value >= low && value <= high) return value + 0;
  throw invalidArgument(field, `${describe(value)} must be a number from ${low} to ${high}`);
}

export function wholeNumber(value: unknown, field: string, low: number, high: number): number {
  if (Number.isInteger(value) && (value as number) >= low && (value as number) <= high)
    return value as number;
  throw invalidArgument(field, `${describe(value)} must be a whole number from ${low} to ${high}`);
}

/** Rejects NaN too: sums and comparisons with it would give results that look right. */
export function finiteNumbers(values: readonly number[], field: string): readonly number[] {
  for (const [at, value] of list(values, field).entries()) {
    if (Number.isFinite(value)) continue;
    throw invalidArgument(`${field}[${at}]`, `${describe(value)} must be a finite number`);
  }
  return values;
}

/** Throws `invalid_argument` for a value that is not a boolean. */
export function flag(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value;
  throw invalidArgument(field, `${describe(value)} must be true or false`);
}

/** Throws `invalid_argument` for a value that is not a function. */
export function callback<Value>(value: Value, field: string): Value {
  if (typeof value === 'function') return value;
  throw invalidArgument(field, `${describe(value)} must be a function`);
}

/** Throws `invalid_argument` for a value that is not a memory engine, instead of a later error at the first call. */
export function checkMemory(memory: { readonly recall: unknown }): void {
  if (typeof (memory as typeof memory | undefined)?.recall === 'function') return;
  throw invalidArgument('memory', `${describe(memory)} must be what openMemory returns`);
}

export function oneOf<Value extends string | number>(
  value: unknown,
  field: string,
  allowed: readonly Value[],
): Value {
  if (allowed.includes(value as Value)) return value as Value;
  throw invalidArgument(field, `${describe(value)} is not one of ${allowed.join(', ')}`);
}

export function texts(value: unknown, field: string, most: number, maxCharacters: number): readonly string[] {
  if (!Array.isArray(value)) throw invalidArgument(field, 'expected a list of strings');
  if (value.length > most)
    throw invalidArgument(field, `${value.length} are too many; at most ${most} are allowed`);
  // Not `map`, which skips holes of a sparse array.
  return [
    ...new Set(Array.from(value, (each, index) => text(each, `${field}[${index}]`, { maxCharacters }))),
  ];
}

/** Returns a list that has grown. Throws `invalid_argument` if it is longer than `most`. */
export function atMost<List extends readonly unknown[] | undefined>(
  list: List,
  most: number,
  field: string,
  what: string,
): List {
  if (list === undefined || list.length <= most) return list;
  throw invalidArgument(field, `it would have ${list.length} ${what}, of at most ${most}; take some away`);
}

export function instant(value: string | Date | undefined, field: string): Instant | undefined {
  return value === undefined ? undefined : parseInstant(value, field);
}

/** Checks that metadata is plain JSON, nested at most 8 levels deep, and returns a copy. */
export function metadata(value: unknown, field: string): Metadata {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidArgument(field, 'expected an object');
  }
  return jsonCopy(value, field, 8) as Metadata;
}

function jsonCopy(value: unknown, field: string, depth: number): JsonValue {
  if (typeof value === 'string') return wholeCharacters(value, field);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object' || depth === 0) {
    throw invalidArgument(
      field,
      `${describe(value)} cannot be kept as JSON${depth === 0 ? ': it is nested too deeply' : ''}`,
    );
  }
  if (Array.isArray(value))
    return Array.from(value, (each, index) => jsonCopy(each, `${field}[${index}]`, depth - 1));
  if (!isPlain(value)) throw invalidArgument(field, notJson(value));
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries.map(([key, each]) => [propertyName(key, field), jsonCopy(each, `${field}.${key}`, depth - 1)]),
  );
}

/** The problem with an object such as a `Map`, whose content is not in its properties: a copy of it would be empty. */
function notJson(value: object): string {
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
  const instead =
    value instanceof Date
      ? 'give its ISO string, from toISOString()'
      : 'give a text, a number, a list or a plain object';
  return `an object of the kind ${kind} cannot be kept as JSON; ${instead}`;
}

/**
 * Checks the name of a metadata property. Refuses `__proto__`: assigning it creates no property, so that a condition of a
 * filter could silently be lost.
 */
export function propertyName(name: string, field: string): string {
  if (name === '__proto__') {
    throw invalidArgument(`${field}.__proto__`, 'no property may have this name; choose another one');
  }
  return wholeCharacters(name, field);
}

/** Throws `invalid_text` for a text with a lone surrogate, which UTF-8 cannot encode. */
export function wholeCharacters(value: string, field: string): string {
  if (value.isWellFormed()) return value;
  throw new SalienceError(
    'invalid_text',
    `${field.toWellFormed()}: the text has half of a surrogate pair; decode it as UTF-8 or UTF-16 before handing it in`,
    { details: { field: field.toWellFormed(), problem: 'invalid-utf16' } },
  );
}

/** Throws `invalid_argument` for a value that is not an array, such as a set or a string. */
export function list<Item>(value: readonly Item[], field: string): readonly Item[] {
  if (Array.isArray(value)) return value;
  throw invalidArgument(field, `expected a list, not ${describe(value)}`);
}

/** Throws `invalid_argument` for a value without a `has` method, such as an array. */
export function idSet(value: ReadonlySet<string>, field: string): void {
  if (typeof (value as ReadonlySet<string> | undefined)?.has === 'function') return;
  throw invalidArgument(field, `expected a Set of ids, not ${describe(value)}; new Set(ids) makes one`);
}

/** Returns the items of an array, a set or another iterable object. Throws `invalid_argument`. */
export function listOf<Item>(items: Iterable<Item>, field: string): readonly Item[] {
  if (typeof items === 'object' && items !== null && Symbol.iterator in items) return [...items];
  throw invalidArgument(field, 'expected a list');
}

import type { JsonValue, Metadata } from '../domain/memory.ts';

/** An object in JSON that other systems wrote. The functions below treat unexpected values as absent. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Whether a value is present. Some systems write null for a missing value. */
export function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Returns a string that is more than white space, or `undefined`. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

export function textsOf(value: unknown): readonly string[] {
  return listOf(value).flatMap((each) => textOf(each)?.trim() ?? []);
}

/** Returns an id as a string; some systems have numbers as ids. */
export function idOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : textOf(value);
}

/** The units of timestamps since 1970: a number that is not `below` the limit of one unit is in the next. */
const UNITS = [
  { below: 1e11, milliseconds: 1000 },
  { below: 1e14, milliseconds: 1 },
  { below: 1e17, milliseconds: 1e-3 },
  { below: 1e20, milliseconds: 1e-6 },
] as const;

/** Timestamps as strings. Fewer than nine digits are a year or a day. */
const COUNTED = /^\d{9,}(?:\.\d+)?$/;

/**
 * Converts a timestamp since 1970, in seconds or a finer unit, to ISO 8601. Other strings are returned as they are, and
 * other values as a string that is not a time, so that the engine refuses them: a record without its date would pass
 * for one of today. Returns `undefined` for a missing value, 0 or a blank string.
 */
export function timeOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === 0) return undefined;
  if (typeof value === 'string') {
    const text = value.trim();
    return COUNTED.test(text) ? countedTime(Number(text)) : textOf(value);
  }
  return typeof value === 'number' ? countedTime(value) : (JSON.stringify(value) ?? '').slice(0, 100);
}

function countedTime(count: number): string {
  const unit = UNITS.find(({ below }) => count > 0 && count < below);
  return unit ? new Date(Math.round(count * unit.milliseconds)).toISOString() : String(count);
}

/** Reads metadata that is an object, or a string of JSON. Any other value is kept under `name`. */
export function metadataIn(value: unknown, name = 'metadata'): Fields {
  if (isFields(value)) return value;
  if (typeof value !== 'string') return value === undefined || value === null ? {} : { [name]: value };
  try {
    const parsed: unknown = JSON.parse(value);
    if (isFields(parsed)) return parsed;
  } catch {}
  return { [name]: value };
}

/**
 * Joins the metadata of a record with the fields that its system keeps beside it; of two with one name, the system's is
 * kept. `hidden` has the names of the others.
 */
export function joinMetadata(
  own: Fields,
  system: Fields,
): { readonly joined: Fields; readonly hidden: readonly string[] } {
  const kept = Object.fromEntries(Object.entries(system).filter(([, value]) => isThere(value)));
  // The system's first, so that they are kept if not all metadata fits.
  const joined = { ...kept, ...own, ...kept };
  const hidden = Object.keys(own).filter((name) => isThere(own[name]) && joined[name] !== own[name]);
  return { joined, hidden };
}

/** Returns the fields that have a value, as metadata to spread into a record; `undefined` if none has one. */
export function metadataOf(
  fields: Readonly<Record<string, unknown>>,
): { readonly metadata: Metadata } | undefined {
  const known = Object.entries(fields).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  // The values come from a JSON document.
  return known.length > 0 ? { metadata: Object.fromEntries(known) as Record<string, JsonValue> } : undefined;
}

import type { JsonValue, Metadata } from '../domain/memory.ts';

/** Reading JSON that others wrote: what is not as expected is absent. */
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

/** Whether there is something: some systems write null where there is nothing. */
export function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A text that is more than white space. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

export function textsOf(value: unknown): readonly string[] {
  return listOf(value).flatMap((each) => textOf(each)?.trim() ?? []);
}

/** An id as text; some systems count. */
export function idOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : textOf(value);
}

/** The units in which systems count time since 1970, by the number from which on it is in the next one. */
const UNITS = [
  { below: 1e11, milliseconds: 1000 },
  { below: 1e14, milliseconds: 1 },
  { below: 1e17, milliseconds: 1e-3 },
  { below: 1e20, milliseconds: 1e-6 },
] as const;

/** Digits alone are a year or a day when they are fewer. */
const COUNTED = /^\d{9,}(?:\.\d+)?$/;

/**
 * A time as ISO 8601, of ISO 8601 or of what is counted since 1970, in seconds or finer. Of anything else a text that is no
 * time, so that the engine refuses it: a record without its date would pass for one of today. `undefined` for none.
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

/** Metadata as an object, or as its JSON in a text; what is neither is kept under its name. */
export function metadataIn(value: unknown, name = 'metadata'): Fields {
  if (isFields(value)) return value;
  if (typeof value !== 'string') return value === undefined || value === null ? {} : { [name]: value };
  try {
    const parsed: unknown = JSON.parse(value);
    if (isFields(parsed)) return parsed;
  } catch {}
  return { [name]: value };
}

/** What is known of these; `undefined` for nothing, so that it is not written at all. */
export function metadataOf(
  fields: Readonly<Record<string, unknown>>,
): { readonly metadata: Metadata } | undefined {
  const known = Object.entries(fields).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  // It comes out of a JSON document.
  return known.length > 0 ? { metadata: Object.fromEntries(known) as Record<string, JsonValue> } : undefined;
}

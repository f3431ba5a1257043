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

/** Seconds since 1970, as ISO 8601. */
export function secondsOf(value: unknown): string | undefined {
  if (typeof value !== 'number' || !(value > 0 && value < 1e11)) return undefined;
  return new Date(Math.round(value * 1000)).toISOString();
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

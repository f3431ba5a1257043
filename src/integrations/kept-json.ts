import { invalidArgument } from '../domain/check.ts';
import type { JsonValue } from '../domain/memory.ts';
import { redactMetadata } from '../domain/redaction.ts';

/** More text would not help a recall. This fits into a content of 32 KiB in any script. */
const MOST_CHARACTERS = 8000;

/** Nesting is counted, because the depth at which the stack overflows differs between runtimes and calls. */
const MOST_LEVELS = 1000;

/**
 * Serialises a JSON value, up to 1,000 levels deep, so that metadata stores it unchanged. Text in
 * `<private>…</private>` is removed before: if the engine removed it from the serialised text, the JSON would break.
 *
 * Throws `invalid_argument` with `field` for values that are not valid JSON, or are nested deeper.
 */
export function keptJson(value: unknown, field: string): string {
  const text = jsonOf(value);
  if (text === undefined) {
    throw invalidArgument(
      field,
      `expected a value that JSON can represent, and that is not nested more than ${MOST_LEVELS} levels deep`,
    );
  }
  return text;
}

/**
 * Returns `undefined` for values that JSON cannot represent. `stringify` throws for a bigint and a cycle, and returns
 * `undefined` for a function.
 */
function jsonOf(value: unknown): string | undefined {
  try {
    const text = JSON.stringify(value);
    if (text === undefined) return undefined;
    const json = JSON.parse(text) as JsonValue;
    if (isNestedDeeper(json, MOST_LEVELS)) return undefined;
    return JSON.stringify(redactMetadata({ value: json })['value']);
  } catch {
    return undefined;
  }
}

function isNestedDeeper(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isNestedDeeper(each, levels - 1));
}

/** Makes a text valid as the content of a memory: well-formed, without control characters, not too long. */
export function readable(text: string): string {
  return text.length <= MOST_CHARACTERS ? storable(text) : `${storable(text.slice(0, MOST_CHARACTERS))}…`;
}

/** Replaces characters that no memory may contain: control characters and lone surrogates. */
export function storable(text: string): string {
  return text.replace(/(?![\t\n\r])\p{Cc}/gu, ' ').toWellFormed();
}

import { invalidArgument } from '../domain/check.ts';
import type { JsonValue } from '../domain/memory.ts';
import { redactMetadata } from '../domain/redaction.ts';

/** More would not help a recall, and fits into a content of 32 KiB whatever the script. */
const MOST_CHARACTERS = 8000;

/** Counted, since how deep the stack reaches differs between runtimes, and between calls of one process. */
const MOST_LEVELS = 1000;

/**
 * Any JSON as a text that metadata keeps to the last character, up to 1,000 levels deep. What stands in
 * `<private>…</private>` is taken out here already: the engine would take it out of the finished text, and break it.
 *
 * Throws `invalid_argument` naming `field` for what is not valid JSON, or nested deeper.
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

/** `undefined` for what JSON cannot represent: a bigint and a cycle throw, a function gives nothing. */
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

/** A text as the content of a memory may be: well-formed, without control characters, not too long. */
export function readable(text: string): string {
  return text.length <= MOST_CHARACTERS ? storable(text) : `${storable(text.slice(0, MOST_CHARACTERS))}…`;
}

/** A text with what no memory holds replaced: control characters, and halves of surrogate pairs. */
export function storable(text: string): string {
  return text.replace(/(?![\t\n\r])\p{Cc}/gu, ' ').toWellFormed();
}

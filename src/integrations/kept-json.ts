import { invalidArgument } from '../domain/check.ts';
import type { JsonValue } from '../domain/memory.ts';
import { redactMetadata } from '../domain/redaction.ts';

/** More would not help a recall, and fits into a content of 32 KiB whatever the script. */
const MOST_CHARACTERS = 8000;

/**
 * Any JSON as a text that metadata keeps to the last character, some thousand levels deep. What stands in
 * `<private>…</private>` is taken out here already: the engine would take it out of the finished text, and break it.
 *
 * Throws `invalid_argument` naming `field` for what is not valid JSON, or nested deeper.
 */
export function keptJson(value: unknown, field: string): string {
  const text = jsonOf(value);
  if (text === undefined) {
    throw invalidArgument(
      field,
      'expected a value that JSON can represent, and that is not nested more than a thousand levels deep',
    );
  }
  return text;
}

/** `undefined` for what JSON cannot represent: a bigint, a cycle and too many levels throw, a function gives nothing. */
function jsonOf(value: unknown): string | undefined {
  try {
    const text = JSON.stringify(value);
    if (text === undefined) return undefined;
    return JSON.stringify(redactMetadata({ value: JSON.parse(text) as JsonValue })['value']);
  } catch {
    return undefined;
  }
}

/** A text as the content of a memory may be: well-formed, without control characters, not too long. */
export function readable(text: string): string {
  const clean = text.replace(/(?![\t\n\r])\p{Cc}/gu, ' ');
  return clean.length <= MOST_CHARACTERS
    ? clean.toWellFormed()
    : `${clean.slice(0, MOST_CHARACTERS).toWellFormed()}…`;
}

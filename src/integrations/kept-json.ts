import type { JsonValue } from '../domain/memory.ts';
import { redactMetadata } from '../domain/redaction.ts';
import { SalienceError } from '../index.ts';

/** More would not help a recall, and fits into a content of 32 KiB whatever the script. */
const MOST_CHARACTERS = 8000;

/**
 * Any JSON as a text that metadata keeps to the last character, however deep it is. What stands in
 * `<private>…</private>` is taken out here already: the engine would take it out of the finished text, and break it.
 *
 * Throws `invalid_argument` naming `field` for what is not valid JSON.
 */
export function keptJson(value: unknown, field: string): string {
  const text = jsonOf(value);
  if (text === undefined) {
    throw new SalienceError('invalid_argument', `${field}: expected a value that JSON can represent`, {
      details: { field },
    });
  }
  const redacted = redactMetadata({ value: JSON.parse(text) as JsonValue })['value'];
  return JSON.stringify(redacted);
}

/** `undefined` for what JSON cannot represent: a bigint and a cycle throw, a function gives nothing. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
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

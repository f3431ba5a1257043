import type { JsonValue, Metadata } from './memory.ts';

export const REDACTED = '[REDACTED]';

/** Letters and signs as a Japanese or Chinese keyboard writes them, and the small forms of `<` and `>`: one unit each. */
const WIDE = /[\uff01-\uff5e\ufe64\ufe65]/g;
const OPENING = /[<\uff1c\ufe64]/;

// Linear: each character between one `<` and the next is visited a bounded number of times.
const head = /<\s*(?:\/\s*)?private\b/gi;

/**
 * Replaces every `<private>…</private>` of a text by `[REDACTED]`. Tags may be nested, have attributes, be in upper or
 * lower case, and in full-width characters (＜private＞). An unclosed tag extends to the end; an unmatched closing tag
 * is kept. For malformed tags, hides too much rather than too little. Runs in linear time.
 */
export function redactPrivate(given: string): string {
  if (!OPENING.test(given)) return given;
  // Has the same length, so that a place in one is a place in the other.
  const text = given.replace(WIDE, (each) => each.normalize('NFKC'));
  const heads = [...text.matchAll(head)];
  if (heads.length === 0) return given;
  const lastEnd = text.lastIndexOf('>');
  let result = '';
  let kept = 0;
  let depth = 0;
  let end = 0;
  for (const [at, { 0: found, index }] of heads.entries()) {
    const closing = found.includes('/');
    // Ignore a closing tag inside the previous tag. An opening tag there still counts, so that no broken tag hides it.
    if (closing && (index < end || index > lastEnd)) continue;
    if (index >= end) end = index > lastEnd ? text.length : text.indexOf('>', index) + 1;
    if (closing) {
      if (depth === 0) continue;
      depth--;
      if (depth === 0) kept = end;
      continue;
    }
    const isEmpty = text.startsWith('/>', end - 2) && (heads[at + 1]?.index ?? end) >= end;
    if (isEmpty) continue;
    if (depth === 0) result += given.slice(kept, index) + REDACTED;
    depth++;
  }
  return depth > 0 ? result : result + given.slice(kept);
}

/** Redacts every text in metadata, property names included. */
export function redactMetadata(metadata: Metadata): Metadata {
  return redactJson(metadata) as Metadata;
}

function redactJson(value: JsonValue): JsonValue {
  if (typeof value === 'string') return redactPrivate(value);
  if (Array.isArray(value)) return value.map(redactJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [redactPrivate(key), redactJson(each as JsonValue)]),
  );
}

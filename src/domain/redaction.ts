import type { JsonValue, Metadata } from './memory.ts';

export const REDACTED = '[REDACTED]';

// Between one `<` and the next every character is looked at a bounded number of times, whatever stands there.
const head = /<\s*(?:\/\s*)?private\b/gi;

/**
 * The text with every `<private>…</private>` replaced by `[REDACTED]`: nested, in any case, with attributes; what is
 * not closed reaches to the end. A closing tag that closes nothing is left. Where tags are broken, rather too much is
 * hidden than too little. Takes time in proportion to the text.
 */
export function redactPrivate(text: string): string {
  if (!text.includes('<')) return text;
  const heads = [...text.matchAll(head)];
  if (heads.length === 0) return text;
  const lastEnd = text.lastIndexOf('>');
  let result = '';
  let kept = 0;
  let depth = 0;
  let end = 0;
  for (const [at, { 0: found, index }] of heads.entries()) {
    const closing = found.includes('/');
    // In the tag before: what opens there opens all the same, so that no broken tag swallows it.
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
    if (depth === 0) result += text.slice(kept, index) + REDACTED;
    depth++;
  }
  return depth > 0 ? result : result + text.slice(kept);
}

/** Metadata with every text in it redacted, names of properties too. */
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

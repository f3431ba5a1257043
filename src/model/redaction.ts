import type { JsonValue, Metadata } from './memory.ts';

export const REDACTED = '[REDACTED]';

const tag = /<\s*(\/?)\s*private\b[^>]*?(\/?)>|<\s*private\b[^>]*$/gi;

/**
 * The text with every `<private>…</private>` replaced by `[REDACTED]`: nested, in any case, with attributes; what is
 * not closed reaches to the end. A closing tag that closes nothing is left.
 */
export function redactPrivate(text: string): string {
  let result = '';
  let kept = 0;
  let depth = 0;
  for (const match of text.matchAll(tag)) {
    const [whole, closing, empty] = match;
    if (closing === '/') {
      if (depth === 0) continue;
      depth--;
      if (depth === 0) kept = match.index + whole.length;
      continue;
    }
    // An element without content hides nothing.
    if (empty === '/') continue;
    if (depth === 0) result += text.slice(kept, match.index) + REDACTED;
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

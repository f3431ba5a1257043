import type { JsonValue, Metadata } from './memory.ts';

export const REDACTED = '[REDACTED]';

// Linear: each character between one `<` and the next is visited a bounded number of times.
const head = /<\s*(?:\/\s*)?private\b/gi;

/**
 * Replaces every `<private>…</private>` of a text by `[REDACTED]`. Tags may be nested, have attributes and be in upper or
 * lower case. An unclosed tag extends to the end; an unmatched closing tag is kept. For malformed tags, hides too much
 * rather than too little. Runs in linear time.
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
    if (depth === 0) result += text.slice(kept, index) + REDACTED;
    depth++;
  }
  return depth > 0 ? result : result + text.slice(kept);
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

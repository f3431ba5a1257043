import type { MemoryRecord } from '../domain/memory.ts';

/** The relevance of a memory that contains the text of a query without terms. */
export const SUBSTRING_RELEVANCE = 0.5;

/** Whether the text occurs in title, content or one of the tags, both sides in lower case and NFC. */
export function containsText(
  memory: Pick<MemoryRecord, 'title' | 'content' | 'tags'>,
  text: string,
): boolean {
  const wanted = compared(text);
  return [memory.title ?? '', memory.content, ...memory.tags].some((each) => compared(each).includes(wanted));
}

/** NFC comes last, because lower-casing a capital can produce a decomposed character. */
function compared(text: string): string {
  return text.toLowerCase().normalize('NFC');
}

/**
 * Whether a database can pre-filter by this text, ignoring case for ASCII letters only. It cannot if the text has quotes
 * or backslashes, which JSON escapes in stored tags, or characters outside ASCII, which lower-casing may change.
 */
export function isPlainText(text: string): boolean {
  return /^[ !#-[\]-~]{1,1000}$/.test(text);
}

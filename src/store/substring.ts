import type { MemoryRecord } from '../domain/memory.ts';

/** The relevance of a memory that holds the text of a query in which no term is left. */
export const SUBSTRING_RELEVANCE = 0.5;

/** Whether the text occurs in title, content or one of the tags, both sides in lower case and NFC. */
export function containsText(
  memory: Pick<MemoryRecord, 'title' | 'content' | 'tags'>,
  text: string,
): boolean {
  const wanted = compared(text);
  return [memory.title ?? '', memory.content, ...memory.tags].some((each) => compared(each).includes(wanted));
}

/** NFC last: what becomes of a capital in lower case may be decomposed. */
function compared(text: string): string {
  return text.toLowerCase().normalize('NFC');
}

/**
 * Whether a database can look for it first, in upper and lower case of ASCII alone: tags are stored as JSON, which spells quotes and
 * backslashes otherwise, and of texts that are not ASCII letters may become others in lower case.
 */
export function isPlainText(text: string): boolean {
  return /^[ !#-[\]-~]{1,1000}$/.test(text);
}

import type { MemoryRecord } from '../domain/memory.ts';

/** The relevance of a memory that holds the text of a query in which no term is left. */
export const SUBSTRING_RELEVANCE = 0.5;

/** Whether the text occurs in title, content or one of the tags, both sides in lower case. */
export function containsText(
  memory: Pick<MemoryRecord, 'title' | 'content' | 'tags'>,
  text: string,
): boolean {
  const wanted = text.toLowerCase();
  return [memory.title ?? '', memory.content, ...memory.tags].some((each) =>
    each.toLowerCase().includes(wanted),
  );
}

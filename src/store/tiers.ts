import type { MemoryRecord } from '../domain/memory.ts';
import { type Instant, MILLISECONDS_PER_DAY } from '../domain/time.ts';
import type { MemoryEvent, SpaceReader } from './store.ts';

const STUB_PREFIX = '[archived] ';
const STUB_CHARACTERS = 200;

/** What a stub keeps of a content; the full text stays in its history. */
export function stubContent(content: string): string {
  return STUB_PREFIX + [...content.slice(0, 2 * STUB_CHARACTERS)].slice(0, STUB_CHARACTERS).join('');
}

/** What a stub said before it was archived, by its events, oldest first; what it says where they do not tell. */
export function fullContent(
  { content }: Pick<MemoryRecord, 'content'>,
  history: readonly Pick<MemoryEvent, 'before'>[],
): string {
  const archived = history.findLast(({ before }) => before !== undefined && before.tier !== 'stub')?.before;
  return archived && stubContent(archived.content) === content ? archived.content : content;
}

/** A memory with its full text, whatever its tier. */
export async function withFullText(
  reader: Pick<SpaceReader, 'history'>,
  memory: MemoryRecord,
): Promise<MemoryRecord> {
  if (memory.tier !== 'stub') return memory;
  return { ...memory, content: fullContent(memory, await reader.history(memory.id)) };
}

/** When a memory was last used: what a recall showed has not been forgotten, even where the strategy learns nothing. */
export function lastUse({
  lastAccessedAt,
  seen,
}: Pick<MemoryRecord, 'lastAccessedAt' | 'seen'>): Instant | undefined {
  return seen === undefined ? lastAccessedAt : Math.max(seen, lastAccessedAt ?? seen);
}

/** Whether a memory that is not hot has been cold, and not used, for so many days. */
export function isColdFor(memory: MemoryRecord, days: number, now: Instant): boolean {
  const since = Math.max(memory.coldSince ?? now, lastUse(memory) ?? Number.NEGATIVE_INFINITY);
  return since <= now - days * MILLISECONDS_PER_DAY;
}

/**
 * A memory after something made it current again; it has its full text. What was consolidated into another memory stays as it
 * is: the other one stands for it.
 */
export function madeHot(memory: MemoryRecord): MemoryRecord {
  if (memory.tier === 'hot' || memory.consolidatedAt !== undefined) return memory;
  return { ...memory, tier: 'hot', coldSince: undefined };
}

/** The same after it was said again or changed at `at`: counted as seen then, or the next maintenance would cool it again. */
export function revived(memory: MemoryRecord, at: Instant): MemoryRecord {
  const hot = madeHot(memory);
  return hot === memory ? memory : { ...hot, seen: Math.max(memory.seen ?? at, at) };
}

/** A memory after it was said again or changed: hot, and a stub with its full text. */
export async function affirmed(
  reader: Pick<SpaceReader, 'history'>,
  memory: MemoryRecord,
  at: Instant,
): Promise<MemoryRecord> {
  return memory.consolidatedAt === undefined ? revived(await withFullText(reader, memory), at) : memory;
}

import type { MemoryRecord } from '../domain/memory.ts';
import { type Instant, MILLISECONDS_PER_DAY } from '../domain/time.ts';
import type { MemoryEvent, SpaceReader } from './store.ts';

const STUB_PREFIX = '[archived] ';
const STUB_CHARACTERS = 200;

/** Shortens a content to that of a stub. The full text stays in the history of the memory. */
export function stubContent(content: string): string {
  return STUB_PREFIX + [...content.slice(0, 2 * STUB_CHARACTERS)].slice(0, STUB_CHARACTERS).join('');
}

/** Finds the full content of a stub in its events, oldest first. Returns the content of the stub if they lack it. */
export function fullContent(
  { content }: Pick<MemoryRecord, 'content'>,
  history: readonly Pick<MemoryEvent, 'before'>[],
): string {
  const archived = history.findLast(({ before }) => before !== undefined && before.tier !== 'stub')?.before;
  return archived && stubContent(archived.content) === content ? archived.content : content;
}

/** Returns a memory with its full text, even if it is a stub. */
export async function withFullText(
  reader: Pick<SpaceReader, 'history'>,
  memory: MemoryRecord,
): Promise<MemoryRecord> {
  if (memory.tier !== 'stub') return memory;
  return { ...memory, content: fullContent(memory, await reader.history(memory.id)) };
}

/** When a memory was last used. Being shown by a recall whose strategy learns nothing (`seen`) counts as a use. */
export function lastUse({
  lastAccessedAt,
  seen,
}: Pick<MemoryRecord, 'lastAccessedAt' | 'seen'>): Instant | undefined {
  return seen === undefined ? lastAccessedAt : Math.max(seen, lastAccessedAt ?? seen);
}

/** Whether a memory that is not hot has been cold and unused for at least `days`. */
export function isColdFor(memory: MemoryRecord, days: number, now: Instant): boolean {
  const since = Math.max(memory.coldSince ?? now, lastUse(memory) ?? Number.NEGATIVE_INFINITY);
  return since <= now - days * MILLISECONDS_PER_DAY;
}

/**
 * Makes a memory, which must have its full text, hot again. A consolidated memory stays as it is: the memory it was
 * consolidated into replaces it.
 */
export function madeHot(memory: MemoryRecord): MemoryRecord {
  if (memory.tier === 'hot' || memory.consolidatedAt !== undefined) return memory;
  return { ...memory, tier: 'hot', coldSince: undefined };
}

/** Makes a memory hot after it was restated or changed. Sets `seen` to `at`, or the next maintenance would cool it again. */
export function revived(memory: MemoryRecord, at: Instant): MemoryRecord {
  const hot = madeHot(memory);
  return hot === memory ? memory : { ...hot, seen: Math.max(memory.seen ?? at, at) };
}

/** Makes a memory hot after it was restated or changed, and gives a stub its full text back. */
export async function affirmed(
  reader: Pick<SpaceReader, 'history'>,
  memory: MemoryRecord,
  at: Instant,
): Promise<MemoryRecord> {
  return memory.consolidatedAt === undefined ? revived(await withFullText(reader, memory), at) : memory;
}

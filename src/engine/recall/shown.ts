import type { MemoryRecord } from '../../domain/memory.ts';
import type { Instant } from '../../domain/time.ts';
import type { MemoryFilter } from '../../store/store.ts';
import { supersededAmong } from '../belief/supersession.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Memory } from '../types.ts';
import { toMemory } from '../write/record.ts';

/** Memories as callers see them, each with the weight that it has where and when one looks: by default everywhere. */
export async function shownAll(
  { space }: Pick<Dependencies, 'space'>,
  records: readonly MemoryRecord[],
  now: Instant,
  filter: MemoryFilter = {},
): Promise<readonly Memory[]> {
  const ids = records.map(({ id }) => id);
  const superseded = await supersededAmong(space, ids, filter, now);
  return records.map((record) => toMemory(record, space.name, superseded.has(record.id)));
}

/** See {@link shownAll}. */
export async function shown(
  engine: Pick<Dependencies, 'space'>,
  record: MemoryRecord,
  now: Instant,
  filter: MemoryFilter = {},
): Promise<Memory> {
  const [memory] = await shownAll(engine, [record], now, filter);
  return memory as Memory;
}

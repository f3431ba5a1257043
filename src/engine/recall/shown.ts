import type { MemoryRecord } from '../../domain/memory.ts';
import type { Instant } from '../../domain/time.ts';
import type { MemoryFilter, SpaceReader } from '../../store/store.ts';
import { supersededAmong } from '../belief/supersession.ts';
import type { Memory } from '../types.ts';
import { toMemory } from '../write/record.ts';

/** A space, or one moment of it. */
interface Looking {
  readonly space: SpaceReader & { readonly name: string };
  /** What to read from. Default is the space itself, as it is now. */
  readonly reader?: SpaceReader;
}

/** Memories as callers see them, each with the weight that it has where and when one looks: by default everywhere. */
export async function shownAll(
  { space, reader = space }: Looking,
  records: readonly MemoryRecord[],
  now: Instant,
  filter: MemoryFilter = {},
): Promise<readonly Memory[]> {
  const ids = records.map(({ id }) => id);
  const superseded = await supersededAmong(reader, ids, filter, now);
  return records.map((record) => toMemory(record, space.name, superseded.has(record.id)));
}

/** See {@link shownAll}. */
export async function shown(
  engine: Looking,
  record: MemoryRecord,
  now: Instant,
  filter: MemoryFilter = {},
): Promise<Memory> {
  const [memory] = await shownAll(engine, [record], now, filter);
  return memory as Memory;
}

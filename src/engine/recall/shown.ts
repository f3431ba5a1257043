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

/** Returns memories as callers see them. The effective weight is that for `filter` at `now`; by default in every scope. */
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

/** Returns one memory as callers see it. See {@link shownAll}. */
export async function shown(
  engine: Looking,
  record: MemoryRecord,
  now: Instant,
  filter: MemoryFilter = {},
): Promise<Memory> {
  const [memory] = await shownAll(engine, [record], now, filter);
  return memory as Memory;
}

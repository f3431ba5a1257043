import { text } from '../../domain/check.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { redactPrivate } from '../../domain/redaction.ts';
import { formatInstant } from '../../domain/time.ts';
import { compareCreated } from '../../store/comparison.ts';
import { exclusionOf } from '../../store/eligibility.ts';
import type { Exclusion, MemoryEvent, MemoryFilter } from '../../store/store.ts';
import { type Dependencies, filterOf, momentOf } from '../dependencies.ts';
import type { FilterOptions, Memory, OperationOptions } from '../types.ts';
import { toMemory } from '../write/record.ts';
import { chainsAbove, supersededAmong } from './supersession.ts';

/** One past write, with the memory as it was before it. */
export interface HistoryEntry extends Omit<MemoryEvent, 'at' | 'before'> {
  readonly at: string;
  readonly before: Memory | undefined;
}

/** A memory about a topic, and whether it is believed now. */
export interface Belief {
  readonly memory: Memory;
  readonly believed: boolean;
  /** Why it is not believed; absent if it is. */
  readonly because?: Exclusion | undefined;
  /** The ids of the visible memories that supersede it. */
  readonly supersededBy: readonly string[];
}

/**
 * Returns the writes of a memory and of all memories in its supersession chain, oldest first. Empty if there never was
 * such a memory.
 */
export async function historyOf(engine: Dependencies, id: string): Promise<readonly HistoryEntry[]> {
  const chain = await chainOf(engine, id);
  const events: MemoryEvent[] = [];
  for (const each of chain) events.push(...(await engine.space.history(each)));
  const superseded = await supersededAmong(engine.space, chain, {}, momentOf(engine, undefined));
  return events
    .sort((a, b) => a.sequence - b.sequence)
    .map((event) => ({
      ...event,
      at: formatInstant(event.at),
      before: event.before && toMemory(event.before, engine.space.name, superseded.has(event.memoryId)),
    }));
}

/**
 * Returns the stored memories about a topic and those in their supersession chains, oldest first, each with whether it
 * is believed. Throws `invalid_argument`, `invalid_scope`.
 */
export async function beliefsAbout(
  engine: Dependencies,
  topicKey: string,
  options: Pick<FilterOptions, 'scope'> & OperationOptions = {},
): Promise<readonly Belief[]> {
  const now = momentOf(engine, options);
  const filter = filterOf({ scope: options.scope });
  const isVisible = ({ scope }: MemoryRecord) => filter.scopes?.includes(scope) ?? true;
  const about = await engine.space.find('topicKey', [redactPrivate(text(topicKey, 'topicKey'))]);
  const chains = new Map<string, MemoryRecord>();
  for (const { id } of about.filter(isVisible)) {
    const records = await engine.space.get(await chainOf(engine, id, isVisible));
    for (const record of records) if (record) chains.set(record.id, record);
  }
  const visible = [...chains.values()].filter(isVisible).sort(compareCreated);
  return believedAmong(engine, visible, filter, now);
}

async function believedAmong(
  engine: Dependencies,
  memories: readonly MemoryRecord[],
  filter: MemoryFilter,
  now: number,
): Promise<readonly Belief[]> {
  const ids = memories.map(({ id }) => id);
  const superseded = await supersededAmong(engine.space, ids, filter, now);
  const { successors, memories: above } = await chainsAbove(engine.space, ids);
  const isVisible = (id: string) => filter.scopes?.includes(above.get(id)?.scope ?? '') ?? true;
  return memories.map((record): Belief => {
    const hidden = superseded.has(record.id);
    const because = exclusionOf({ ...record, superseded: hidden }, { ...filter, cold: true }, now);
    return {
      memory: toMemory(record, engine.space.name, hidden),
      believed: because === undefined,
      ...(because === undefined ? {} : { because }),
      supersededBy: (successors.get(record.id) ?? []).filter(isVisible),
    };
  });
}

/**
 * Returns the ids of a memory, of all memories above it in its supersession chains, and of all that these supersede, as
 * far as they are visible.
 */
async function chainOf(
  engine: Dependencies,
  id: string,
  isVisible: (memory: MemoryRecord) => boolean = () => true,
): Promise<readonly string[]> {
  const { memories } = await chainsAbove(engine.space, [id]);
  const ids = new Set([id, ...memories.keys()]);
  let level: readonly string[] = [...ids];
  while (level.length > 0) {
    const records = await engine.space.get(level);
    const below = records.flatMap((record) => (record && isVisible(record) ? record.supersedes : []));
    level = [...new Set(below)].filter((each) => !ids.has(each));
    for (const each of level) ids.add(each);
  }
  return [...ids];
}

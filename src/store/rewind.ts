import { invalidArgument } from '../domain/check.ts';
import { deepFreeze } from '../domain/frozen.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import { formatInstant, type Instant } from '../domain/time.ts';
import { linkKey } from './links.ts';
import type { Moment } from './recording.ts';
import { emptyState, type KeptPair, type SearchableMemory, type State, stored, WAITING } from './state.ts';
import type { IndexedText, Link, LinkChange, MemoryEvent, Usage } from './store.ts';

/** A space as it was at a past moment. */
export interface Past {
  readonly name: string;
  readonly state: State;
  /** How many memories it had that were forgotten since. */
  readonly redacted: number;
}

/**
 * Returns the space as it was at `known`: undoes all later writes and uses, newest first. `derive` computes the text data
 * of memories whose text has changed since. Throws `invalid_argument` for an instant before the first write.
 */
export async function rewind(
  name: string,
  state: State,
  known: Instant | Moment,
  derive: (memories: readonly MemoryRecord[]) => Promise<readonly IndexedText[]>,
): Promise<Past> {
  const moment: Moment = typeof known === 'number' ? { at: known } : known;
  const { at, place } = moment;
  const first = state.events[0];
  if (at !== undefined && (!first || at < first.at || place?.sequence === 0)) {
    throw invalidArgument(
      'asOf.known',
      first
        ? `nothing was known at ${formatInstant(at)}: the first write was at ${formatInstant(first.at)}`
        : 'nothing was ever known here: the space is empty',
    );
  }
  const memories = new Map<string, MemoryRecord>();
  for (const [id, { memory }] of state.memories) memories.set(id, memory);
  const links = new Map(state.links);
  let { settings } = state;
  const forgotten = new Set<string>();
  for (const entry of newestFirst(state, moment)) {
    if ('used' in entry) undoUse(entry, memories, links);
    else if (entry.settings) settings = entry.settings;
    else if (entry.link) undoLink(entry.link, links);
    else if (entry.redacted) {
      // If the memory exists, it was not forgotten: this event is about its link with a memory that was.
      if (!memories.has(entry.memoryId)) forgotten.add(entry.memoryId);
    } else if (entry.before) memories.set(entry.memoryId, entry.before);
    else memories.delete(entry.memoryId);
  }
  const events = state.events.filter((event) => !isAfter(event, moment, 'sequence'));
  // Count a forgotten memory only if it has an event before `known`. Its events no longer say more than that.
  const written = new Set(events.filter(({ link }) => link === undefined).map(({ memoryId }) => memoryId));
  // No log covers sessions and tombstones, so the past state has none.
  const past: State = {
    ...emptyState,
    settings,
    embedding: state.embedding,
    analyzer: state.analyzer,
    memories: await withDerived(memories, state.memories, derive),
    links: new Map([...links].filter(([, { ids }]) => ids.every((id) => memories.has(id)))),
    events,
    votes: state.votes.filter(({ operation }) => operation <= (events.at(-1)?.sequence ?? 0)),
    usages: state.usages.filter((use) => !isAfter(use, moment, 'usage')),
    pairs: new Map(
      [...state.pairs]
        .filter(([, pair]) => !isAfter(pair, moment, 'pair'))
        .map(([sequence, pair]) => [sequence, endsAfter(pair, moment) ? { ...pair, ...WAITING } : pair]),
    ),
    lastPair: state.lastPair,
    lastOrdinal: state.lastOrdinal,
  };
  return { name, state: past, redacted: [...forgotten].filter((id) => written.has(id)).length };
}

/** Whether an entry of a log came after a moment. */
function isAfter(
  entry: { readonly at: Instant; readonly sequence: number },
  { at, place }: Moment,
  log: 'sequence' | 'usage' | 'pair',
): boolean {
  return (at !== undefined && entry.at > at) || (place !== undefined && entry.sequence > place[log]);
}

function endsAfter({ endedAt, endedBy }: KeptPair, { at, place }: Moment): boolean {
  if (endedAt === undefined) return false;
  if (at !== undefined && endedAt > at) return true;
  if (place === undefined) return false;
  return endedBy === undefined ? endedAt > place.at : endedBy > place.sequence;
}

/** Returns the entries of both logs after a moment, newest first. `after` of a use is the event that precedes it. */
function newestFirst(state: State, moment: Moment): readonly (MemoryEvent | Usage)[] {
  const events = state.events.filter((event) => isAfter(event, moment, 'sequence'));
  const uses = state.usages.filter((use) => isAfter(use, moment, 'usage'));
  const order: (MemoryEvent | Usage)[] = [];
  let event = events.length;
  for (const use of [...uses].reverse()) {
    while (event > 0 && (events[event - 1] as MemoryEvent).sequence > use.after) {
      order.push(events[--event] as MemoryEvent);
    }
    order.push(use);
  }
  while (event > 0) order.push(events[--event] as MemoryEvent);
  return order;
}

function undoUse({ before }: Usage, memories: Map<string, MemoryRecord>, links: Map<string, Link>): void {
  for (const { id, ...dynamics } of before?.memories ?? []) {
    const memory = memories.get(id);
    if (memory) memories.set(id, { ...memory, ...dynamics });
  }
  for (const change of [...(before?.links ?? [])].reverse()) undoLink(change, links);
}

function undoLink({ link, before }: LinkChange, links: Map<string, Link>): void {
  if (before) links.set(linkKey(link), { ...link, ...before });
  else links.delete(linkKey(link));
}

/**
 * Adds the derived data: that of `present` where the text is the same, else what `derive` returns. Records are frozen, not
 * copied: states are immutable, so the two states may share them.
 */
async function withDerived(
  memories: ReadonlyMap<string, MemoryRecord>,
  present: State['memories'],
  derive: (memories: readonly MemoryRecord[]) => Promise<readonly IndexedText[]>,
): Promise<ReadonlyMap<string, SearchableMemory>> {
  const changed = [...memories.values()].filter(
    (memory) => !sameText(memory, present.get(memory.id)?.memory),
  );
  const derived = changed.length > 0 ? await derive(changed) : [];
  const fresh = new Map(changed.map((memory, at) => [memory.id, derived[at] as IndexedText]));
  const then = new Map<string, SearchableMemory>();
  for (const [id, memory] of memories) {
    const indexed = fresh.get(id);
    const now = present.get(id) as SearchableMemory;
    deepFreeze(memory);
    if (indexed) then.set(id, stored(memory, indexed));
    else then.set(id, memory === now.memory ? now : { ...now, memory });
  }
  return then;
}

function sameText(a: MemoryRecord, b: MemoryRecord | undefined): boolean {
  return (
    a === b ||
    (b !== undefined &&
      a.title === b.title &&
      a.content === b.content &&
      JSON.stringify(a.tags) === JSON.stringify(b.tags))
  );
}

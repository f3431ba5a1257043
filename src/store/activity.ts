import type { LogPlace } from './recording.ts';
import type { MemoryEvent, Usage } from './store.ts';

/** A place in both logs: after this event and this use. */
export type ActivityPlace = Pick<LogPlace, 'sequence' | 'usage'>;

/** What both logs say between two places. */
export interface ActivityPart {
  readonly entries: readonly (MemoryEvent | Usage)[];
  /** After the last entry. */
  readonly place: ActivityPlace;
  /** After everything that there is. */
  readonly end: ActivityPlace;
}

/** What came after a place, of events and uses that do: a use lies between the event before it and the next one. */
export function activityOf(
  events: readonly MemoryEvent[],
  uses: readonly Usage[],
  {
    after,
    limit,
    end,
  }: { readonly after: ActivityPlace; readonly limit: number; readonly end: ActivityPlace },
): ActivityPart {
  const entries: (MemoryEvent | Usage)[] = [];
  let [event, use] = [0, 0];
  while (entries.length < limit) {
    const [nextEvent, nextUse] = [events[event], uses[use]];
    if (nextUse && (!nextEvent || nextUse.after < nextEvent.sequence)) {
      entries.push(nextUse);
      use++;
    } else if (nextEvent) {
      entries.push(nextEvent);
      event++;
    } else break;
  }
  const place = {
    sequence: events[event - 1]?.sequence ?? after.sequence,
    usage: uses[use - 1]?.sequence ?? after.usage,
  };
  return { entries, place, end };
}

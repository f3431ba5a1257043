import { stampOf } from './position.ts';
import type { LogPlace } from './recording.ts';
import type { MemoryEvent, Usage } from './store.ts';

/** A place in both logs: after this event and this use. */
export type ActivityPlace = Pick<LogPlace, 'sequence' | 'usage'>;

/** A place as a log has it. */
export interface StampedPlace extends ActivityPlace {
  /** Tells this event and this use from others of the same numbers, as in a space that was deleted and made again. */
  readonly stamp: string;
}

/** What both logs say between two places. */
export interface ActivityPart {
  readonly entries: readonly (MemoryEvent | Usage)[];
  /** Before the first entry. */
  readonly from: StampedPlace;
  /** After the last entry. */
  readonly place: StampedPlace;
}

/**
 * What came after a place, of events and uses that do: a use lies between the event before it and the next one. The event and the use
 * of the place itself come first, as far as they are there.
 */
export function activityOf(
  events: readonly MemoryEvent[],
  uses: readonly Usage[],
  { after, limit }: { readonly after: ActivityPlace; readonly limit: number },
): ActivityPart {
  const entries: (MemoryEvent | Usage)[] = [];
  let event = events[0]?.sequence === after.sequence ? 1 : 0;
  let use = uses[0]?.sequence === after.usage ? 1 : 0;
  const reached = (): StampedPlace => {
    const [lastEvent, lastUse] = [events[event - 1], uses[use - 1]];
    return {
      sequence: lastEvent?.sequence ?? after.sequence,
      usage: lastUse?.sequence ?? after.usage,
      // Of what the log says alone, which nothing replaces.
      stamp: stampOf(0, lastEvent, lastUse),
    };
  };
  const from = reached();
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
  return { entries, from, place: reached() };
}

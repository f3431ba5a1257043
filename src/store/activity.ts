import { stampOf } from './position.ts';
import type { LogPlace } from './recording.ts';
import type { MemoryEvent, Usage } from './store.ts';

/** A place in both logs, after this event and this use. */
export type ActivityPlace = Pick<LogPlace, 'sequence' | 'usage'>;

/** A place in the logs, with a stamp that identifies its event and use. */
export interface StampedPlace extends ActivityPlace {
  /** Differs for an event and a use with the same numbers in another log, as in a space that was deleted and created again. */
  readonly stamp: string;
}

/** The entries of both logs between two places. */
export interface ActivityPart {
  readonly entries: readonly (MemoryEvent | Usage)[];
  /** Before the first entry. */
  readonly from: StampedPlace;
  /** After the last entry. */
  readonly place: StampedPlace;
}

/**
 * Merges events and uses after a place into the order in which they happened: a use comes directly after the event that
 * its `after` names. Both lists may begin with the event and the use of the place itself, from which its stamp is made.
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
      // Generation 0: the stamp depends on the logs alone, and a reindex does not change it.
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

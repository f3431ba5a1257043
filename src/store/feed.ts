import type { Feed, FeedPlace, MemoryEvent, Usage } from './store.ts';

/** What came after a place, of events and uses that do: a use lies between the event before it and the next one. */
export function feedOf(
  events: readonly MemoryEvent[],
  uses: readonly Usage[],
  { after, limit, end }: { readonly after: FeedPlace; readonly limit: number; readonly end: FeedPlace },
): Feed {
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
    event: events[event - 1]?.sequence ?? after.event,
    use: uses[use - 1]?.sequence ?? after.use,
  };
  return { entries, place, end };
}

import { feedOf } from '../../store/feed.ts';
import type { Feed, FeedPlace } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { lastSequence, readEventsAfter } from './events.ts';
import { lastUsageSequence, readUsage } from './usage.ts';

/** See `SpaceReader.feed`. */
export function readFeed(connection: Connection, after: FeedPlace | undefined, limit: number): Feed {
  const end = { event: lastSequence(connection), use: lastUsageSequence(connection) };
  if (!after) return { entries: [], place: end, end };
  const events = readEventsAfter(connection, after.event, limit);
  return feedOf(events, readUsage(connection, after.use, limit), { after, limit, end });
}

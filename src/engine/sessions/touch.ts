import type { MemoryRecord } from '../../domain/memory.ts';
import type { Instant } from '../../domain/time.ts';
import type { Change, SpaceReader } from '../../store/store.ts';

/** Returns the changes that mark the open sessions of these memories as active now. */
export async function touchSessions(
  reader: SpaceReader,
  memories: readonly MemoryRecord[],
  now: Instant,
): Promise<readonly Change[]> {
  const ids = new Set(memories.flatMap(({ sessionId }) => (sessionId === undefined ? [] : [sessionId])));
  const changes: Change[] = [];
  for (const id of ids) {
    const session = await reader.session(id);
    if (!session || session.endedAt !== undefined || session.activeAt >= now) continue;
    changes.push({ kind: 'session', session: { ...session, activeAt: now } });
  }
  return changes;
}

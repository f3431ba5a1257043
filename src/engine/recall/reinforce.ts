import type { MemoryRecord } from '../../domain/memory.ts';
import { ageInDays, type Instant } from '../../domain/time.ts';
import type { Link, NewUsage, SpaceReader, UseDecision } from '../../store/store.ts';
import { madeHot } from '../../store/tiers.ts';
import { presentWeight } from './expand.ts';

/** Rates and thresholds of learning by use. */
export interface ReinforcementRates {
  /** The stability that a direct hit gains if its last use was a week ago. */
  readonly direct: number;
  readonly associative: number;
  /** The weight that the link of two direct hits gains. */
  readonly link: number;
  readonly coreAccessCount: number;
  readonly coreStability: number;
  readonly coreSessions: number;
}

export const REINFORCEMENT: ReinforcementRates = {
  direct: 0.1,
  associative: 0.03,
  link: 0.1,
  coreAccessCount: 10,
  coreStability: 0.85,
  coreSessions: 3,
};

/** A use counts in full after a week, and twice after two weeks or more: spaced repetition. */
const SPACING_DAYS = 7;
const MOST_SPACING = 2;

/** Returns a memory after a use: more stable, counted, hot again, and core if it meets the thresholds. */
export function reinforced(
  memory: MemoryRecord,
  use: { readonly at: Instant; readonly direct: boolean; readonly sessionId: string | undefined },
  rates: ReinforcementRates = REINFORCEMENT,
): MemoryRecord {
  const spacing = Math.min(
    MOST_SPACING,
    ageInDays(memory.lastAccessedAt ?? memory.createdAt, use.at) / SPACING_DAYS,
  );
  const stability = Math.min(1, memory.stability + (use.direct ? rates.direct : rates.associative) * spacing);
  const sessions =
    use.sessionId === undefined || memory.sessions.includes(use.sessionId)
      ? memory.sessions
      : [...memory.sessions, use.sessionId];
  const accessCount = memory.accessCount + 1;
  const proved =
    accessCount >= rates.coreAccessCount &&
    stability >= rates.coreStability &&
    sessions.length >= rates.coreSessions;
  return {
    // A use does not restore the text of a stub.
    ...(memory.tier === 'stub' ? memory : madeHot(memory)),
    stability,
    sessions,
    accessCount,
    lastAccessedAt: later(memory.lastAccessedAt, use.at),
    core: memory.core || proved,
  };
}

/** Decides the changes of one use to the current memories. `use` applies this rule, and a replay repeats it. */
export async function decideUse(
  reader: SpaceReader,
  usage: NewUsage,
  rates: ReinforcementRates = REINFORCEMENT,
): Promise<UseDecision> {
  const records = await reader.get(usage.used.map(({ id }) => id));
  const memories = records.flatMap((memory, at) => (memory ? [used(memory, usage, at, rates)] : []));
  if (usage.effect !== 'reinforce') return { memories, links: [] };
  const direct = usage.used
    .filter(({ id, direct }, at) => direct && id !== undefined && records[at])
    .map(({ id }) => id);
  return { memories, links: await strengthened(reader, direct, usage.at, rates) };
}

function used(memory: MemoryRecord, usage: NewUsage, at: number, rates: ReinforcementRates): MemoryRecord {
  switch (usage.effect) {
    case 'count':
      return { ...memory, accessCount: memory.accessCount + 1 };
    case 'see':
      return { ...memory, seen: Math.max(memory.seen ?? usage.at, usage.at) };
    case 'touch':
      return { ...memory, lastAccessedAt: later(memory.lastAccessedAt, usage.at) };
    case 'reinforce':
      return reinforced(
        memory,
        { at: usage.at, direct: usage.used[at]?.direct ?? false, sessionId: usage.sessionId },
        rates,
      );
  }
}

/** Returns the later time: a clock that was set back must not undo a use. */
function later(before: Instant | undefined, at: Instant): Instant {
  return Math.max(before ?? at, at);
}

/** Returns the strengthened links of all pairs of direct hits: their present weight, plus `rates.link`. */
async function strengthened(
  reader: SpaceReader,
  direct: readonly string[],
  at: Instant,
  rates: ReinforcementRates,
): Promise<readonly Link[]> {
  const known = new Map(
    (await reader.linksAmong(direct))
      .filter(({ kind }) => kind === 'co-retrieval')
      .map((link) => [link.ids.join('\0'), link]),
  );
  return direct.flatMap((a, index) =>
    direct.slice(index + 1).map((b): Link => {
      const ids: readonly [string, string] = a < b ? [a, b] : [b, a];
      const link = known.get(ids.join('\0'));
      const left = link ? presentWeight(link, at) : 0;
      return { ids, kind: 'co-retrieval', weight: Math.min(1, left + rates.link), at: later(link?.at, at) };
    }),
  );
}

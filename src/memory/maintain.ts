import { throwIfAborted } from '../model/errors.ts';
import type { MemoryRecord } from '../model/memory.ts';
import { type Instant, MILLISECONDS_PER_DAY } from '../model/time.ts';
import { isAtFloor } from '../scoring/fading.ts';
import { signalsOf } from '../scoring/signals.ts';
import type { Change, SpaceReader } from '../store/store.ts';
import { stubContent } from '../store/tiers.ts';
import { compare } from './compare.ts';
import { consolidate } from './consolidate.ts';
import { NOTHING_INDEXED } from './derive.ts';
import { type Engine, momentOf } from './engine.ts';
import { forgetBy } from './forget.ts';
import { planForgetting } from './forgetting.ts';
import type { MaintainOptions, MaintenanceReport } from './maintenance-types.ts';
import { judgementReport, mostPairs, reconcile } from './reconcile.ts';

/** Days at the floor after which a memory is cold, and days of cold after which only a stub is left. */
const DAYS_AT_FLOOR = 7;
const DAYS_OF_COLD = 180;

/** Memories that are read at once, and that are changed at once: others can write in between. */
const PAGE = 500;
const CHANGED_AT_ONCE = 2000;

type Fate = 'cooled' | 'archived' | 'expired';

/**
 * Lets time do its work. Each page of changes is one operation, decided anew on what the memories are when it is
 * written: a run that is interrupted leaves nothing half-done, and the next one goes on from there.
 */
export async function maintain(engine: Engine, options: MaintainOptions = {}): Promise<MaintenanceReport> {
  const now = momentOf(engine, options);
  const dryRun = options.dryRun === true;
  mostPairs(options);
  const fates: Record<Fate, string[]> = { cooled: [], archived: [], expired: [] };
  const { examined, due } = options.fade === false ? nothingDue : await findDue(engine, now, options);
  for (const fate of ['cooled', 'archived'] as const) {
    for (let start = 0; start < due[fate].length; start += CHANGED_AT_ONCE) {
      throwIfAborted(options.signal);
      const ids = due[fate].slice(start, start + CHANGED_AT_ONCE);
      fates[fate].push(...(dryRun ? ids : await change(engine, fate, ids, now, options)));
    }
  }
  // One operation: erasing rewrites the file, once.
  if (due.expired.length > 0) {
    throwIfAborted(options.signal);
    fates.expired.push(
      ...(dryRun ? due.expired : await change(engine, 'expired', due.expired, now, options)),
    );
  }
  const joined = options.consolidate ? await consolidate(engine, now, options) : undefined;
  const { compared, similarPairs } = await compare(engine, now, options);
  const judged = await reconcile(engine, now, options);
  return {
    dryRun,
    examined,
    ...fates,
    consolidated: joined?.consolidated ?? [],
    compared,
    similarPairs,
    ...judgementReport(engine, joined ? [joined, judged] : [judged]),
  };
}

const nothingDue = { examined: 0, due: { cooled: [], archived: [], expired: [] } };

async function findDue(
  engine: Engine,
  now: Instant,
  options: MaintainOptions,
): Promise<{ readonly examined: number; readonly due: Readonly<Record<Fate, readonly string[]>> }> {
  const due: Record<Fate, string[]> = { cooled: [], archived: [], expired: [] };
  const { memories: total } = await engine.space.info();
  let examined = 0;
  let cursor: string | undefined;
  do {
    throwIfAborted(options.signal);
    const page = await engine.space.list({ filter: {}, limit: PAGE, cursor });
    for (const memory of page.memories) {
      const fate = fateOf(memory, now);
      if (fate) due[fate].push(memory.id);
    }
    examined += page.memories.length;
    options.progress?.(examined, Math.max(total, examined));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { examined, due };
}

/** What is to happen to a memory now, if anything. Core memories stay as they are. */
function fateOf(memory: MemoryRecord, now: Instant): Fate | undefined {
  if (memory.core) return undefined;
  if (memory.expiresAt !== undefined && memory.expiresAt <= now) return 'expired';
  if (memory.tier === 'hot')
    return isAtFloor(signalsOf(memory, {}), now, DAYS_AT_FLOOR) ? 'cooled' : undefined;
  const longCold = (memory.coldSince ?? now) <= now - DAYS_OF_COLD * MILLISECONDS_PER_DAY;
  return memory.tier === 'cold' && longCold ? 'archived' : undefined;
}

async function change(
  engine: Engine,
  fate: Fate,
  ids: readonly string[],
  now: Instant,
  options: MaintainOptions,
): Promise<readonly string[]> {
  // A recall may have used a memory since it was looked at.
  const stillDue = async (reader: SpaceReader): Promise<readonly MemoryRecord[]> =>
    (await reader.get(ids)).filter(
      (memory) => memory !== undefined && fateOf(memory, now) === fate,
    ) as MemoryRecord[];
  if (fate === 'expired') {
    const { forgotten } = await forgetBy(engine, 'maintain', now, options, async (reader) => {
      const due = await stillDue(reader);
      return planForgetting(
        reader,
        due.map(({ id }) => id),
      );
    });
    return forgotten;
  }
  return engine.space.write({ verb: 'maintain', at: now }, async (reader) => {
    const still = await stillDue(reader);
    return {
      changes: still.map((memory) => changeOf(memory, fate, now)),
      result: still.map(({ id }) => id),
    };
  });
}

function changeOf(memory: MemoryRecord, fate: Exclude<Fate, 'expired'>, now: Instant): Change {
  switch (fate) {
    case 'cooled':
      return { kind: 'replace', memory: { ...memory, tier: 'cold', coldSince: now } };
    case 'archived':
      return { kind: 'replace', memory: stubOf(memory), indexed: NOTHING_INDEXED };
  }
}

/** What is left of an archived memory; the full text stays in its history. */
function stubOf(memory: MemoryRecord): MemoryRecord {
  return { ...memory, tier: 'stub', content: stubContent(memory.content) };
}

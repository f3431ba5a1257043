import { text } from '../../domain/check.ts';
import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import type { Fading } from '../../domain/settings.ts';
import type { Instant } from '../../domain/time.ts';
import { isAtFloor } from '../../scoring/fading.ts';
import { signalsOf } from '../../scoring/signals.ts';
import type { Change, SpaceReader } from '../../store/store.ts';
import { isColdFor, lastUse, stubContent } from '../../store/tiers.ts';
import { type Dependencies, momentOf } from '../dependencies.ts';
import { tellingPart } from '../part-written.ts';
import { trimRecordings } from '../recall/recording.ts';
import { NOTHING_INDEXED } from '../write/derive.ts';
import { forgetBy } from '../write/forget.ts';
import { type Forgetting, planForgetting } from '../write/forgetting.ts';
import { compare } from './compare.ts';
import { consolidate } from './consolidate.ts';
import type { Consolidated, MaintainOptions, MaintenanceReport } from './maintenance-types.ts';
import { judgementReport, mostPairs, reconcile } from './reconcile.ts';

/** Memories that are read in one page, and changed in one write: others can write in between. */
const PAGE = 500;
const CHANGED_AT_ONCE = 2000;

/** The options of a run, with its id. */
type Running = MaintainOptions & { readonly run: string };

/** Returns the id of a run: the one that it continues, else a new one. Throws `invalid_argument`. */
export function runOf(
  engine: Dependencies,
  { run, ...options }: Pick<MaintainOptions, 'run' | 'now'>,
): string {
  return run === undefined
    ? engine.newId(momentOf(engine, options))
    : text(run, 'run', { maxCharacters: 128 });
}

/** Runs `work`. An error gets the id of the run, so that an interrupted run can be continued and undone as a whole. */
export async function namingRun<Result>(
  { run, dryRun }: Pick<Running, 'run' | 'dryRun'>,
  work: () => Promise<Result>,
): Promise<Result> {
  if (dryRun) return work();
  const stays = `part of the run ${JSON.stringify(run)} was written and stays; run it again to do the rest, or undo this run`;
  try {
    return await tellingPart(stays, work);
  } catch (error) {
    if (!SalienceError.isInstance(error)) throw error;
    const { code, message, details, cause } = error;
    throw new SalienceError(code, message, { details: { ...details, run }, cause });
  }
}

type Fate = 'cooled' | 'archived' | 'expired';

/**
 * Runs maintenance. Each page of changes is one operation, decided again on the current memories when it is written. An
 * interrupted run leaves nothing half-done, and the next run continues. All operations carry the id of the run, except
 * the forgetting of expired memories, which cannot be undone.
 */
export async function maintain(
  engine: Dependencies,
  given: MaintainOptions = {},
): Promise<MaintenanceReport> {
  const options = { ...given, run: runOf(engine, given) };
  return namingRun(options, () => runMaintenance(engine, options));
}

async function runMaintenance(engine: Dependencies, options: Running): Promise<MaintenanceReport> {
  const now = momentOf(engine, options);
  const dryRun = options.dryRun === true;
  mostPairs(options);
  const settings = await engine.space.settings();
  const { fading } = settings;
  const fates: Record<Fate, string[]> = { cooled: [], archived: [], expired: [] };
  const consolidation = await consolidate(engine, now, options, fading);
  const { examined, due } =
    options.fade === false
      ? nothingDue
      : await findDue(engine, now, options, fading, consolidation.consolidated);
  // Before the others: forgetting writes memories that refer to a forgotten one, and an undo of the run would leave them
  // as changed since. A single operation, because erasing rewrites the file.
  const settled = new Set<string>();
  if (due.expired.length > 0) {
    throwIfAborted(options.signal);
    const { forgotten, reinstated } = dryRun
      ? await planForgetting(engine.space, due.expired, now)
      : await forgetExpired(engine, due.expired, now, fading, options);
    for (const id of forgotten) fates.expired.push(id);
    for (const id of [...forgotten, ...reinstated.map(({ memory }) => memory.id)]) settled.add(id);
  }
  for (const fate of ['cooled', 'archived'] as const) {
    const left = due[fate].filter((id) => !settled.has(id));
    for (let start = 0; start < left.length; start += CHANGED_AT_ONCE) {
      throwIfAborted(options.signal);
      const ids = left.slice(start, start + CHANGED_AT_ONCE);
      fates[fate].push(...(dryRun ? ids : await change(engine, fate, ids, now, fading, options)));
    }
  }
  const gone = new Set([
    // The new memories are compared by the next run: a dry run does not have them.
    ...consolidation.consolidated.flatMap(({ id, from }) => (id === undefined ? from : [id, ...from])),
    ...Object.values(fates).flat(),
  ]);
  const { compared, similarPairs } = await compare(engine, now, options, gone);
  const judged = await reconcile(engine, now, options, similarPairs);
  if (!dryRun) await trimRecordings(engine, settings);
  return {
    ...(dryRun ? {} : { run: options.run }),
    dryRun,
    fading: fading.mode,
    examined,
    ...fates,
    consolidated: consolidation.consolidated,
    compared,
    similarPairs,
    ...judgementReport(engine, [consolidation, judged]),
  };
}

const nothingDue = { examined: 0, due: { cooled: [], archived: [], expired: [] } };

async function findDue(
  engine: Dependencies,
  now: Instant,
  options: MaintainOptions,
  fading: Fading,
  consolidated: readonly Consolidated[],
): Promise<{ readonly examined: number; readonly due: Readonly<Record<Fate, readonly string[]>> }> {
  const due: Record<Fate, string[]> = { cooled: [], archived: [], expired: [] };
  const { memories: total } = await engine.space.info();
  // A dry run must not report memories as cooled that the real run would have consolidated before.
  const taken = new Set(consolidated.flatMap(({ from }) => from));
  // Nor has it the memories that the real run made.
  const made = new Set(consolidated.map(({ id }) => id));
  let examined = 0;
  let cursor: string | undefined;
  do {
    throwIfAborted(options.signal);
    const page = await engine.space.list({ filter: {}, limit: PAGE, cursor });
    const memories = page.memories.filter(({ id }) => !made.has(id));
    for (const memory of memories) {
      const fate = taken.has(memory.id) ? undefined : fateOf(memory, now, fading);
      if (fate) due[fate].push(memory.id);
    }
    examined += memories.length;
    options.progress?.(examined, Math.max(total, examined));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { examined, due };
}

/** Returns what is due for a memory now, if anything. Nothing is due for core memories. */
export function fateOf(memory: MemoryRecord, now: Instant, fading: Fading): Fate | undefined {
  if (memory.core) return undefined;
  if (memory.expiresAt !== undefined && memory.expiresAt <= now) return 'expired';
  if (fading.mode === 'off') return undefined;
  if (memory.tier === 'hot') {
    const signals = signalsOf({ ...memory, lastAccessedAt: lastUse(memory) });
    return isAtFloor(signals, now, fading.daysAtFloor, fading.curve) ? 'cooled' : undefined;
  }
  return memory.tier === 'cold' && isColdFor(memory, fading.daysCold, now) ? 'archived' : undefined;
}

async function forgetExpired(
  engine: Dependencies,
  ids: readonly string[],
  now: Instant,
  fading: Fading,
  options: Running,
): Promise<Forgetting> {
  return forgetBy(engine, 'maintain', now, options, async (reader) => {
    const due = await stillDue(reader, 'expired', ids, now, fading);
    return planForgetting(
      reader,
      due.map(({ id }) => id),
      now,
    );
  });
}

async function change(
  engine: Dependencies,
  fate: Exclude<Fate, 'expired'>,
  ids: readonly string[],
  now: Instant,
  fading: Fading,
  options: Running,
): Promise<readonly string[]> {
  return engine.space.write({ verb: 'maintain', at: now, run: options.run }, async (reader) => {
    const still = await stillDue(reader, fate, ids, now, fading);
    return {
      changes: still.map((memory) => changeOf(memory, fate, now)),
      result: still.map(({ id }) => id),
    };
  });
}

/** Returns the memories for which this is still due: a recall may have used one since it was read. */
async function stillDue(
  reader: SpaceReader,
  fate: Fate,
  ids: readonly string[],
  now: Instant,
  fading: Fading,
): Promise<readonly MemoryRecord[]> {
  return (await reader.get(ids)).filter(
    (memory) => memory !== undefined && fateOf(memory, now, fading) === fate,
  ) as MemoryRecord[];
}

function changeOf(memory: MemoryRecord, fate: Exclude<Fate, 'expired'>, now: Instant): Change {
  switch (fate) {
    case 'cooled':
      return { kind: 'replace', memory: { ...memory, tier: 'cold', coldSince: now } };
    case 'archived':
      return { kind: 'replace', memory: stubOf(memory), indexed: NOTHING_INDEXED };
  }
}

/** Returns the stub of an archived memory. The full text stays in its history. */
function stubOf(memory: MemoryRecord): MemoryRecord {
  return { ...memory, tier: 'stub', content: stubContent(memory.content) };
}

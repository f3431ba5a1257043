import { listOf, oneOf } from '../../domain/check.ts';
import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import { addTo } from '../../domain/lists.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { endsOf } from '../../domain/relation.ts';
import { startLongSlices } from '../../domain/slices.ts';
import { normalisedContent } from '../../domain/statement.ts';
import type { Instant } from '../../domain/time.ts';
import { CURATION_ACTIONS } from '../../domain/verbs.ts';
import { compareCreated } from '../../store/comparison.ts';
import type { Change, SpaceReader } from '../../store/store.ts';
import { isColdFor, lastUse, revived } from '../../store/tiers.ts';
import { saysAllOf } from '../belief/near-duplicate.ts';
import { checkSupersession, liveAmong, superseding } from '../belief/supersession.ts';
import { type Dependencies, momentOf } from '../dependencies.ts';
import { restating } from '../graph/restate.ts';
import { combinedRelations } from '../write/derived.ts';
import { type Assumed, consolidate } from './consolidate.ts';
import { namingRun, runOf } from './maintain.ts';
import type { Consolidated, JudgementReport, MaintainOptions } from './maintenance-types.ts';
import { judgementReport, mostPairs, reconcile } from './reconcile.ts';

export type CurationAction = (typeof CURATION_ACTIONS)[number];

export interface CurateOptions
  extends Pick<MaintainOptions, 'dryRun' | 'useModel' | 'maxPairs' | 'run' | 'signal' | 'now'> {
  /** The actions, in order. Default is `reconcile`, `deduplicate`, `consolidate`, `prune`. */
  readonly actions?: readonly CurationAction[] | undefined;
}

/** What a curation did, or would do in a dry run. Ids are in the order of their last update. */
export interface CurationReport extends JudgementReport {
  /** What `undo({ run })` takes; absent in a dry run. */
  readonly run?: string | undefined;
  readonly dryRun: boolean;
  /** Long cold and useless: removed. Their text stays in the history. */
  readonly pruned: readonly string[];
  /** Memories that now supersede others which say the same, or less. */
  readonly deduplicated: readonly { readonly kept: string; readonly replaced: readonly string[] }[];
  readonly consolidated: readonly Consolidated[];
}

/** How many days a memory must be cold and unused to be pruned. */
const DAYS_OF_COLD = 90;
/** Below this importance a memory is a casual mention. */
const CASUAL = 0.4;
const NEUTRAL_USEFULNESS = 0.5;

const PAGE = 500;

/** Runs the given actions on a space. All operations carry the id of the run, and one undo reverts them. */
export async function curate(engine: Dependencies, given: CurateOptions = {}): Promise<CurationReport> {
  const options = { ...given, run: runOf(engine, given) };
  return namingRun(options, () => runCuration(engine, options));
}

async function runCuration(
  engine: Dependencies,
  options: CurateOptions & { readonly run: string },
): Promise<CurationReport> {
  const { fading } = await engine.space.settings();
  const now = momentOf(engine, options);
  const asked = options.actions ?? ['reconcile', 'deduplicate', 'consolidate', 'prune'];
  const actions = listOf(asked, 'actions').map((action) => oneOf(action, 'actions', CURATION_ACTIONS));
  mostPairs(options);
  const pruned: string[] = [];
  const deduplicated: { kept: string; replaced: readonly string[] }[] = [];
  const consolidated: Consolidated[] = [];
  const judgements: Parameters<typeof judgementReport>[1][number][] = [];
  const assumed: Assumed = { gone: new Set(), changed: new Map() };
  for (const action of actions) {
    throwIfAborted(options.signal);
    switch (action) {
      case 'prune':
        for (const id of await prune(engine, now, options, assumed)) pruned.push(id);
        break;
      case 'deduplicate':
        for (const each of await deduplicate(engine, now, options, assumed)) deduplicated.push(each);
        break;
      case 'consolidate': {
        const asked = { ...options, consolidate: true };
        const consolidation = await consolidate(engine, now, asked, fading, assumed);
        consolidated.push(...consolidation.consolidated);
        if (options.dryRun) {
          for (const id of consolidation.consolidated.flatMap(({ from }) => from)) assumed.gone.add(id);
        }
        judgements.push(consolidation);
        break;
      }
      case 'reconcile':
        judgements.push(await reconcile(engine, now, options));
    }
  }
  return {
    ...(options.dryRun ? {} : { run: options.run }),
    dryRun: options.dryRun === true,
    pruned,
    deduplicated,
    consolidated,
    ...judgementReport(engine, judgements),
  };
}

/**
 * Removes memories that have been cold and unused for 90 days and are useless: voted down, or judged to be a casual
 * mention and never used. Keeps core memories, summaries, consolidations and their originals, and everything in a
 * supersession chain or at an end of a relation.
 */
async function prune(
  engine: Dependencies,
  now: Instant,
  { dryRun, run }: CurateOptions,
  { gone, changed }: Assumed,
): Promise<readonly string[]> {
  const due = (await everyMemory(engine))
    .filter(({ id }) => !gone.has(id))
    .filter((memory) => isUseless(changed.get(memory.id) ?? memory, now))
    .map(({ id }) => id);
  if (dryRun) {
    const ids = (await prunable(engine.space, due, now)).map(({ id }) => id);
    for (const id of ids) gone.add(id);
    return ids;
  }
  if (due.length === 0) return [];
  return engine.space.write({ verb: 'maintain', at: now, run }, async (reader) => {
    const ids = (await prunable(reader, due, now)).map(({ id }) => id);
    return { changes: ids.map((id): Change => ({ kind: 'remove', id })), result: ids };
  });
}

async function prunable(
  reader: SpaceReader,
  ids: readonly string[],
  now: Instant,
): Promise<readonly MemoryRecord[]> {
  const superseded = new Set((await reader.find('supersedes', ids)).flatMap(({ supersedes }) => supersedes));
  const memories = await reader.get(ids);
  return apartFromEnds(
    reader,
    memories.filter(
      (memory): memory is MemoryRecord =>
        memory !== undefined && isUseless(memory, now) && !superseded.has(memory.id),
    ),
  );
}

/** Drops memories that are an end of a relation which a remaining memory states: it would lose that end. */
async function apartFromEnds(
  reader: SpaceReader,
  memories: readonly MemoryRecord[],
): Promise<readonly MemoryRecord[]> {
  const going = new Set(memories.map(({ id }) => id));
  const stating = (await reader.find('ends', [...going])).filter(({ id }) => !going.has(id));
  const ends = new Set(
    stating.flatMap(({ relations = [] }) => relations.flatMap(({ from, to }) => [from, to])),
  );
  const left = memories.filter(({ id }) => !ends.has(id));
  // The memories that stay now may state relations themselves.
  return left.length === memories.length ? left : apartFromEnds(reader, left);
}

function isUseless(memory: MemoryRecord, now: Instant): boolean {
  const { tier, core, type, consolidatedAt, supersedes, source } = memory;
  if (tier === 'hot' || core || type === 'summary') return false;
  if (consolidatedAt !== undefined || source === 'consolidated' || supersedes.length > 0) return false;
  if (!isColdFor(memory, DAYS_OF_COLD, now)) return false;
  const unused =
    memory.accessCount === 0 && lastUse(memory) === undefined && memory.usefulness <= NEUTRAL_USEFULNESS;
  return memory.usefulness < NEUTRAL_USEFULNESS || (unused && memory.importance < CASUAL);
}

/** Several memories that say the same: the one that is kept, and those that it supersedes. */
interface Duplicates {
  readonly kept: string;
  readonly replaced: readonly string[];
}

/**
 * Hides duplicates: word-for-word copies of one scope, type, topic and validity, as imports may bring them, and
 * near-duplicates that a model has judged to overlap and of which one says all that the other says. The kept memory
 * supersedes the others, which stay but are hidden. It gets the highest importance of them, and is hot or core if one
 * of them is.
 */
async function deduplicate(
  engine: Dependencies,
  now: Instant,
  { dryRun, run }: CurateOptions,
  assumed: Assumed,
): Promise<readonly Duplicates[]> {
  const ids = (await everyMemory(engine)).map(({ id }) => id).filter((id) => !assumed.gone.has(id));
  const groups = await duplicatesAmong(engine, engine.space, ids, now);
  if (dryRun) {
    for (const id of groups.flatMap(({ replaced }) => replaced)) assumed.gone.add(id);
    for (const kept of await survivorsOf(engine.space, groups, now)) assumed.changed.set(kept.id, kept);
    return groups;
  }
  if (groups.length === 0) return groups;
  return engine.space.write({ verb: 'maintain', at: now, run }, async (reader) => {
    const again = await duplicatesAmong(engine, reader, [...new Set(groups.flatMap(idsOf))], now);
    const changed = await survivorsOf(reader, again, now);
    const written = await withMovedEnds(reader, again, changed, now);
    return { changes: written.map((memory): Change => ({ kind: 'replace', memory })), result: again };
  });
}

/** Returns the survivors, and all memories that state relations of hidden duplicates, changed to state them of the survivors. */
async function withMovedEnds(
  reader: SpaceReader,
  groups: readonly Duplicates[],
  survivors: readonly MemoryRecord[],
  now: Instant,
): Promise<readonly MemoryRecord[]> {
  const keptFor = new Map(groups.flatMap(({ kept, replaced }) => replaced.map((id) => [id, kept] as const)));
  const written = new Map(survivors.map((memory) => [memory.id, memory]));
  for (const memory of await reader.find('ends', [...keptFor.keys()])) {
    if (!keptFor.has(memory.id) && !written.has(memory.id)) written.set(memory.id, memory);
  }
  for (const [id, memory] of written) {
    const moved = endsOf(memory.relations).filter((end) => keptFor.has(end));
    const restated = moved.reduce(
      (stating, end) => restating(stating, end, keptFor.get(end) as string, now),
      memory,
    );
    written.set(id, restated);
  }
  return [...written.values()];
}

/** Returns the kept memories as they are after deduplication. */
async function survivorsOf(
  reader: SpaceReader,
  groups: readonly Duplicates[],
  now: Instant,
): Promise<readonly MemoryRecord[]> {
  const involved = await reader.get(groups.flatMap(idsOf));
  const memories = new Map(involved.flatMap((memory) => (memory ? [[memory.id, memory]] : [])));
  return groups.flatMap(({ kept, replaced }) => {
    const survivor = memories.get(kept);
    if (!survivor) return [];
    const copies = replaced.flatMap((id) => memories.get(id) ?? []);
    const all = [survivor, ...copies];
    const standing = copies.reduce(superseding, survivor);
    const isHot = all.some(({ tier }) => tier === 'hot');
    return [
      {
        ...(isHot ? revived(standing, now) : standing),
        core: all.some(({ core }) => core),
        ...combinedRelations(all),
      },
    ];
  });
}

/** Finds groups of duplicates. No memory is in two groups: the next run finds the rest. */
async function duplicatesAmong(
  engine: Dependencies,
  reader: SpaceReader,
  ids: readonly string[],
  now: Instant,
): Promise<readonly Duplicates[]> {
  const live = new Map(await liveAmong(reader, ids, now));
  // Two entities are different things, however similar: `mergeEntities` is for those that are the same.
  for (const { id, type } of [...live.values()]) if (type === 'entity') live.delete(id);
  const groups: Duplicates[] = [...(await exactCopies([...live.values()]))].flatMap((group) =>
    notYetReplaced(group, live),
  );
  const taken = new Set(groups.flatMap(idsOf));
  for (const { older, newer, resolution } of await reader.knownPairs([...live.keys()])) {
    const [a, b] = [live.get(older), live.get(newer)];
    if (resolution !== 'OVERLAP' || !a || !b || taken.has(older) || taken.has(newer)) continue;
    if (!isComparable(a, b)) continue;
    const kept = [a, b].sort(compareStanding).find((one) => saysAllOf(one, one === a ? b : a));
    if (!kept) continue;
    const group = { kept: kept.id, replaced: [kept === a ? newer : older] };
    groups.push(...notYetReplaced(group, live));
    taken.add(older).add(newer);
  }
  return withoutCircles(engine, reader, groups, now);
}

/**
 * Returns a group without the memories that the kept one supersedes already. They are still live if it is not yet
 * valid. Returns nothing if none is left.
 */
function notYetReplaced(
  { kept, replaced }: Duplicates,
  memories: ReadonlyMap<string, MemoryRecord>,
): readonly Duplicates[] {
  const known = memories.get(kept)?.supersedes ?? [];
  const left = replaced.filter((id) => !known.includes(id));
  return left.length === 0 ? [] : [{ kept, replaced: left }];
}

/**
 * Drops groups whose kept memory would supersede itself. A memory that supersedes it and is not yet valid may be, or
 * may be above, one of its copies.
 */
async function withoutCircles(
  engine: Dependencies,
  reader: SpaceReader,
  groups: readonly Duplicates[],
  now: Instant,
): Promise<readonly Duplicates[]> {
  const survivors = await survivorsOf(reader, groups, now);
  let circular: string | undefined;
  const failure = (error: unknown, at: number) => {
    if (SalienceError.isInstance(error) && error.code === 'invalid_argument') circular = survivors[at]?.id;
    return error;
  };
  try {
    await checkSupersession(reader, survivors, engine.space.name, { failure });
    return groups;
  } catch (error) {
    if (circular === undefined) throw error;
    const left = groups.filter(({ kept }) => kept !== circular);
    return withoutCircles(engine, reader, left, now);
  }
}

async function exactCopies(memories: readonly MemoryRecord[]): Promise<readonly Duplicates[]> {
  const byText = new Map<string, MemoryRecord[]>();
  const slices = startLongSlices();
  for (const memory of memories) {
    await slices();
    const { scope, type, content, topicKey, validFrom, validUntil, expiresAt } = memory;
    const key = JSON.stringify([
      scope,
      type,
      normalisedContent(content),
      topicKey,
      validFrom,
      validUntil,
      expiresAt,
    ]);
    addTo(byText, key, memory);
  }
  return [...byText.values()]
    .filter((copies) => copies.length > 1)
    .map((copies) => {
      const [kept, ...others] = copies.sort(
        (a, b) =>
          compareStanding(a, b) ||
          b.accessCount - a.accessCount ||
          b.confidence - a.confidence ||
          compareCreated(a, b),
      ) as [MemoryRecord, ...MemoryRecord[]];
      return { kept: kept.id, replaced: others.map(({ id }) => id) };
    });
}

/** Orders core memories first, then hot ones: a fading memory must not hide one that does not fade. */
function compareStanding(a: MemoryRecord, b: MemoryRecord): number {
  return Number(b.core) - Number(a.core) || Number(b.tier === 'hot') - Number(a.tier === 'hot');
}

function isComparable(a: MemoryRecord, b: MemoryRecord): boolean {
  const fields = ['scope', 'type', 'topicKey', 'validFrom', 'validUntil', 'expiresAt'] as const;
  return fields.every((field) => a[field] === b[field]);
}

function idsOf({ kept, replaced }: Duplicates): readonly string[] {
  return [kept, ...replaced];
}

async function everyMemory(engine: Dependencies): Promise<readonly MemoryRecord[]> {
  const memories: MemoryRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.space.list({ filter: {}, limit: PAGE, cursor });
    memories.push(...page.memories);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return memories;
}

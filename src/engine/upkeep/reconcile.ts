import { wholeNumber } from '../../domain/check.ts';
import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import type { Instant } from '../../domain/time.ts';
import { judgePairs } from '../../language/verdicts.ts';
import { addUsage, type ModelUsage, NO_USAGE } from '../../providers/language-model.ts';
import type { Change, NewPair, SimilarPair, SpaceReader } from '../../store/store.ts';
import { revived } from '../../store/tiers.ts';
import { checkSupersession, liveAmong, superseding } from '../belief/supersession.ts';
import type { Dependencies } from '../dependencies.ts';
import type { JudgedSimilarity, JudgementReport, MaintainOptions } from './maintenance-types.ts';

/** The failures and the usage of asking a model. */
export interface Asked {
  readonly failures: readonly string[];
  readonly usage: ModelUsage;
}

/** Pairs of the queue that are read at once, to find those that can be judged. */
const PAGE = 1000;

/**
 * After this many answers without a usable verdict, a pair is left to people. `conflicts` still lists it. A verdict by
 * which a memory would supersede itself through others is not usable either.
 */
const MOST_ATTEMPTS = 3;

/** Pairs that are judged before their verdicts are written. An interrupted run pays for at most these again. */
const JUDGED_AT_ONCE = 40;

/** A pair whose memories are both live. For other pairs a verdict would change nothing. */
interface OpenPair<Pair extends NewPair = SimilarPair> {
  readonly pair: Pair;
  readonly older: MemoryRecord;
  readonly newer: MemoryRecord;
}

interface Verdicts extends Asked {
  readonly judged: readonly JudgedSimilarity[];
  readonly toJudge?: JudgementReport['toJudge'];
}

/**
 * Has the language model judge the waiting pairs. After CONTRADICTION and UPDATE the newer memory supersedes the older
 * one, inherits its importance and is hot; OVERLAP and NONE only settle the pair. A pair without a verdict keeps
 * waiting. Nothing is asked without a model or with `useModel: false`. A dry run returns the pairs that would be
 * judged, including `found`, those that the dry run itself would queue.
 */
export async function reconcile(
  engine: Dependencies,
  now: Instant,
  options: MaintainOptions,
  found: readonly NewPair[] = [],
): Promise<Verdicts> {
  const { languageModel: model, newNonce } = engine;
  const most = mostPairs(options);
  const judged: JudgedSimilarity[] = [];
  const failures: string[] = [];
  let usage = NO_USAGE;
  if (!model || options.useModel === false) return { judged, failures, usage };
  if (options.dryRun) {
    const waiting = await firstWaiting(engine.space, 0, most, now);
    const open = [...waiting, ...(await openAmong(engine.space, found, now))].slice(0, most);
    const toJudge = open.map(({ older, newer }) => ({ older: older.id, newer: newer.id }));
    return { judged, failures, usage, toJudge };
  }
  let after = 0;
  for (let asked = 0; asked < most; ) {
    throwIfAborted(options.signal);
    // Earlier verdicts may have made a question unnecessary.
    const some = await firstWaiting(engine.space, after, Math.min(JUDGED_AT_ONCE, most - asked), now);
    const last = some.at(-1)?.pair.sequence;
    if (last === undefined) break;
    asked += some.length;
    after = last;
    const statements = some.map(({ older, newer }) => ({ older: dated(older), newer: dated(newer) }));
    const answer = await judgePairs(model, statements, { newNonce, signal: options.signal });
    usage = addUsage(usage, answer.usage);
    failures.push(...answer.failures.map(({ error }) => error.message));
    const unanswered = answer.inVain.flatMap((at) => some[at]?.pair.sequence ?? []);
    const verdicts = some.flatMap(({ pair }, at) => {
      const verdict = answer.verdicts[at];
      return verdict ? [{ pair, ...verdict }] : [];
    });
    judged.push(...(await settle(engine, verdicts, unanswered, now, options.run)));
  }
  return { judged, failures, usage };
}

function mayBeAsked({ attempts }: SimilarPair): boolean {
  return attempts < MOST_ATTEMPTS;
}

/** Reads and checks `maxPairs`. Throws `invalid_argument`. */
export function mostPairs({ maxPairs = 50 }: Pick<MaintainOptions, 'maxPairs'>): number {
  return wholeNumber(maxPairs, 'maxPairs', 1, 1000);
}

/** Combines everything that the model was asked in a run into a report. */
export function judgementReport(engine: Dependencies, asked: readonly Partial<Verdicts>[]): JudgementReport {
  const usage = asked.reduce((sum, each) => addUsage(sum, each.usage ?? NO_USAGE), NO_USAGE);
  return {
    ...(engine.languageModel && usage.calls > 0 ? { judgedBy: engine.languageModel.name } : {}),
    judged: asked.flatMap(({ judged = [] }) => judged),
    ...(asked.some(({ toJudge }) => toJudge)
      ? { toJudge: asked.flatMap(({ toJudge = [] }) => toJudge) }
      : {}),
    failures: asked.flatMap(({ failures = [] }) => failures),
    usage,
  };
}

/**
 * Returns the first pairs of the queue that can be judged, among those after a sequence. Looks past any number of
 * others: pairs that are left to people, or of memories that are no longer live, stay in the queue.
 */
async function firstWaiting(
  reader: SpaceReader,
  after: number,
  most: number,
  now: Instant,
): Promise<readonly OpenPair[]> {
  const open: OpenPair[] = [];
  let from: number | undefined = after;
  while (from !== undefined && open.length < most) {
    const page: readonly SimilarPair[] = await reader.pendingPairs(PAGE, from);
    open.push(...(await openAmong(reader, page.filter(mayBeAsked), now)));
    from = page.at(-1)?.sequence;
  }
  return open.slice(0, most);
}

async function openAmong<Pair extends NewPair>(
  reader: SpaceReader,
  pairs: readonly Pair[],
  now: Instant,
): Promise<readonly OpenPair<Pair>[]> {
  const live = await liveAmong(reader, endsOf(pairs), now);
  return pairs.flatMap((pair): OpenPair<Pair>[] => {
    const [older, newer] = [live.get(pair.older), live.get(pair.newer)];
    // Only people decide whether two entities are the same: a description does not tell.
    if (older?.type === 'entity' && newer?.type === 'entity') return [];
    return older && newer ? [{ pair, older, newer }] : [];
  });
}

function endsOf(pairs: readonly NewPair[]): readonly string[] {
  return pairs.flatMap(({ older, newer }) => [older, newer]);
}

function dated({ content, updatedAt }: MemoryRecord): { readonly content: string; readonly at: Instant } {
  return { content, at: updatedAt };
}

/** Writes verdicts, decided on the current memories. A pair whose texts have changed is no longer in the queue. */
async function settle(
  engine: Dependencies,
  verdicts: readonly (Pick<JudgedSimilarity, 'verdict' | 'reason'> & { readonly pair: SimilarPair })[],
  unanswered: readonly number[],
  now: Instant,
  run: string | undefined,
): Promise<readonly JudgedSimilarity[]> {
  if (verdicts.length + unanswered.length === 0) return [];
  return engine.space.write({ verb: 'maintain', at: now, run }, async (reader) => {
    const pairs = verdicts.map(({ pair }) => pair);
    const memories = new Map(await liveAmong(reader, endsOf(pairs), now));
    const changed = new Map<string, MemoryRecord>();
    const inVain = [...unanswered];
    const settled: Change[] = [];
    const judged: JudgedSimilarity[] = [];
    for (const { pair, verdict, reason } of verdicts) {
      const [older, newer] = [memories.get(pair.older), memories.get(pair.newer)];
      const present = await reader.pair(pair.sequence);
      if (!older || !newer || !present || present.resolution !== undefined) continue;
      const supersedes = verdict === 'CONTRADICTION' || verdict === 'UPDATE';
      // The newer memory is written even if nothing changes, so that the decision is in its history and can be undone.
      const kept = supersedes ? revived(superseding(newer, older), now) : newer;
      if (supersedes && (await closesCircle(engine, reader, [...changed.values(), kept]))) {
        // Without being counted, the same question would be asked in each run.
        inVain.push(pair.sequence);
        continue;
      }
      changed.set(kept.id, kept);
      memories.set(kept.id, kept);
      settled.push({ kind: 'settle-pair', sequence: pair.sequence, resolution: verdict });
      judged.push({ older: older.id, newer: newer.id, verdict, reason });
    }
    const replaced = [...changed.values()].map((memory): Change => ({ kind: 'replace', memory }));
    const attempts: readonly Change[] =
      inVain.length === 0 ? [] : [{ kind: 'attempt-pairs', sequences: inVain }];
    return { changes: [...replaced, ...settled, ...attempts], result: judged };
  });
}

async function closesCircle(
  engine: Dependencies,
  reader: SpaceReader,
  memories: readonly MemoryRecord[],
): Promise<boolean> {
  try {
    await checkSupersession(reader, memories, engine.space.name);
    return false;
  } catch (error) {
    if (SalienceError.isInstance(error) && error.code === 'invalid_argument') return true;
    throw error;
  }
}

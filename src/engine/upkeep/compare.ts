import { throwIfAborted } from '../../domain/errors.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import type { Instant } from '../../domain/time.ts';
import { isReplacedBy } from '../../store/belief-state.ts';
import { compareCreated, textChanged } from '../../store/comparison.ts';
import { exclusionOf } from '../../store/eligibility.ts';
import type {
  IndexedText,
  NewPair,
  PairKind,
  ScoredMemory,
  SimilarPair,
  SpaceReader,
} from '../../store/store.ts';
import { createUpdateFinder } from '../belief/possible-updates.ts';
import { similarityProfile } from '../belief/similarity-profile.ts';
import { supersededAmong } from '../belief/supersession.ts';
import type { Dependencies } from '../dependencies.ts';
import { knownTexts } from '../write/derive.ts';
import type { MaintainOptions, MaintenanceReport } from './maintenance-types.ts';

/**
 * Comparing a memory scans all others, so a run compares at most `MOST_COMPARED` memories, and fewer in a large space:
 * at most `MOST_LOOKED_AT` scanned in all. The next run continues.
 */
const MOST_COMPARED = 500;
const MOST_LOOKED_AT = 5_000_000;

/** How many nearest memories are compared, the memory itself included. */
const NEAREST = 4;

/** A pair, with both memories as they were when compared. */
interface FoundPair extends NewPair {
  /** The older memory, then the newer one. */
  readonly of: readonly [MemoryRecord, MemoryRecord];
}

/**
 * Finds memories that say nearly the same as another one of their scope and type (with an embedder), or that may update
 * another one of their scope, and queues these pairs to be judged. The same operation marks the memories as compared,
 * so an interrupted run neither loses a pair nor finds it twice. Memories in `gone` were hidden by this run, or would
 * be in a dry run, and are skipped.
 */
export async function compare(
  engine: Dependencies,
  now: Instant,
  options: MaintainOptions,
  gone: ReadonlySet<string>,
): Promise<Pick<MaintenanceReport, 'compared' | 'similarPairs'>> {
  const { space } = engine;
  const { memories: total } = await space.info();
  const uncompared = await space.uncompared(
    Math.min(MOST_COMPARED, Math.ceil(MOST_LOOKED_AT / Math.max(1, total))),
  );
  const memories = uncompared.filter(({ id }) => !gone.has(id));
  if (memories.length === 0) return { compared: 0, similarPairs: [] };
  const found = await findPairs(engine, memories, now, options, gone);
  if (options.dryRun) {
    const isNews = await newsIn(space, memories);
    return { compared: memories.length, similarPairs: reported(found.filter(isNews)) };
  }
  return space.write({ verb: 'maintain', at: now, run: options.run }, async (reader) => {
    // A memory whose text has changed meanwhile is compared again later, and its pairs are found then.
    const asCompared = async (compared: readonly MemoryRecord[]) => {
      const current = await reader.get(compared.map(({ id }) => id));
      return current.map(
        (memory, at) => memory !== undefined && !textChanged(memory, compared[at] as MemoryRecord),
      );
    };
    const unchanged = await asCompared(memories);
    const ids = memories.filter((_, at) => unchanged[at]).map(({ id }) => id);
    const bothUnchanged = await asCompared(found.flatMap(({ of }) => of));
    const isNews = await newsIn(reader, memories);
    const queued = found.filter(
      (pair, at) => bothUnchanged[2 * at] && bothUnchanged[2 * at + 1] && isNews(pair),
    );
    return {
      changes: [
        ...reported(queued).map((pair) => ({ kind: 'queue-pair', pair }) as const),
        { kind: 'compared', ids },
      ],
      result: { compared: ids.length, similarPairs: reported(queued) },
    };
  });
}

/** Returns a test for pairs that the queue does not know yet. */
async function newsIn(
  reader: SpaceReader,
  memories: readonly MemoryRecord[],
): Promise<(pair: NewPair) => boolean> {
  const pairs = await reader.knownPairs(memories.map(({ id }) => id));
  const known = new Map<string, SimilarPair>(pairs.map((pair) => [keyOf(pair), pair]));
  return (pair) => {
    const same = known.get(keyOf(pair));
    return same === undefined || isReplacedBy(same, pair);
  };
}

/** Finds the pairs of these memories. Two memories form one pair: a possible update is not also reported as similar. */
async function findPairs(
  engine: Dependencies,
  memories: readonly MemoryRecord[],
  now: Instant,
  options: MaintainOptions,
  gone: ReadonlySet<string>,
): Promise<readonly FoundPair[]> {
  const ids = memories.map(({ id }) => id);
  const superseded = await supersededAmong(engine.space, ids, {}, now);
  const comparable = memories.filter((memory) => !isOver(memory, superseded.has(memory.id), now));
  const derived = await knownTexts(engine, comparable, options);
  const findUpdates = createUpdateFinder(engine, now, gone);
  const pairs = new Map<string, FoundPair>();
  const add = (kind: PairKind, of: FoundPair['of'], similarity: number) => {
    const pair: FoundPair = { older: of[0].id, newer: of[1].id, kind, similarity, of };
    const known = pairs.get(keyOf(pair));
    if (!known || isReplacedBy({ ...known, resolution: undefined }, pair)) pairs.set(keyOf(pair), pair);
  };
  for (const [index, memory] of comparable.entries()) {
    throwIfAborted(options.signal);
    const { terms, vector } = derived[index] as IndexedText;
    for (const { other, similarity } of await similarTo(engine, memory, vector, now, gone)) {
      add('similar', isOlder(memory, other) ? [memory, other] : [other, memory], similarity);
    }
    for (const { of, similarity } of await findUpdates(memory, terms)) add('update', of, similarity);
  }
  return [...pairs.values()];
}

async function similarTo(
  { embedder, space }: Dependencies,
  memory: MemoryRecord,
  vector: Float32Array | undefined,
  now: Instant,
  gone: ReadonlySet<string>,
): Promise<readonly { readonly other: MemoryRecord; readonly similarity: number }[]> {
  if (!embedder || !vector) return [];
  const nearest = async (limit: number): Promise<readonly ScoredMemory[]> => {
    const { hits } = await space.snapshot((snapshot) =>
      snapshot.search({
        profile: similarityProfile('atLeast', embedder.thresholds.similarPair),
        query: { terms: [], vector, model: embedder.model },
        filter: { scopes: [memory.scope], types: [memory.type] },
        now,
        limit,
      }),
    );
    const staying = hits.filter((hit) => !gone.has(hit.memory.id));
    // In a dry run, memories that would be hidden by now must not take the places of others.
    return staying.length < NEAREST && hits.length === limit ? nearest(4 * limit) : staying.slice(0, NEAREST);
  };
  return (await nearest(NEAREST))
    .map((hit) => ({ other: hit.memory, similarity: hit.signals.similarity ?? 0 }))
    .filter(({ other }) => other.id !== memory.id);
}

/** Whether no recall of the present will return it again. A memory that is not yet valid will be. */
function isOver(memory: MemoryRecord, superseded: boolean, now: Instant): boolean {
  const excluded = exclusionOf({ ...memory, superseded }, {}, now);
  return excluded !== undefined && excluded !== 'not-yet-valid';
}

/** Whether `a` is older than `b`, by their last update, because an update may be a new statement. */
function isOlder(a: MemoryRecord, b: MemoryRecord): boolean {
  return (a.updatedAt - b.updatedAt || compareCreated(a, b)) < 0;
}

function keyOf({ older, newer }: Pick<NewPair, 'older' | 'newer'>): string {
  return JSON.stringify([older, newer].sort());
}

function reported(pairs: readonly FoundPair[]): readonly NewPair[] {
  return pairs.map(({ of, ...pair }) => pair);
}

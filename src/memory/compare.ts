import { throwIfAborted } from '../model/errors.ts';
import type { MemoryRecord } from '../model/memory.ts';
import type { Instant } from '../model/time.ts';
import type { Embedder } from '../providers/embedder.ts';
import { bindProfile } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { saysElse } from '../store/comparison.ts';
import { exclusionOf } from '../store/eligibility.ts';
import type { NewPair } from '../store/store.ts';
import { deriveTexts } from './derive.ts';
import type { Engine } from './engine.ts';
import type { MaintainOptions, MaintenanceReport } from './maintenance-types.ts';

/**
 * Comparing one memory means looking at all others: a run does so for at most this many memories, and for fewer in a
 * large space. The next run goes on after them.
 */
const MOST_COMPARED = 500;
const MOST_LOOKED_AT = 5_000_000;

/** The nearest that are looked at, the memory itself included. */
const NEAREST = 4;

/** Two memories as they were when they were compared. */
interface FoundPair extends NewPair {
  /** The older, the newer. */
  readonly of: readonly [MemoryRecord, MemoryRecord];
}

/**
 * Looks for memories that say nearly what another one of their scope and type says, and puts the pairs into the
 * queue of what is to be judged. What was compared is noted in the same operation, so that no pair is lost or found
 * twice however often a run is interrupted. Without an embedder nothing is compared.
 */
export async function compare(
  engine: Engine,
  now: Instant,
  options: MaintainOptions,
): Promise<Pick<MaintenanceReport, 'compared' | 'similarPairs'>> {
  const { embedder, space } = engine;
  if (!embedder) return { compared: 0, similarPairs: [] };
  const { memories: total } = await space.info();
  const memories = await space.uncompared(
    Math.min(MOST_COMPARED, Math.ceil(MOST_LOOKED_AT / Math.max(1, total))),
  );
  if (memories.length === 0) return { compared: 0, similarPairs: [] };
  const found = await findPairs(engine, embedder, memories, now, options);
  if (options.dryRun) {
    const known = new Set((await space.knownPairs(memories.map(({ id }) => id))).map(keyOf));
    return {
      compared: memories.length,
      similarPairs: reported(found.filter((pair) => !known.has(keyOf(pair)))),
    };
  }
  return space.write({ verb: 'maintain', at: now }, async (reader) => {
    // What says something else by now will be compared again, and meet the other half of its pairs then.
    const asCompared = async (compared: readonly MemoryRecord[]) => {
      const current = await reader.get(compared.map(({ id }) => id));
      return current.map(
        (memory, at) => memory !== undefined && !saysElse(memory, compared[at] as MemoryRecord),
      );
    };
    const standing = await asCompared(memories);
    const ids = memories.filter((_, at) => standing[at]).map(({ id }) => id);
    const bothStand = await asCompared(found.flatMap(({ of }) => of));
    const known = new Set((await reader.knownPairs(ids)).map(keyOf));
    const queued = found.filter(
      (pair, at) => bothStand[2 * at] && bothStand[2 * at + 1] && !known.has(keyOf(pair)),
    );
    return {
      changes: [
        ...queued.map(
          ({ older, newer, similarity }) =>
            ({ kind: 'queue-pair', pair: { older, newer, similarity } }) as const,
        ),
        { kind: 'compared', ids },
      ],
      result: { compared: ids.length, similarPairs: reported(queued) },
    };
  });
}

async function findPairs(
  engine: Engine,
  embedder: Embedder,
  memories: readonly MemoryRecord[],
  now: Instant,
  options: MaintainOptions,
): Promise<readonly FoundPair[]> {
  const comparable = memories.filter((memory) => !isOver(memory, now));
  const derived = await deriveTexts(comparable, engine, { signal: options.signal });
  const profile = bindProfile(builtinProfile('vector'));
  const pairs = new Map<string, FoundPair>();
  for (const [index, memory] of comparable.entries()) {
    throwIfAborted(options.signal);
    const vector = derived[index]?.vector;
    if (!vector) continue;
    const { hits } = await engine.space.search({
      profile,
      query: { terms: [], vector },
      filter: { scopes: [memory.scope], types: [memory.type] },
      now,
      limit: NEAREST,
    });
    for (const { memory: other, signals } of hits) {
      const similarity = signals.similarity ?? 0;
      if (other.id === memory.id || similarity < embedder.thresholds.similarPair) continue;
      const of = isOlder(memory, other) ? ([memory, other] as const) : ([other, memory] as const);
      const pair: FoundPair = { older: of[0].id, newer: of[1].id, similarity, of };
      if (!pairs.has(keyOf(pair))) pairs.set(keyOf(pair), pair);
    }
  }
  return [...pairs.values()];
}

/** No recall will return it again unless it looks for the past; what is only to come will be. */
function isOver(memory: MemoryRecord, now: Instant): boolean {
  const excluded = exclusionOf(memory, {}, now);
  return excluded !== undefined && excluded !== 'not-yet-valid';
}

/** Which of two statements was made first: by their last update, for an update may be a new statement. */
function isOlder(a: MemoryRecord, b: MemoryRecord): boolean {
  return (a.updatedAt - b.updatedAt || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)) < 0;
}

function keyOf({ older, newer }: Pick<NewPair, 'older' | 'newer'>): string {
  return JSON.stringify([older, newer].sort());
}

function reported(pairs: readonly FoundPair[]): MaintenanceReport['similarPairs'] {
  return pairs.map(({ older, newer, similarity }) => ({ older, newer, similarity }));
}

import { invalidArgument, oneOf } from '../../domain/check.ts';
import { clip } from '../../domain/clip.ts';
import { describe } from '../../domain/describe.ts';
import { SalienceError } from '../../domain/errors.ts';
import { metadataWithin, type TextLimits } from '../../domain/field-checks.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { visibleScopes } from '../../domain/scope.ts';
import { alike } from '../../domain/statement.ts';
import { formatInstant, type Instant } from '../../domain/time.ts';
import { RESOLUTIONS } from '../../domain/verbs.ts';
import type { Change, IndexedText, NewPair, SimilarPair, SpaceReader } from '../../store/store.ts';
import { madeHot, revived } from '../../store/tiers.ts';
import { readAfterWrite } from '../after-write.ts';
import { type Dependencies, limitOf, momentOf, notFound } from '../dependencies.ts';
import { mergedInto } from '../graph/merge.ts';
import { movedStatements, restated } from '../graph/restate.ts';
import { optimistically } from '../optimistically.ts';
import { shown, shownAll } from '../recall/shown.ts';
import type {
  Conflict,
  Memory,
  OperationOptions,
  PendingConflict,
  RememberResult,
  Resolution,
} from '../types.ts';
import { deriveTexts, sameText } from '../write/derive.ts';
import { forgetBy } from '../write/forget.ts';
import { planForgetting } from '../write/forgetting.ts';
import { changedRecord, revised } from '../write/record.ts';
import { derivationOf } from '../write/write.ts';
import { similarityProfile } from './similarity-profile.ts';
import { chainsAbove, checkSupersession, rejoined, superseding } from './supersession.ts';

/** Most conflicts that are reported for one statement. */
const MOST = 5;

/** The possible conflicts of a statement, found before it is written. */
export interface Noticed {
  readonly conflicts: readonly { readonly memory: MemoryRecord; readonly similarity: number }[];
  /** Why the statement could not be compared; `undefined` if it was. */
  readonly unchecked?: string | undefined;
}

/**
 * Finds the eligible memories that are so similar to a statement that it may contradict them, nearest first. A failed
 * search is reported in `unchecked`. Throws only if the signal was aborted.
 */
export async function findConflicts(
  engine: Dependencies,
  memory: MemoryRecord | undefined,
  vector: Float32Array | undefined,
  now: Instant,
  options: OperationOptions,
): Promise<Noticed> {
  if (!memory || memory.invalidatedAt !== undefined) return { conflicts: [] };
  const { embedder } = engine;
  if (!embedder) return { conflicts: [], unchecked: 'no embedder is configured to compare meanings with' };
  if (!vector) return { conflicts: [], unchecked: 'the embedder knows no word of the statement' };
  const threshold = engine.conflictThreshold ?? embedder.thresholds.conflict;
  try {
    const { hits } = await engine.space.snapshot((snapshot) =>
      snapshot.search({
        profile: similarityProfile('above', threshold),
        query: { terms: [], vector, model: embedder.model },
        filter: { scopes: visibleScopes(memory.scope) },
        now,
        limit: MOST + memory.supersedes.length + 1,
      }),
    );
    const conflicts = hits
      .map((hit) => ({ memory: hit.memory, similarity: hit.signals.similarity ?? 0 }))
      .filter((each) => each.memory.id !== memory.id && !memory.supersedes.includes(each.memory.id));
    return { conflicts: conflicts.slice(0, MOST) };
  } catch (error) {
    if (options.signal?.aborted) throw error;
    return { conflicts: [], unchecked: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  return SalienceError.isInstance(error) ? `${error.code}: ${error.message}` : 'the search failed';
}

/** Returns the changes that queue the conflicts that still exist, to be judged. */
export async function noticedIn(
  reader: SpaceReader,
  { conflicts }: Noticed,
  memory: MemoryRecord | undefined,
): Promise<readonly Change[]> {
  if (!memory || conflicts.length === 0) return [];
  const present = await reader.get(conflicts.map((each) => each.memory.id));
  return conflicts
    .filter((_, at) => present[at] !== undefined)
    .map(({ memory: older, similarity }) => ({
      kind: 'queue-pair',
      pair: { older: older.id, newer: memory.id, kind: 'similar', similarity },
    }));
}

/** Returns the conflicts as the caller sees them. Never throws: the statement is written already. */
export async function reportOf(
  engine: Dependencies,
  { conflicts, unchecked }: Noticed,
  memory: MemoryRecord | undefined,
): Promise<Pick<RememberResult, 'conflicts' | 'unchecked' | 'warning'>> {
  if (unchecked !== undefined) return { unchecked };
  if (!memory || conflicts.length === 0) return {};
  let pairs: readonly SimilarPair[];
  try {
    pairs = await readAfterWrite(() => engine.space.knownPairs([memory.id]));
  } catch (error) {
    return { unchecked: reasonOf(error) };
  }
  const found = conflicts.flatMap(({ memory: older, similarity }): Conflict[] => {
    const pair = pairs.find((each) => each.resolution === undefined && concerns(each, older.id));
    if (!pair) return [];
    return [{ conflictId: String(pair.sequence), id: older.id, similarity, content: older.content }];
  });
  return found.length === 0 ? {} : { conflicts: found, warning: warningOf(found, engine.embedder?.model) };
}

export interface ConflictsOptions extends OperationOptions {
  /** Most conflicts, 1–1,000. Default is 20. */
  readonly limit?: number | undefined;
  /** Only conflicts after this one: pass the last `conflictId` of the previous page. Default is all. */
  readonly after?: string | undefined;
}

/** Returns the open conflicts, oldest first. */
export async function conflictsOf(
  engine: Dependencies,
  options: ConflictsOptions = {},
): Promise<readonly PendingConflict[]> {
  const { limit, after } = options;
  const from = after === undefined ? 0 : sequenceOf(after, 'after');
  const pairs = await engine.space.pendingPairs(limitOf(limit, 20, 1000), from);
  const records = await engine.space.get(pairs.flatMap(({ older, newer }) => [older, newer]));
  const present = records.filter((record) => record !== undefined);
  const memories = await shownAll(engine, present, momentOf(engine, options));
  const byId = new Map(memories.map((memory) => [memory.id, memory]));
  return pairs.flatMap((pair): PendingConflict[] => {
    const [older, newer] = [byId.get(pair.older), byId.get(pair.newer)];
    if (!older || !newer) return [];
    return [
      {
        conflictId: String(pair.sequence),
        older,
        newer,
        kind: pair.kind,
        similarity: pair.similarity,
        at: formatInstant(pair.at),
      },
    ];
  });
}

/**
 * Resolves a conflict as a person, or an agent on their behalf, decided. Throws `not_found` for a conflict that is not
 * open, and `invalid_argument`. All resolutions but `delete` can be undone.
 */
export async function resolve(
  engine: Dependencies,
  conflictId: string,
  resolution: Resolution,
  options: OperationOptions = {},
): Promise<{ readonly resolution: Resolution; readonly memory: Memory }> {
  oneOf(resolution, 'resolution', RESOLUTIONS);
  const now = momentOf(engine, options);
  if (resolution === 'delete') {
    return { resolution, memory: await deleteOlder(engine, conflictId, now, options) };
  }
  const { result } = await optimistically(
    engine.space,
    { verb: 'resolve', at: now },
    {
      async prepare(reader) {
        const both = await bothOf(engine, reader, await openPair(reader, conflictId));
        const moving = movingText(both);
        // Only `update` moves a text into another memory, which must then be indexed anew. Never done while the store
        // is locked.
        const indexed = resolution === 'update' ? await deriveTexts([moving], engine, options) : [];
        return { newer: both[1], moving, indexed };
      },
      async decide(reader, { newer, moving, indexed }) {
        const pair = await openPair(reader, conflictId);
        const both = await bothOf(engine, reader, pair);
        if (both[1].revisionCount !== newer.revisionCount) return undefined;
        if (resolution === 'update' && !sameText(movingText(both), moving)) return undefined;
        const decided = await decide(engine, reader, resolution, both, indexed[0], now);
        const settled: Change = { kind: 'settle-pair', sequence: pair.sequence, resolution };
        return {
          changes: [settled, ...decided.changes],
          result: decided.kept,
          ...derivationOf(engine, indexed),
        };
      },
    },
    options.signal,
  );
  return { resolution, memory: await readAfterWrite(() => shown(engine, result, now)) };
}

async function decide(
  engine: Dependencies,
  reader: SpaceReader,
  resolution: Exclude<Resolution, 'delete'>,
  [older, newer]: readonly [MemoryRecord, MemoryRecord],
  indexed: IndexedText | undefined,
  now: Instant,
): Promise<{ readonly changes: readonly Change[]; readonly kept: MemoryRecord }> {
  switch (resolution) {
    case 'keep-both':
      // The newer memory is written even if nothing changes, so that the decision is in its history and can be undone.
      return {
        changes: [older, newer]
          .filter((memory) => memory === newer || revived(memory, now) !== memory)
          .map((memory): Change => ({ kind: 'replace', memory: revived(memory, now) })),
        kept: revived(newer, now),
      };
    case 'supersede': {
      if (areEntities(older, newer)) return oneEntity(reader, older, newer, now);
      const kept = revived(superseding(newer, older), now);
      await checkSupersession(reader, [kept], engine.space.name, {
        failure: (error) => (isInvalid(error) ? reversed(older, newer) : error),
      });
      return { changes: [{ kind: 'replace', memory: kept }], kept };
    }
    case 'update': {
      await checkStillBelieved(reader, older, newer);
      if (areEntities(older, newer)) {
        const told = changedRecord(older, { content: newer.content }, { now });
        return oneEntity(reader, newer, told, now, indexed);
      }
      const kept = revived(updatedBy(older, newer, now, engine.limits), now);
      const both = [older.id, newer.id];
      const successors = (await rejoined(reader, [newer])).filter(({ id }) => id !== older.id);
      // Relations with the removed memory are moved: they would lose an end.
      const stating = await movedStatements(reader, both, newer.id, older.id, now);
      const others = new Map(stating.map((memory) => [memory.id, memory]));
      for (const { id, supersedes, ...rest } of successors)
        others.set(id, { ...(others.get(id) ?? { id, ...rest }), supersedes });
      return {
        changes: [
          ...Array.from(others.values(), (memory): Change => ({ kind: 'replace', memory })),
          { kind: 'remove', id: newer.id },
          { kind: 'replace', memory: kept, indexed },
        ],
        kept,
      };
    }
  }
}

function isInvalid(error: unknown): boolean {
  return SalienceError.isInstance(error) && error.code === 'invalid_argument';
}

/** Returns the error for a newer memory that the older one supersedes: the older statement was confirmed while the conflict was open. */
function reversed(older: MemoryRecord, newer: MemoryRecord): SalienceError {
  return invalidArgument(
    'resolution',
    `memory ${JSON.stringify(newer.id)} is itself superseded by ${JSON.stringify(older.id)}, directly or through others; use keep-both, which leaves it so`,
  );
}

/** Returns the text that the older memory gets from an `update`. An entity keeps its name and only takes the content. */
function movingText([older, newer]: readonly [MemoryRecord, MemoryRecord]): MemoryRecord {
  return areEntities(older, newer) ? { ...madeHot(older), content: newer.content } : newer;
}

/** Whether a conflict is between two entities of one scope. They are merged, so that all relations are those of one entity. */
function areEntities(a: MemoryRecord, b: MemoryRecord): boolean {
  return a.type === 'entity' && b.type === 'entity' && a.scope === b.scope;
}

async function oneEntity(
  reader: SpaceReader,
  from: MemoryRecord,
  into: MemoryRecord,
  now: Instant,
  indexed?: IndexedText,
): Promise<{ readonly changes: readonly Change[]; readonly kept: MemoryRecord }> {
  const { memory, changes } = await mergedInto(reader, from, into, now);
  const kept = revived(memory, now);
  return { changes: [{ kind: 'replace', memory: kept, ...(indexed ? { indexed } : {}) }, ...changes], kept };
}

/** Forgets the older memory for good, and the pair with it. Returns the newer memory. */
async function deleteOlder(
  engine: Dependencies,
  conflictId: string,
  now: Instant,
  options: OperationOptions,
): Promise<Memory> {
  const { newer } = await openPair(engine.space, conflictId);
  await forgetBy(engine, 'resolve', now, options, async (reader) => {
    const [older] = await bothOf(engine, reader, await openPair(reader, conflictId));
    const plan = await planForgetting(reader, [older.id], now);
    if (!plan.forgotten.includes(newer)) return plan;
    throw invalidArgument(
      'resolution',
      `memory ${JSON.stringify(newer)} is part of ${JSON.stringify(older.id)} or was made of it, and would be forgotten with it; use keep-both, or forget to erase both`,
    );
  });
  return readAfterWrite(async () => {
    const [kept] = await engine.space.get([newer]);
    if (!kept) throw notFound(newer, engine.space.name);
    return shown(engine, kept, now);
  });
}

/** Returns the older memory with the content and validity of the newer one. It also supersedes what the newer one superseded. */
function updatedBy(
  older: MemoryRecord,
  newer: MemoryRecord,
  now: Instant,
  { maxMetadataBytes }: TextLimits,
): MemoryRecord {
  return revised(older, {
    ...changedRecord(older, { content: newer.content }, { now }),
    title: newer.title,
    tags: newer.tags,
    metadata: metadataWithin(
      { ...older.metadata, ...newer.metadata },
      maxMetadataBytes,
      'take some away from one of the two, or use supersede or keep-both',
    ),
    author: newer.author,
    role: newer.role,
    relations: restated(newer.relations, newer.id, older.id),
    // A scope has one memory per topic. If the scopes differ, that of `older` may already have one.
    topicKey: older.topicKey ?? (older.scope === newer.scope ? newer.topicKey : undefined),
    validFrom: newer.validFrom,
    validUntil: newer.validUntil,
    expiresAt: newer.expiresAt,
    importance: Math.max(older.importance, newer.importance),
    confidence: newer.confidence,
    source: newer.source,
    sourceRef: newer.sourceRef,
    sessionId: newer.sessionId ?? older.sessionId,
    supersedes: [...new Set([...older.supersedes, ...newer.supersedes])].filter(
      (id) => id !== older.id && id !== newer.id,
    ),
  });
}

/** Throws `invalid_argument` if the older memory is superseded or invalidated: a text that moved into it would be hidden. */
async function checkStillBelieved(
  reader: SpaceReader,
  older: MemoryRecord,
  newer: MemoryRecord,
): Promise<void> {
  const { memories } = await chainsAbove(reader, [older.id]);
  const other = [...memories.keys()].find((id) => id !== newer.id);
  if (other === undefined && older.invalidatedAt === undefined) return;
  throw new SalienceError(
    'invalid_argument',
    `resolution: memory ${JSON.stringify(older.id)} ${other === undefined ? 'was invalidated' : `is superseded by ${JSON.stringify(other)}`}, and would hide the new text; use supersede or keep-both`,
    { details: { field: 'resolution', ...(other === undefined ? {} : { supersededBy: other }) } },
  );
}

function sequenceOf(conflictId: string, field: string): number {
  if (typeof conflictId === 'string' && /^\d{1,15}$/.test(conflictId)) return Number(conflictId);
  throw invalidArgument(field, `${describe(conflictId)} is none; conflicts lists them`);
}

async function openPair(reader: SpaceReader, conflictId: string): Promise<SimilarPair> {
  const pair = await reader.pair(sequenceOf(conflictId, 'conflictId'));
  if (pair && pair.resolution === undefined) return pair;
  throw new SalienceError(
    'not_found',
    pair
      ? `conflict ${conflictId} is already resolved (${pair.resolution}); undo reverts that, conflicts lists the open ones`
      : `conflict ${conflictId} is not open; conflicts lists those that are`,
    { details: { conflictId } },
  );
}

async function bothOf(
  engine: Dependencies,
  reader: SpaceReader,
  { older, newer }: Pick<NewPair, 'older' | 'newer'>,
): Promise<readonly [MemoryRecord, MemoryRecord]> {
  const [first, second] = await reader.get([older, newer]);
  if (!first) throw notFound(older, engine.space.name);
  if (!second) throw notFound(newer, engine.space.name);
  return [first, second];
}

function concerns({ older, newer }: NewPair, id: string): boolean {
  return older === id || newer === id;
}

function warningOf(conflicts: readonly Conflict[], model: string | undefined): string {
  const lines = conflicts.map(
    ({ conflictId, id, similarity, content }) =>
      `- conflict ${conflictId}: ${alike(similarity, model)} to ${id}: ${JSON.stringify(clip(content, 200))}`,
  );
  const many = conflicts.length === 1 ? 'a memory' : `${conflicts.length} memories`;
  return [
    `Stored; it may contradict ${many}:`,
    ...lines,
    'Ask the user which is correct, and never keep both silently. Then resolve each conflict: keep-both, update (the old one takes the new text), supersede (the old one is hidden while the new one holds), or delete (the old one, for good).',
  ].join('\n');
}

import { invalidArgument, texts } from '../../domain/check.ts';
import { throwIfAborted } from '../../domain/errors.ts';
import { checkSize } from '../../domain/field-checks.ts';
import { addTo } from '../../domain/lists.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import type { Fading, RetentionFading } from '../../domain/settings.ts';
import { startLongSlices } from '../../domain/slices.ts';
import type { Instant } from '../../domain/time.ts';
import { asModelFailure } from '../../language/batches.ts';
import { consolidateStatements } from '../../language/consolidation.ts';
import { addUsage, NO_USAGE, usageIn } from '../../providers/language-model.ts';
import { retentionAt } from '../../scoring/fading.ts';
import { signalsOf } from '../../scoring/signals.ts';
import { cosine } from '../../scoring/similarity.ts';
import { compareCreated } from '../../store/comparison.ts';
import { exclusionOf } from '../../store/eligibility.ts';
import type { Change, IndexedText } from '../../store/store.ts';
import { supersededAmong } from '../belief/supersession.ts';
import { type Dependencies, notFoundAmong } from '../dependencies.ts';
import { deriveTexts, knownTexts } from '../write/derive.ts';
import { combinedRelations, combinedTags, listedContent } from '../write/derived.ts';
import type { Consolidated, MaintainOptions } from './maintenance-types.ts';
import type { Asked } from './reconcile.ts';

/** Below this retention a memory may be consolidated with others. */
const MOST_RETENTION = 0.2;
const GROUP = 5;
const CONSOLIDATION_WEIGHT = 0.8;

/** Most memories of one type that are compared with each other. More are cut into parts of this size, oldest first. */
const COMPARED_AT_ONCE = 2000;

type Curve = RetentionFading['curve'];

/** What earlier actions of a dry run would have changed, so that later ones report only what a real run would do. */
export interface Assumed {
  /** The ids of memories that would be superseded or removed. */
  readonly gone: Set<string>;
  readonly changed: Map<string, MemoryRecord>;
}

interface Candidate {
  readonly memory: MemoryRecord;
  readonly vector: Float32Array;
}

/**
 * Consolidates groups of faded, similar memories that are believed and have the same type, scope and validity. The
 * oldest of a group is the seed, and all others are similar to it. The new memory has the content of the group; its
 * originals become cold and stay linked to it. Does nothing without an embedder.
 */
export async function consolidate(
  engine: Dependencies,
  now: Instant,
  options: MaintainOptions,
  fading: Fading,
  assumed?: Assumed,
): Promise<{ readonly consolidated: readonly Consolidated[] } & Asked> {
  const done: Consolidated[] = [];
  const failures: string[] = [];
  let usage = NO_USAGE;
  const asked = options.consolidate ?? false;
  if (typeof asked !== 'boolean' && !Array.isArray(asked)) {
    throw invalidArgument('consolidate', 'give true, false or a list of ids');
  }
  const among = typeof asked === 'boolean' ? undefined : new Set(texts(asked, 'consolidate', 10_000, 128));
  if (among) await checkKnown(engine, [...among]);
  const byAge = asked === true && fading.mode === 'retention' ? fading.curve : undefined;
  if (!engine.embedder || !(among || byAge)) return { consolidated: done, failures, usage };
  const found = await findGroups(engine, now, options, { among, curve: byAge, assumed });
  const asksModel = engine.languageModel !== undefined && options.useModel !== false;
  // With a model, the length of the text is not known yet; it will be shorter than the list.
  const groups = asksModel
    ? found
    : found.filter((group) => fits(engine, listedContent(group), among !== undefined));
  for (const group of groups) {
    throwIfAborted(options.signal);
    if (options.dryRun) done.push({ from: group.map(({ id }) => id) });
    else {
      const text = await consolidatedText(engine, group, options);
      usage = addUsage(usage, text.usage);
      failures.push(...text.failures);
      if (!fits(engine, text.content, among !== undefined)) continue;
      const id = await writeConsolidation(engine, group, text, now, options);
      if (id !== undefined) done.push({ id, from: group.map((memory) => memory.id), by: text.by });
    }
  }
  return { consolidated: done, failures, usage };
}

/** Throws `not_found` for missing ids: they would be ignored silently. */
async function checkKnown({ space }: Dependencies, ids: readonly string[]): Promise<void> {
  const present = await space.get(ids);
  const [first, ...others] = ids.filter((_, at) => !present[at]);
  if (first !== undefined)
    throw notFoundAmong([first, ...others], ids.length, space.name, 'nothing was changed');
}

/** Whether a text fits into a memory. For memories that the caller listed, throws `content_too_large` instead. */
function fits({ limits }: Dependencies, content: string, named: boolean): boolean {
  const most = limits.maxContentBytes;
  if (named) checkSize('content', content, most, 'name shorter memories, or raise maxContentBytes');
  return Buffer.byteLength(content) <= most;
}

async function findGroups(
  engine: Dependencies,
  now: Instant,
  options: MaintainOptions,
  {
    among,
    curve,
    assumed,
  }: {
    readonly among: ReadonlySet<string> | undefined;
    readonly curve: Curve | undefined;
    readonly assumed: Assumed | undefined;
  },
): Promise<readonly (readonly MemoryRecord[])[]> {
  const byType = new Map<string, MemoryRecord[]>();
  let cursor: string | undefined;
  do {
    const page = await engine.space.list({ filter: {}, limit: 500, cursor });
    const superseded = await supersededAmong(engine.space, idsOf(page.memories), {}, now);
    for (const listed of page.memories) {
      if (assumed?.gone.has(listed.id)) continue;
      const memory = assumed?.changed.get(listed.id) ?? listed;
      // A consolidation must be visible only where and when its originals were.
      const { type, scope, validFrom, validUntil, expiresAt } = memory;
      const key = JSON.stringify([type, scope, validFrom, validUntil, expiresAt]);
      const isDue = among ? among.has(memory.id) : hasFaded(memory, now, curve);
      if (isDue && isCandidate(memory, superseded, now)) addTo(byType, key, memory);
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const groups: (readonly MemoryRecord[])[] = [];
  for (const memories of byType.values()) {
    memories.sort(compareCreated);
    for (let start = 0; start < memories.length; start += COMPARED_AT_ONCE) {
      throwIfAborted(options.signal);
      const part = memories.slice(start, start + COMPARED_AT_ONCE);
      groups.push(...(await groupsAmong(engine, part, options)));
    }
  }
  return groups;
}

async function groupsAmong(
  engine: Dependencies,
  memories: readonly MemoryRecord[],
  options: MaintainOptions,
): Promise<readonly (readonly MemoryRecord[])[]> {
  const derived = await knownTexts(engine, memories, options);
  const threshold = engine.embedder?.thresholds.consolidation ?? 1;
  let left = memories.flatMap((memory, at): Candidate[] => {
    const vector = derived[at]?.vector;
    return vector ? [{ memory, vector }] : [];
  });
  const groups: (readonly MemoryRecord[])[] = [];
  const slices = startLongSlices();
  while (left.length >= GROUP) {
    await slices();
    const [seed, ...others] = left as [Candidate, ...Candidate[]];
    const similar = others
      .filter(({ vector }) => cosine(seed.vector, vector) >= threshold)
      .slice(0, GROUP - 1);
    left = others;
    if (similar.length < GROUP - 1) continue;
    groups.push([seed, ...similar].map(({ memory }) => memory));
    left = others.filter((other) => !similar.includes(other));
  }
  return groups;
}

/**
 * Whether a memory may be consolidated. It must not be superseded anywhere: what is no longer believed must not return
 * in other words.
 */
function isCandidate(memory: MemoryRecord, superseded: ReadonlySet<string>, now: Instant): boolean {
  return (
    exclusionOf({ ...memory, superseded: superseded.has(memory.id) }, {}, now) === undefined &&
    !memory.core &&
    memory.source !== 'consolidated' &&
    // Two entities are different things, however similar.
    memory.type !== 'entity'
  );
}

function hasFaded(memory: MemoryRecord, now: Instant, curve: Curve | undefined): boolean {
  return retentionAt(signalsOf(memory), now, curve) < MOST_RETENTION;
}

interface ConsolidatedText extends Asked {
  readonly content: string;
  readonly title: string | undefined;
  readonly by: 'model' | 'rules';
}

/** Returns the text of a consolidation: written by the model, or the listed originals if there is none or it fails. */
async function consolidatedText(
  engine: Dependencies,
  group: readonly MemoryRecord[],
  { useModel, signal }: MaintainOptions,
): Promise<ConsolidatedText> {
  const statements = group.map(({ title, content, createdAt }) => ({
    content: listedContent([{ title, content }]),
    at: createdAt,
  }));
  const content = listedContent(group);
  const plain = { content, title: undefined, by: 'rules' as const, failures: [], usage: NO_USAGE };
  const { languageModel: model, newNonce } = engine;
  const contentWords = (text: string) => engine.analyzer.analyze(text);
  if (!model || useModel === false) return plain;
  try {
    const type = group[0]?.type ?? 'fact';
    const written = await consolidateStatements(model, type, statements, { newNonce, contentWords, signal });
    return { ...written, by: 'model', failures: [] };
  } catch (error) {
    throwIfAborted(signal);
    const failure = asModelFailure(error);
    return { ...plain, failures: [failure.message], usage: usageIn(failure) };
  }
}

async function writeConsolidation(
  engine: Dependencies,
  group: readonly MemoryRecord[],
  text: Pick<ConsolidatedText, 'content' | 'title'>,
  now: Instant,
  options: MaintainOptions,
): Promise<string | undefined> {
  const consolidation = consolidationOf(group, text, engine.newId(now), now);
  const [indexed] = (await deriveTexts([consolidation], engine, { signal: options.signal })) as [IndexedText];
  const { embedder, analyzer } = engine;
  return engine.space.write({ verb: 'maintain', at: now, run: options.run }, async (reader) => {
    const current = await reader.get(idsOf(group));
    const superseded = await supersededAmong(reader, idsOf(group), {}, now);
    const unchanged = current.every(
      (memory, at) =>
        memory && isCandidate(memory, superseded, now) && memory.revisionCount === group[at]?.revisionCount,
    );
    if (!unchanged) return { changes: [], result: undefined };
    const changes: Change[] = [{ kind: 'insert', memory: consolidation, indexed }];
    for (const memory of current as readonly MemoryRecord[]) {
      const ids: readonly [string, string] =
        memory.id < consolidation.id ? [memory.id, consolidation.id] : [consolidation.id, memory.id];
      const replaced: MemoryRecord = { ...memory, tier: 'cold', coldSince: now, consolidatedAt: now };
      changes.push({ kind: 'replace', memory: replaced });
      changes.push({
        kind: 'link',
        link: { ids, kind: 'consolidation', weight: CONSOLIDATION_WEIGHT, at: now },
      });
    }
    return {
      changes,
      result: consolidation.id,
      analyzer: analyzer.id,
      ...(indexed.vector && embedder
        ? { embedding: { model: embedder.model, dimensions: embedder.dimensions } }
        : {}),
    };
  });
}

/**
 * Makes the record of a consolidation, with the highest importance and access count of its originals, and their mean
 * stability.
 */
function consolidationOf(
  group: readonly MemoryRecord[],
  { content, title }: Pick<ConsolidatedText, 'content' | 'title'>,
  id: string,
  now: Instant,
): MemoryRecord {
  const [seed] = group as [MemoryRecord];
  const { importance, importanceSource } = group.reduce((most, memory) =>
    memory.importance > most.importance ? memory : most,
  );
  const mean = group.reduce((sum, { stability }) => sum + stability, 0) / group.length;
  return {
    ...seed,
    id,
    ordinal: 0,
    title,
    content,
    tags: combinedTags(group),
    metadata: {},
    topicKey: undefined,
    author: sameOf(group, 'author'),
    role: sameOf(group, 'role'),
    sessionId: undefined,
    bornIn: undefined,
    createdAt: now,
    updatedAt: now,
    textChangedAt: undefined,
    lastAccessedAt: undefined,
    seen: undefined,
    invalidatedAt: undefined,
    invalidReason: undefined,
    consolidatedAt: undefined,
    importance,
    importanceSource,
    stability: mean,
    accessCount: Math.max(...group.map(({ accessCount }) => accessCount)),
    sessions: [],
    revisionCount: 1,
    supersedes: [],
    source: 'consolidated',
    sourceRef: undefined,
    derivedFrom: idsOf(group),
    ...combinedRelations(group),
  };
}

/** Returns the value of a field if all memories have the same. */
function sameOf(group: readonly MemoryRecord[], field: 'author' | 'role'): string | undefined {
  const [first] = group;
  return group.every((memory) => memory[field] === first?.[field]) ? first?.[field] : undefined;
}

function idsOf(memories: readonly MemoryRecord[]): readonly string[] {
  return memories.map(({ id }) => id);
}

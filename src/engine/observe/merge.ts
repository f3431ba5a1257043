import { throwIfAborted } from '../../domain/errors.ts';
import type { ImportanceSource, MemoryRecord } from '../../domain/memory.ts';
import { MOST_RELATIONS, type RelationInput, type RelationRecord } from '../../domain/relation.ts';
import { normalisedContent } from '../../domain/statement.ts';
import type { Instant } from '../../domain/time.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { cosine } from '../../scoring/similarity.ts';
import { saysAllOf } from '../belief/near-duplicate.ts';
import { inheritedImportance } from '../belief/supersession.ts';
import type { Dependencies } from '../dependencies.ts';
import type { OperationOptions, RememberInput } from '../types.ts';
import { deriveTexts } from '../write/derive.ts';
import { newRecord } from '../write/record.ts';

/** A fact or message of a conversation, ready to be remembered. */
export interface Observation {
  readonly input: RememberInput;
  readonly judge: ImportanceSource;
  /** Whether the content is the text of a message: it is kept whatever is similar. */
  readonly verbatim: boolean;
}

/** How many similar memories each observation is compared with. */
const NEAREST = 5;

/** How many earlier observations each one is compared with: conversations repeat things soon. */
const COMPARED = 200;

interface Candidate extends Observation {
  readonly record: MemoryRecord;
  readonly vector: Float32Array | undefined;
}

/**
 * Leaves out observations that say no more than another observation, or than a memory of their scope and type. An
 * observation that says more than such a memory supersedes it. A similar observation that says something else is kept,
 * to be judged later, and inherits the importance of the memories that it may contradict. Relations of what is left out
 * or superseded move to what stays.
 *
 * Word-for-word copies are left to the write. Without an embedder nothing is merged.
 */
export async function mergeNearDuplicates(
  engine: Dependencies,
  observations: readonly Observation[],
  now: Instant,
  options: OperationOptions,
): Promise<{
  readonly kept: readonly Observation[];
  /** How many observations were left out and memories superseded. */
  readonly merged: number;
}> {
  const { embedder } = engine;
  if (!embedder) return { kept: observations, merged: 0 };
  const candidates = await candidatesOf(engine, observations, now, options);
  const threshold = embedder.thresholds.similarPair;
  let merged = 0;
  const distinct: Candidate[] = [];
  for (const candidate of candidates) {
    const alike = distinct.slice(-COMPARED).filter((other) => areAlike(candidate, other, threshold));
    merged++;
    const better = alike.find((other) => covers(other.record, candidate));
    if (better) {
      distinct[distinct.lastIndexOf(better)] = stating(better, relationsOf(candidate));
      continue;
    }
    const worse = alike.filter((other) => covers(candidate.record, other));
    for (const each of worse) distinct.splice(distinct.lastIndexOf(each), 1);
    merged += worse.length - 1;
    distinct.push(stating(candidate, worse.flatMap(relationsOf)));
  }
  const kept: Observation[] = [];
  for (const candidate of distinct) {
    throwIfAborted(options.signal);
    const known = await similarMemories(engine, candidate, threshold, now);
    const better = known.find((memory) => covers(memory, candidate));
    if (better) {
      merged++;
      // Remembers the words of the known memory again, so that the write only adds the relations.
      if (relationsOf(candidate).length > 0) kept.push(saidAs(candidate, better));
      continue;
    }
    const replaced = known.filter((memory) => replaces(candidate, memory));
    merged += replaced.length;
    kept.push(
      inheriting(
        stating(
          candidate,
          replaced.flatMap(({ relations = [] }) => relations.map(asInput)),
        ),
        known,
        replaced.map(({ id }) => id),
      ),
    );
  }
  return { kept, merged };
}

async function candidatesOf(
  engine: Dependencies,
  observations: readonly Observation[],
  now: Instant,
  options: OperationOptions,
): Promise<readonly Candidate[]> {
  const context = { now, newId: () => 'observed', limits: engine.limits };
  const records = observations.map(({ input }) => newRecord(input, context));
  const derived = await deriveTexts(records, engine, { signal: options.signal });
  return observations.map((observation, at) => ({
    ...observation,
    record: records[at] as MemoryRecord,
    vector: derived[at]?.vector,
  }));
}

function areAlike(a: Candidate, b: Candidate, threshold: number): boolean {
  if (a.record.type !== b.record.type || !a.vector || !b.vector) return false;
  return cosine(a.vector, b.vector) >= threshold;
}

async function similarMemories(
  engine: Dependencies,
  { record, vector }: Candidate,
  threshold: number,
  now: Instant,
): Promise<readonly MemoryRecord[]> {
  if (!vector) return [];
  const { hits } = await engine.space.snapshot((snapshot) =>
    snapshot.search({
      profile: resolveProfile(builtinProfile('vector')),
      query: { terms: [], vector, model: engine.embedder?.model },
      filter: { scopes: [record.scope], types: [record.type] },
      now,
      limit: NEAREST,
    }),
  );
  return hits
    .filter(({ signals }) => (signals.similarity ?? 0) >= threshold)
    .map(({ memory }) => memory)
    .filter((memory) => !sameWords(memory, record));
}

/** Whether `memory` says all that an observation says, so that the observation can be left out. */
function covers(memory: MemoryRecord, { record, verbatim }: Candidate): boolean {
  return !verbatim && !sameWords(memory, record) && sameValidity(memory, record) && saysAllOf(memory, record);
}

/**
 * Whether an observation says all that `memory` says, and may supersede it. A memory with a topic is never superseded:
 * callers find it by its topic.
 */
function replaces({ record, verbatim }: Candidate, memory: MemoryRecord): boolean {
  return (
    !verbatim && memory.topicKey === undefined && sameValidity(record, memory) && saysAllOf(record, memory)
  );
}

/** Whether two contents are equal word for word: the write recognises these itself. */
function sameWords(a: MemoryRecord, b: MemoryRecord): boolean {
  return normalisedContent(a.content) === normalisedContent(b.content);
}

function sameValidity(a: MemoryRecord, b: MemoryRecord): boolean {
  return a.validFrom === b.validFrom && a.validUntil === b.validUntil && a.expiresAt === b.expiresAt;
}

function relationsOf({ input }: Observation): readonly RelationInput[] {
  return input.relations ?? [];
}

/** Adds the relations of the observations or memories that this one replaces. */
function stating<Each extends Observation>(observation: Each, relations: readonly RelationInput[]): Each {
  if (relations.length === 0) return observation;
  const all = [...relations, ...relationsOf(observation)].slice(0, MOST_RELATIONS);
  return { ...observation, input: { ...observation.input, relations: all } };
}

function saidAs(
  { input, judge, verbatim }: Observation,
  { content, type, scope }: MemoryRecord,
): Observation {
  return { input: { content, type, scope, relations: input.relations }, judge, verbatim };
}

function asInput({ validFrom, validUntil, ...rest }: RelationRecord): RelationInput {
  return {
    ...rest,
    ...(validFrom === undefined ? {} : { validFrom: new Date(validFrom) }),
    ...(validUntil === undefined ? {} : { validUntil: new Date(validUntil) }),
  };
}

function inheriting(
  candidate: Candidate,
  similar: readonly MemoryRecord[],
  supersedes: readonly string[],
): Observation {
  const { importance, importanceSource } = similar.reduce(inheritedImportance, {
    importance: candidate.record.importance,
    importanceSource: candidate.judge,
  });
  return {
    input: { ...candidate.input, importance, supersedes },
    judge: importanceSource,
    verbatim: candidate.verbatim,
  };
}

import { atMost } from '../../domain/check.ts';
import { CHANGE_FIELDS, FIELD_NAMES, FIELDS } from '../../domain/fields.ts';
import { initialStability, type MemoryRecord } from '../../domain/memory.ts';
import { foldedName, MOST_RELATIONS, withAliases, withRelations } from '../../domain/relation.ts';
import { mapInSlices, type Slices, startLongSlices } from '../../domain/slices.ts';
import { normalisedContent } from '../../domain/statement.ts';
import { formatInstant, type Instant } from '../../domain/time.ts';
import type { SpaceReader } from '../../store/store.ts';
import { revived } from '../../store/tiers.ts';
import { inheritedImportance } from '../belief/supersession.ts';
import { isOfAnotherTime, sentenceValidity } from '../graph/restate.ts';
import type { Inactive, RememberInput } from '../types.ts';
import { type Candidates, nameIn, readCandidates, statementOf, topicOf } from './candidates.ts';
import { changedRecord, revised } from './record.ts';
import { inContext } from './write.ts';

/** What becomes of one statement. */
export type Plan =
  | {
      readonly kind: 'insert';
      readonly memory: MemoryRecord;
      /** It was invalidated before, and stays so. */
      readonly inactive?: Inactive | undefined;
    }
  | { readonly kind: 'update'; readonly memory: MemoryRecord }
  /** Known word for word, and hot again. */
  | { readonly kind: 'affirm'; readonly memory: MemoryRecord }
  | { readonly kind: 'keep'; readonly id: string; readonly inactive?: Inactive | undefined };

export interface Draft {
  readonly input: RememberInput;
  /** What it would be as a new memory. */
  readonly record: MemoryRecord;
  /** Equal ones say the same: a draft is compared several times. */
  readonly statement: string;
}

export function draftOf(input: RememberInput, record: MemoryRecord): Draft {
  return { input, record, statement: statementOf(record) };
}

/**
 * Decides for each statement, in order: one that was invalidated stays so; one about a topic that its scope knows
 * replaces what was said about it; one that its scope knows word for word, with the same type, is that one, whatever its
 * title; every other is new. Later statements of a batch see what became of earlier ones.
 */
export async function planWrites(
  reader: SpaceReader,
  drafts: readonly Draft[],
  now: Instant,
  slices: Slices = startLongSlices(),
): Promise<readonly Plan[]> {
  const records = drafts.map(({ record }) => record);
  // At once: a store beyond a network answers them with one message.
  const [candidates, tombstones] = await Promise.all([
    readCandidates(reader, records, now),
    reader.tombstones(records),
  ]);
  const said = new Map(records.map((record) => [record.id, record]));
  const planNext = ({ input, record, statement }: Draft, index: number): Plan => {
    const plan = inContext(index, drafts.length, () =>
      planOne(
        input,
        record,
        {
          topic: record.topicKey === undefined ? undefined : candidates.live(topicOf(record)).at(-1),
          entity: entityOf(record, candidates),
          twin: twinOf(record, candidates.live(statement)),
          invalid: candidates.invalidated(statement),
          tombstone: tombstones[index],
        },
        now,
      ),
    );
    if (plan.kind === 'keep') return plan;
    const written = inheriting(plan, candidates, said);
    candidates.add(written.memory, plan.kind === 'insert' ? statement : undefined);
    return written;
  };
  return mapInSlices(drafts, planNext, slices);
}

/**
 * What takes the place of another memory counts for no less, in whatever order a batch names them: of statements that come
 * later it is `said` what they supersede themselves.
 */
function inheriting(
  plan: Exclude<Plan, { readonly kind: 'keep' }>,
  candidates: Candidates,
  said: ReadonlyMap<string, MemoryRecord>,
): Exclude<Plan, { readonly kind: 'keep' }> {
  // A set is walked through to what is added on the way, and a cycle ends.
  const older = new Set(plan.memory.supersedes);
  for (const id of older) {
    if (!candidates.get(id)) for (const below of said.get(id)?.supersedes ?? []) older.add(below);
  }
  const { importance, importanceSource } = [...older]
    .flatMap((id) => candidates.get(id) ?? said.get(id) ?? [])
    .reduce(inheritedImportance, plan.memory);
  if (importance === plan.memory.importance) return plan;
  const stability = plan.kind === 'insert' ? initialStability(importance) : plan.memory.stability;
  return { ...plan, memory: { ...plan.memory, importance, importanceSource, stability } };
}

function planOne(
  input: RememberInput,
  record: MemoryRecord,
  found: {
    readonly topic: MemoryRecord | undefined;
    readonly entity: MemoryRecord | undefined;
    readonly twin: MemoryRecord | undefined;
    readonly invalid: MemoryRecord | undefined;
    readonly tombstone: { readonly at: Instant; readonly reason: string } | undefined;
  },
  now: Instant,
): Plan {
  const { topic, entity, twin, invalid, tombstone } = found;
  if (!twin && invalid) {
    return {
      kind: 'keep',
      id: invalid.id,
      inactive: inactiveOf(invalid.invalidatedAt, invalid.invalidReason),
    };
  }
  if (!twin && tombstone) {
    const { at, reason } = tombstone;
    // Of a memory that was forgotten the reason was forgotten too.
    const invalidReason = reason === '' ? undefined : reason;
    const memory = { ...record, invalidatedAt: at, invalidReason };
    return { kind: 'insert', memory, inactive: inactiveOf(at, invalidReason) };
  }
  if (topic)
    return { kind: 'update', memory: restated(topicFor(record, revived(topic, now)), input, record) };
  if (entity) return restatedEntity(entity, input, record, now);
  if (!twin || isOfAnotherTime(twin, record)) return { kind: 'insert', memory: record };
  const added = record.supersedes.filter((id) => id !== twin.id && !twin.supersedes.includes(id));
  const topicKey = twin.topicKey ?? record.topicKey;
  const hot = revived(twin, now);
  const relations = record.relations
    ? atMost(withRelations(twin.relations ?? [], record.relations), MOST_RELATIONS, 'relations', 'relations')
    : twin.relations;
  const same = JSON.stringify(relations) === JSON.stringify(twin.relations);
  const validity = same ? {} : sentenceValidity(twin, relations);
  // From now on it is what its topic says: whatever is said with it counts as it does for any topic.
  if (topicKey !== twin.topicKey)
    return { kind: 'update', memory: { ...restated(hot, input, record), topicKey, relations } };
  if (added.length === 0 && same)
    return hot === twin ? { kind: 'keep', id: twin.id } : { kind: 'affirm', memory: hot };
  const supersedes = [...twin.supersedes, ...added];
  const { updatedAt } = record;
  return {
    kind: 'update',
    memory: revised(twin, { ...hot, supersedes, relations, updatedAt, ...validity }),
  };
}

/** Of the live memories that say the same, the one that a statement is; the latest where several could be. */
function twinOf(record: MemoryRecord, alike: readonly MemoryRecord[]): MemoryRecord | undefined {
  if (record.type === 'entity') return undefined;
  return alike.findLast((each) => !isOfAnotherTime(each, record)) ?? alike.at(-1);
}

/** Author, validity and relations belong to the old wording: a new statement about the topic must not expire with it. */
function topicFor({ content }: MemoryRecord, before: MemoryRecord): MemoryRecord {
  if (normalisedContent(content) === normalisedContent(before.content)) return before;
  return {
    ...before,
    author: undefined,
    role: undefined,
    validFrom: undefined,
    validUntil: undefined,
    expiresAt: undefined,
    relations: undefined,
  };
}

/** What a new statement about a topic changes of the memory: all that it says, where it stands excepted. */
const RESTATED = [
  ...CHANGE_FIELDS.filter((name) => name !== 'scope' && name !== 'topicKey' && name !== 'sourceRef'),
  'ttl',
] as const;

/** A memory after something else was said about its topic; what is not said stays. */
function restated(before: MemoryRecord, input: RememberInput, record: MemoryRecord): MemoryRecord {
  const changes = Object.fromEntries(
    RESTATED.filter((key) => input[key] !== undefined).map((key) => [key, input[key]]),
  );
  // The checks, and the redaction, are those of the new record.
  const changed = changedRecord(before, changes, { now: record.updatedAt });
  return {
    ...changed,
    sessionId: record.sessionId ?? before.sessionId,
    source: record.source,
    sourceRef: record.sourceRef ?? before.sourceRef,
    supersedes: [...new Set([...before.supersedes, ...record.supersedes.filter((id) => id !== before.id)])],
  };
}

/** An entity that is known is told more of: its names are kept, and what it was called now is one of them. */
function restatedEntity(known: MemoryRecord, input: RememberInput, record: MemoryRecord, now: Instant): Plan {
  const before = revived(known, now);
  const { title: _, aliases: __, ...said } = input;
  const title = known.title ?? record.title;
  const names = [...(record.title ? [record.title] : []), ...(record.aliases ?? [])];
  const aliases = atMost(
    withAliases({ title, aliases: known.aliases }, names),
    FIELDS.aliases.maxItems,
    'aliases',
    'other names',
  );
  const next = restated(before, said, record);
  const memory = revised(before, { ...next, title, aliases });
  const { updatedAt, textChangedAt, revisionCount } = before;
  const unsaid = { ...memory, updatedAt, textChangedAt, revisionCount };
  if (JSON.stringify(sorted({ ...unsaid, source: before.source })) !== JSON.stringify(sorted(before)))
    return { kind: 'update', memory };
  return before === known ? { kind: 'keep', id: known.id } : { kind: 'affirm', memory: before };
}

function sorted(memory: MemoryRecord): readonly unknown[] {
  return FIELD_NAMES.map((name) => memory[name] ?? null);
}

/** The live entity that a statement means, by its name. */
function entityOf(record: MemoryRecord, candidates: Candidates): MemoryRecord | undefined {
  if (record.type !== 'entity' || record.title === undefined) return undefined;
  const name = foldedName(record.title);
  const meant = candidates
    .live(nameIn(record.scope, name))
    // A person and a place of one name are two.
    .filter(({ kind }) => kind === undefined || record.kind === undefined || kind === record.kind);
  const titled = meant.filter(({ title }) => title !== undefined && foldedName(title) === name);
  return titled.length === 1 ? titled[0] : meant.length === 1 ? meant[0] : undefined;
}

/** What is said of a statement that was invalidated. */
export function inactiveOf(at: Instant | undefined, reason: string | undefined): Inactive {
  return { since: formatInstant(at ?? 0), reason: reason ?? 'no reason was given' };
}

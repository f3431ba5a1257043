import type { MemoryRecord } from '../../domain/memory.ts';
import { type RelationRecord, relationId, type Triple, unitedRelations } from '../../domain/relation.ts';
import type { Instant } from '../../domain/time.ts';
import type { SpaceReader } from '../../store/store.ts';
import { beginOf, type Stating, subjectOf, takesPlaceOf } from './view.ts';

/** Returns the memories that state relations of `from`, changed to state them of `to`. Leaves out the memories in `but`. */
export async function movedStatements(
  reader: SpaceReader,
  but: readonly string[],
  from: string,
  to: string,
  now: Instant,
): Promise<readonly MemoryRecord[]> {
  const stating = await reader.find('ends', [from]);
  return stating.filter(({ id }) => !but.includes(id)).map((memory) => restating(memory, from, to, now));
}

/** Returns a memory that states relations of `to` instead of `from`. For a generated sentence, `derivedFrom` changes too. */
export function restating(memory: MemoryRecord, from: string, to: string, now: Instant): MemoryRecord {
  const before = memory.relations ?? [];
  const relations = joined(renamed(before, from, to));
  const madeOf = before.find((each) => isMadeOf(memory, each));
  if (!madeOf) return { ...memory, relations };
  const derivedFrom = memory.derivedFrom.map((id) => (id === from ? to : id));
  // A relation of an entity with itself says nothing: the sentence ends.
  const isOver = new Set(derivedFrom).size < derivedFrom.length;
  return {
    ...memory,
    relations,
    derivedFrom: [...new Set(derivedFrom)],
    ...(isOver ? endedSentence(memory, now, now) : {}),
  };
}

/**
 * Returns the changes of a sentence whose relation ends before the moment `at`. A sentence that was to begin later is
 * invalidated.
 */
export function endedSentence(
  { validFrom = -Infinity, validUntil = Infinity }: MemoryRecord,
  at: Instant,
  now: Instant,
): Partial<MemoryRecord> {
  return validFrom < at
    ? { validUntil: Math.min(validUntil, at - 1) }
    : { invalidatedAt: now, invalidReason: 'the relation was ended before it began' };
}

/**
 * Returns the changed validity of a generated sentence whose relation is stated again with another period: the sentence
 * is valid for all stated periods together.
 */
export function sentenceValidity(
  memory: MemoryRecord,
  relations: MemoryRecord['relations'],
): Pick<Partial<MemoryRecord>, 'validFrom' | 'validUntil'> {
  const madeOf = (all: MemoryRecord['relations'] = []) => all.filter((each) => isMadeOf(memory, each));
  const before = periodOf(madeOf(memory.relations));
  const after = periodOf(madeOf(relations));
  return {
    ...(memory.validFrom !== undefined && after.from < before.from
      ? { validFrom: Math.min(memory.validFrom, after.from) }
      : {}),
    ...(after.until === before.until
      ? {}
      : { validUntil: after.until === Infinity ? undefined : after.until }),
  };
}

/** Returns the period of all relations together. An open beginning is ignored; an open end leaves the period open. */
function periodOf(relations: readonly RelationRecord[]): Period {
  return {
    from: Math.min(...relations.map(({ validFrom = Infinity }) => validFrom)),
    until: Math.max(...relations.map(({ validUntil = Infinity }) => validUntil)),
  };
}

/**
 * Whether two memories are generated sentences for periods that one sentence must not state together. There is a gap
 * between the two periods, in which a single sentence would be believed too; or one of the `values` of the same
 * single-valued relation begins after one of the two and not after the other. It supersedes only the earlier one.
 */
export function isOfAnotherTime(
  known: MemoryRecord,
  told: MemoryRecord,
  values: readonly Stating[] = [],
): boolean {
  const [times, others] = [timesStated(known), timesStated(told)];
  if (times === undefined || others === undefined) return false;
  if (times.until + 1 < others.from || others.until + 1 < times.from) return true;
  return madePeriods(known).some((a) =>
    madePeriods(told).some((b) => {
      const later = Math.max(beginOf(a), beginOf(b));
      return values.some(
        (each) =>
          each.memory.scope === told.scope &&
          each.relation.to !== b.relation.to &&
          subjectOf(each.relation) === subjectOf(b.relation) &&
          endOf(each) >= later &&
          takesPlaceOf(each, a, Infinity) !== takesPlaceOf(each, b, Infinity),
      );
    }),
  );
}

/** Reads all values of the single-valued relations that new memories are generated sentences of. */
export async function valuesBeside(
  reader: SpaceReader,
  memories: readonly MemoryRecord[],
): Promise<readonly Stating[]> {
  const made = memories.flatMap((memory) => madePeriods(memory).map(({ relation }) => relation));
  if (made.length === 0) return [];
  const { singleValued } = await reader.settings();
  const subjects = made.filter(({ name }) => singleValued.includes(name));
  return subjects.length === 0 ? [] : reader.stated({ subjects });
}

/**
 * Returns the relations for which a memory is the generated sentence; none for other memories. A memory that is not
 * stored yet counts as the last.
 */
function madePeriods(memory: MemoryRecord): readonly Stating[] {
  const numbered = { ...memory, ordinal: memory.ordinal || Infinity };
  return (memory.relations ?? []).flatMap((relation) =>
    isMadeOf(memory, relation) ? [{ memory: numbered, relation }] : [],
  );
}

/** Returns until when a statement says that its relation holds. */
export function endOf({ memory, relation }: Stating): Instant {
  return Math.min(relation.validUntil ?? Infinity, memory.validUntil ?? Infinity);
}

/**
 * Whether a memory is a generated sentence whose relation was ended before it began (see {@link endedSentence}). It says
 * nothing, so the same statement is new when it is told again.
 */
export function isEndedBefore({ derivedFrom, source, relations, invalidatedAt }: MemoryRecord): boolean {
  return (
    invalidatedAt !== undefined &&
    source !== 'consolidated' &&
    derivedFrom.length === 2 &&
    relations === undefined
  );
}

/** Returns the period in which a generated sentence is believed; `undefined` for any other memory. */
function timesStated(memory: MemoryRecord): Period | undefined {
  const stated = (memory.relations ?? []).filter((each) => isMadeOf(memory, each));
  if (stated.length === 0) return undefined;
  return {
    from: Math.max(
      memory.validFrom ?? -Infinity,
      Math.min(...stated.map(({ validFrom = -Infinity }) => validFrom)),
    ),
    until: Math.min(memory.validUntil ?? Infinity, periodOf(stated).until),
  };
}

interface Period {
  readonly from: Instant;
  readonly until: Instant;
}

/** Returns relations with the end `from` replaced by `to`. Leaves out those that would have one end twice. */
export function renamed(
  relations: readonly RelationRecord[],
  from: string,
  to: string,
): readonly RelationRecord[] {
  const end = (id: string) => (id === from ? to : id);
  return relations
    .map((each) => ({ ...each, from: end(each.from), to: end(each.to) }))
    .filter((each) => each.from !== each.to);
}

/** Returns relations with the end `from` replaced by `to`. */
export function restated(
  relations: MemoryRecord['relations'],
  from: string,
  to: string,
): MemoryRecord['relations'] {
  return relations && joined(renamed(relations, from, to));
}

/** Returns the relations of an entity without those that came from `other` in a merge. Relations that it had `before` stay. */
export function withoutRelations(
  { id, relations }: MemoryRecord,
  other: MemoryRecord,
  before: MemoryRecord | undefined,
): MemoryRecord['relations'] {
  const own = new Set((before?.relations ?? []).map(relationId));
  const brought = new Set(renamed(other.relations ?? [], other.id, id).map(relationId));
  return joined(
    (relations ?? []).filter((each) => own.has(relationId(each)) || !brought.has(relationId(each))),
  );
}

export function joined(
  ...all: readonly (readonly RelationRecord[])[]
): readonly RelationRecord[] | undefined {
  const relations = unitedRelations(all.flat());
  return relations.length === 0 ? undefined : relations;
}

/** Whether a memory is the sentence that was generated to state a relation, and says nothing else. */
export function isMadeOf(
  { derivedFrom, source }: MemoryRecord,
  { from, to }: Pick<Triple, 'from' | 'to'>,
): boolean {
  return (
    source !== 'consolidated' && derivedFrom.length === 2 && derivedFrom[0] === from && derivedFrom[1] === to
  );
}

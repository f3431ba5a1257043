import { endsOf, type RelationRecord, relationId, type Triple } from '../../domain/relation.ts';
import { formatInstant, type Instant } from '../../domain/time.ts';
import { compareCreated } from '../../store/comparison.ts';
import { exclusionOf } from '../../store/eligibility.ts';
import type { MemoryFilter, SpaceReader, Standing } from '../../store/store.ts';
import { supersededAmong } from '../belief/supersession.ts';
import type { StatedRelation } from './types.ts';

/** The point of view from which a graph is seen. */
export interface GraphLook {
  /** What is visible: scopes, and the time whose truth counts (`validAt`, default `now`). */
  readonly filter: Pick<MemoryFilter, 'scopes' | 'validAt' | 'deep'>;
  readonly now: Instant;
  /** The names of single-valued relations: a subject has one value at a time. */
  readonly singleValued: ReadonlySet<string>;
}

/** A memory, and a relation as it states it. */
export interface Stating {
  readonly memory: Standing;
  readonly relation: RelationRecord;
}

/** A relation that holds from a point of view, with all visible memories that state it; at least one does. */
export interface Edge extends Triple {
  readonly id: string;
  readonly stated: readonly Stating[];
}

/** Returns the memories that are visible. Cold ones are, although a recall only reaches them through links. */
export async function visibleAmong<Each extends Standing>(
  reader: SpaceReader,
  memories: readonly Each[],
  { filter, now }: GraphLook,
): Promise<readonly Each[]> {
  const ids = [...new Set(memories.map(({ id }) => id))];
  const superseded = filter.deep ? undefined : await supersededAmong(reader, ids, filter, now);
  const looking = { ...filter, cold: true };
  return memories.filter(
    (memory) => !superseded?.has(memory.id) && exclusionOf(memory, looking, now) === undefined,
  );
}

/** Returns the relations of these memories that hold: both ends and at least one statement are visible. Ordered by id. */
export async function edgesOf(
  reader: SpaceReader,
  ids: readonly string[],
  look: GraphLook,
  names?: ReadonlySet<string>,
): Promise<readonly Edge[]> {
  const touches = ({ name }: Triple) => names?.has(name) ?? true;
  const holding = await heldAmong(reader, await reader.stated({ ends: ids }), look);
  const found = await withoutReplaced(reader, holding, look);
  const edges = edgesFrom(found.filter(({ relation }) => touches(relation)));
  const ends = (await reader.standing(endsOf(edges))).filter((each) => each !== undefined);
  const visible = new Set((await visibleAmong(reader, ends, look)).map(({ id }) => id));
  return edges.filter(({ from, to }) => visible.has(from) && visible.has(to));
}

/** Returns the statements of visible memories whose relation has begun and not ended. */
export async function heldAmong(
  reader: SpaceReader,
  stated: readonly Stating[],
  look: GraphLook,
): Promise<readonly Stating[]> {
  const at = look.filter.validAt ?? look.now;
  const now = stated.filter(
    ({ relation: { validFrom = -Infinity, validUntil = Infinity } }) => validFrom <= at && at <= validUntil,
  );
  const memories = new Map(now.map(({ memory }) => [memory.id, memory]));
  const visible = new Set((await visibleAmong(reader, [...memories.values()], look)).map(({ id }) => id));
  return now.filter(({ memory }) => visible.has(memory.id));
}

/** Drops the values of single-valued relations that a later value has replaced. */
async function withoutReplaced(
  reader: SpaceReader,
  found: readonly Stating[],
  look: GraphLook,
): Promise<readonly Stating[]> {
  const latest = await latestOf(
    reader,
    found.map(({ relation }) => relation),
    look,
  );
  return found.filter(({ relation }) => (latest.get(subjectOf(relation)) ?? relation.to) === relation.to);
}

/**
 * Returns the current value of each subject, for the single-valued relations among these. For the keys see
 * {@link subjectOf}.
 */
export async function latestOf(
  reader: SpaceReader,
  relations: readonly Triple[],
  look: GraphLook,
): Promise<ReadonlyMap<string, string>> {
  const single = relations.filter(({ name }) => look.singleValued.has(name));
  if (single.length === 0) return new Map();
  const subjects = [...new Map(single.map((each) => [subjectOf(each), each])).values()];
  return latestStated(await heldAmong(reader, await reader.stated({ subjects }), look), look);
}

/** Returns the value of each subject that began last; if none has begun, the one that begins first. */
function latestStated(
  stated: readonly Stating[],
  { singleValued, filter, now }: GraphLook,
): ReadonlyMap<string, string> {
  const at = filter.validAt ?? now;
  const latest = new Map<string, Stating>();
  for (const each of stated) {
    if (!singleValued.has(each.relation.name)) continue;
    const key = subjectOf(each.relation);
    const known = latest.get(key);
    if (known === undefined || takesPlaceOf(each, known, at)) latest.set(key, each);
  }
  return new Map([...latest].map(([key, { relation }]) => [key, relation.to]));
}

/** Whether statement `a` of a single-valued relation replaces statement `b` at a moment. */
export function takesPlaceOf(a: Stating, b: Stating, at: Instant): boolean {
  const [begunA, begunB] = [beginOf(a) <= at, beginOf(b) <= at];
  if (begunA !== begunB) return begunA;
  const order = beginOf(a) - beginOf(b) || a.memory.ordinal - b.memory.ordinal;
  // One memory may state several values at once: the choice is arbitrary but stable.
  if (order === 0) return a.relation.to < b.relation.to;
  return begunA ? order > 0 : order < 0;
}

/** Returns since when a relation holds by a statement. If it does not say, since the memory was created. */
export function beginOf({ memory, relation }: Stating): Instant {
  return relation.validFrom ?? memory.validFrom ?? memory.createdAt;
}

/** Returns the key of a subject: the start and the name of a relation. */
export function subjectOf({ from, name }: Pick<Triple, 'from' | 'name'>): string {
  return JSON.stringify([from, name]);
}

function edgesFrom(stated: readonly Stating[]): readonly Edge[] {
  const edges = new Map<string, { readonly triple: Triple; readonly stated: Stating[] }>();
  for (const each of stated) {
    const { from, name, to } = each.relation;
    const id = relationId(each.relation);
    const edge = edges.get(id);
    if (edge) edge.stated.push(each);
    else edges.set(id, { triple: { from, name, to }, stated: [each] });
  }
  return [...edges]
    .map(([id, { triple, stated }]) => ({ id, ...triple, stated }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

function compareStating(a: Stating, b: Stating): number {
  return compareCreated(a.memory, b.memory);
}

/** Returns a relation as callers see it: the highest weight and confidence and the widest period of its statements. */
export function shownRelation({ id, from, name, to, stated }: Edge): StatedRelation {
  const all = stated.map(({ relation }) => relation);
  const froms = all.map(({ validFrom }) => validFrom);
  const untils = all.map(({ validUntil }) => validUntil);
  const since = froms.some((each) => each === undefined) ? undefined : Math.min(...(froms as number[]));
  const until = untils.some((each) => each === undefined) ? undefined : Math.max(...(untils as number[]));
  return {
    id,
    from,
    name,
    to,
    weight: Math.max(...all.map(({ weight }) => weight)),
    confidence: Math.max(...all.map(({ confidence }) => confidence)),
    ...(since === undefined ? {} : { validFrom: formatInstant(since) }),
    ...(until === undefined ? {} : { validUntil: formatInstant(until) }),
    statements: [...new Set(stated.toSorted(compareStating).map(({ memory }) => memory.id))],
  };
}

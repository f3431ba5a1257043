import { endsOf, type RelationRecord, relationId, type Triple } from '../../domain/relation.ts';
import { formatInstant, type Instant } from '../../domain/time.ts';
import { compareCreated } from '../../store/comparison.ts';
import { exclusionOf } from '../../store/eligibility.ts';
import type { MemoryFilter, SpaceReader, Standing } from '../../store/store.ts';
import { supersededAmong } from '../belief/supersession.ts';
import type { StatedRelation } from './types.ts';

/** From where, and when, one looks at a graph. */
export interface GraphLook {
  /** Of a filter, what decides what is visible: scopes, and the moment whose truth counts. */
  readonly filter: Pick<MemoryFilter, 'scopes' | 'validAt' | 'deep'>;
  readonly now: Instant;
  /** The names of which one value holds at a time. */
  readonly singleValued: ReadonlySet<string>;
}

/** One memory that states a relation, and how. */
export interface Stating {
  readonly memory: Standing;
  readonly relation: RelationRecord;
}

/** A relation that holds where and when one looks, with everything visible that states it; at least one memory does. */
export interface Edge extends Triple {
  readonly id: string;
  readonly stated: readonly Stating[];
}

/** Those of these memories that are visible; cold ones too, which links alone lead to. */
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

/** The relations of these memories that hold: both ends and at least one statement are visible. By id. */
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

/** What of this is stated by visible memories, and has begun and not ended. */
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

/** Without those that a later one of a single-valued name has taken the place of. */
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

/** Of the single-valued names among these, the value that holds of each subject; see {@link subjectOf}. */
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

/** The value that began last, or, where none has begun, first. */
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

/** Whether one statement of a single-valued name counts at a moment, and not another one. */
export function takesPlaceOf(a: Stating, b: Stating, at: Instant): boolean {
  const [begunA, begunB] = [beginOf(a) <= at, beginOf(b) <= at];
  if (begunA !== begunB) return begunA;
  const order = beginOf(a) - beginOf(b) || a.memory.ordinal - b.memory.ordinal;
  // What one memory says of several values at once has to be decided somehow, and the same way each time.
  if (order === 0) return a.relation.to < b.relation.to;
  return begunA ? order > 0 : order < 0;
}

/** Since when a statement says that a relation holds; without a word about it, since it is known. */
export function beginOf({ memory, relation }: Stating): Instant {
  return relation.validFrom ?? memory.validFrom ?? memory.createdAt;
}

/** What has one value at a time of a single-valued name. */
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

/** A relation as callers see it: the most that is said of it, and by whom. */
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

import type { MemoryRecord } from '../../domain/memory.ts';
import type { RelationRecord } from '../../domain/relation.ts';
import type { Instant } from '../../domain/time.ts';
import type { Change, SpaceReader } from '../../store/store.ts';
import { superseding } from '../belief/supersession.ts';
import { endOf, isMadeOf } from './restate.ts';
import { beginOf, heldAmong, type Stating, takesPlaceOf } from './view.ts';

/** A statement that is about to be written or is known already. A new one has no ordinal yet and counts as the last. */
export interface Told {
  readonly memory: MemoryRecord;
  readonly relation: RelationRecord;
}

/**
 * Finds the generated sentences that state an earlier value of a single-valued relation and nothing else. The new
 * statement supersedes them: if it is invalidated, forgotten or no longer valid, the earlier value is current again.
 */
export async function earlierSentences(
  reader: SpaceReader,
  told: Told,
  now: Instant,
): Promise<readonly string[]> {
  const others = await otherValues(reader, told);
  if (others.length === 0) return [];
  const look = { filter: { validAt: beginOf(told), deep: true }, now, singleValued: new Set<string>() };
  const held = await heldAmong(reader, unlessInvalidated(others), look);
  const earlier = await withoutLastinglyReplaced(
    reader,
    held.filter(
      (each) => takesPlaceOf(numbered(told), each, Infinity) && holdsWhereBelieved(told, each, now),
    ),
    told,
  );
  const found: string[] = [];
  for (const memory of await reader.get([...new Set(earlier.map(({ memory }) => memory.id))])) {
    if (memory && statesOnly(memory, told) && !(await leadsTo(reader, memory, told.memory.id)))
      found.push(memory.id);
  }
  return found;
}

/**
 * Whether the memory `told` is believed only while its relation holds, as far as `earlier` is concerned. People's own
 * words may be believed before and after their relation holds, and would hide the earlier value then too.
 */
function holdsWhereBelieved(told: Told, earlier: Stating, now: Instant): boolean {
  const { memory, relation } = told;
  if (isMadeOf(memory, relation)) return true;
  const until = Math.min(memory.validUntil ?? Infinity, endOf(earlier));
  return beginOf(told) <= now && until <= (relation.validUntil ?? Infinity);
}

/**
 * Drops statements that another memory already supersedes for at least as long as the new statement, or the earlier one
 * itself, holds. That supersession chain already hides them.
 */
async function withoutLastinglyReplaced(
  reader: SpaceReader,
  earlier: readonly Stating[],
  told: Told,
): Promise<readonly Stating[]> {
  const newer = await reader.find(
    'supersedes',
    earlier.map(({ memory }) => memory.id),
  );
  const replacedUntil = new Map<string, Instant>();
  for (const { id, supersedes, invalidatedAt, validFrom = -Infinity, validUntil = Infinity } of newer) {
    if (id === told.memory.id || invalidatedAt !== undefined || validFrom > beginOf(told)) continue;
    for (const older of supersedes)
      replacedUntil.set(older, Math.max(replacedUntil.get(older) ?? -Infinity, validUntil));
  }
  return earlier.filter(
    (each) => (replacedUntil.get(each.memory.id) ?? -Infinity) < Math.min(endOf(told), endOf(each)),
  );
}

/**
 * Finds the generated sentences that state a later value, if the new statement is told after them, and makes them
 * supersede it as if it had been told first. Usually that is only the nearest one. Further ones also do if the nearer
 * ones have ended by the time they begin.
 */
export async function laterSentences(
  reader: SpaceReader,
  told: Told,
  now: Instant,
): Promise<readonly Change[]> {
  const { memory: sentence, relation } = told;
  if (!isMadeOf(sentence, relation)) return [];
  const later = (await otherValues(reader, told))
    .filter((each) => takesPlaceOf(each, numbered(told), Infinity) && beginOf(each) <= endOf(told))
    .sort((a, b) => (takesPlaceOf(a, b, Infinity) ? 1 : -1));
  const nearer: Stating[] = [];
  const changes: Change[] = [];
  for (const each of later) {
    const begin = beginOf(each);
    if (nearer.some((one) => endOf(one) >= begin)) continue;
    // A superseded sentence counts too: `deep` includes it.
    const look = { filter: { validAt: begin, deep: true }, now, singleValued: new Set<string>() };
    if ((await heldAmong(reader, unlessInvalidated([each]), look)).length === 0) continue;
    const [memory] = await reader.get([each.memory.id]);
    if (!memory || !statesOnly(memory, told) || (await leadsTo(reader, sentence, memory.id))) continue;
    nearer.push(each);
    changes.push({ kind: 'replace', memory: superseding(memory, sentence) });
  }
  return changes;
}

/** Finds the statements of other values of a single-valued relation, in the scope of the new statement. */
async function otherValues(reader: SpaceReader, { memory, relation }: Told): Promise<readonly Stating[]> {
  const { from, name, to } = relation;
  if (!(await reader.settings()).singleValued.includes(name)) return [];
  return (await reader.stated({ subjects: [{ from, name }] })).filter(
    (each) => each.relation.to !== to && each.memory.scope === memory.scope && each.memory.id !== memory.id,
  );
}

function numbered({ memory, relation }: Told): Stating {
  return { memory: { ...memory, ordinal: memory.ordinal || Infinity }, relation };
}

/** Returns invalidated statements as if they were not: one that is reinstated must be superseded, or supersede, too. */
function unlessInvalidated(stated: readonly Stating[]): readonly Stating[] {
  return stated.map(({ memory, relation }) => ({
    memory: { ...memory, invalidatedAt: undefined },
    relation,
  }));
}

/** Whether a memory is a generated sentence about this relation of this subject, and says nothing else. */
function statesOnly(memory: MemoryRecord, { relation: { from, name } }: Pick<Told, 'relation'>): boolean {
  return (
    memory.relations?.some((each) => each.from === from && each.name === name && isMadeOf(memory, each)) ??
    false
  );
}

/**
 * Whether a memory supersedes `id`, directly or through a chain. If so, `id` must not supersede it too: that would be a
 * cycle.
 */
async function leadsTo(reader: SpaceReader, { supersedes }: MemoryRecord, id: string): Promise<boolean> {
  const below = new Set(supersedes);
  let level: readonly string[] = [...below];
  while (level.length > 0 && !below.has(id)) {
    const next = (await reader.get(level)).flatMap((memory) => memory?.supersedes ?? []);
    level = [...new Set(next)].filter((each) => !below.has(each));
    for (const each of level) below.add(each);
  }
  return below.has(id);
}

/**
 * Returns the memories that change because the generated sentences of two subjects are now about one: of the values of a
 * single-valued relation, the later ones supersede the earlier ones, as if all had been told of that subject. `moved` are
 * the sentences of the merged subject, which state relations of `subject` now; all of them are returned.
 */
export async function withJoinedValues(
  reader: SpaceReader,
  moved: readonly MemoryRecord[],
  subject: string,
  now: Instant,
): Promise<readonly MemoryRecord[]> {
  const written = new Map(moved.map((memory) => [memory.id, memory]));
  const isMoved = new Set(written.keys());
  const seen = withWritten(reader, written);
  const { singleValued } = await reader.settings();
  const names = namesOf(moved, [subject]).filter((name) => singleValued.includes(name));
  for (const told of await toldInOrder(seen, [subject], names)) {
    if (!isMadeOf(told.memory, told.relation)) continue;
    const earlier = (await earlierSentences(seen, told, now)).filter(
      (id) => isMoved.has(id) !== isMoved.has(told.memory.id),
    );
    await supersede(seen, written, told.memory.id, earlier);
  }
  return [...written.values()];
}

/**
 * Returns the memories that change because some sentences are about another subject again: a value no longer supersedes
 * those of the other subject, but the earlier ones of its own that they had replaced. `moved` are the memories that state
 * relations of another of the two `subjects` now; all of them are returned.
 */
export async function withPartedValues(
  reader: SpaceReader,
  moved: readonly MemoryRecord[],
  subjects: readonly [string, string],
  now: Instant,
): Promise<readonly MemoryRecord[]> {
  const written = new Map(moved.map((memory) => [memory.id, memory]));
  const seen = withWritten(reader, written);
  const all = await toldInOrder(seen, subjects, namesOf(moved, subjects));
  const parted: Told[] = [];
  for (const { memory, relation } of all) {
    if (memory.supersedes.length === 0) continue;
    const [current = memory] = await seen.get([memory.id]);
    const [from] = subjects.filter((each) => each !== relation.from) as [string];
    const strange = (await seen.get(current.supersedes)).flatMap((each) =>
      each && statesOnly(each, { relation: { ...relation, from } }) ? [each.id] : [],
    );
    if (strange.length === 0) continue;
    const supersedes = current.supersedes.filter((id) => !strange.includes(id));
    written.set(memory.id, { ...current, supersedes });
    parted.push({ memory, relation });
  }
  for (const { memory, relation } of parted) {
    const [current = memory] = await seen.get([memory.id]);
    const earlier = await earlierSentences(seen, { memory: current, relation }, now);
    await supersede(seen, written, memory.id, earlier);
  }
  return [...written.values()];
}

async function supersede(
  reader: SpaceReader,
  written: Map<string, MemoryRecord>,
  id: string,
  earlier: readonly string[],
): Promise<void> {
  const [memory] = await reader.get([id]);
  const older = (await reader.get(earlier)).filter((each) => each !== undefined);
  if (memory && older.length > 0) written.set(id, older.reduce(superseding, memory));
}

/** Returns the names of the relations that memories state of these subjects. */
function namesOf(memories: readonly MemoryRecord[], subjects: readonly string[]): readonly string[] {
  const relations = memories.flatMap(({ relations = [] }) => relations);
  return [...new Set(relations.filter(({ from }) => subjects.includes(from)).map(({ name }) => name))];
}

/** Reads the statements of these relations of these subjects, the one that began first first. Leaves out entities. */
async function toldInOrder(
  reader: SpaceReader,
  subjects: readonly string[],
  names: readonly string[],
): Promise<readonly Told[]> {
  if (names.length === 0) return [];
  const stated = await reader.stated({
    subjects: subjects.flatMap((from) => names.map((name) => ({ from, name }))),
  });
  const memories = await reader.get(stated.map(({ memory }) => memory.id));
  return stated
    .map((each, at) => ({ ...each, whole: memories[at] }))
    .sort((a, b) => (takesPlaceOf(a, b, Infinity) ? 1 : -1))
    .flatMap(({ whole, relation }) =>
      whole && whole.type !== 'entity' ? [{ memory: whole, relation }] : [],
    );
}

/** Returns a reader that reads memories as they are about to be written. */
function withWritten(reader: SpaceReader, written: ReadonlyMap<string, MemoryRecord>): SpaceReader {
  return {
    ...reader,
    async get(ids) {
      return (await reader.get(ids)).map((memory) => memory && (written.get(memory.id) ?? memory));
    },
    async find(by, values) {
      if (by !== 'supersedes') return reader.find(by, values);
      const stored = (await reader.find(by, values)).filter(({ id }) => !written.has(id));
      const others = [...written.values()].filter(({ supersedes }) =>
        supersedes.some((id) => values.includes(id)),
      );
      return [...stored, ...others];
    },
    async stated(query) {
      const stored = (await reader.stated(query)).filter(({ memory }) => !written.has(memory.id));
      if ('ends' in query) return stored;
      const others = [...written.values()].flatMap((memory) =>
        (memory.relations ?? [])
          .filter(({ from, name }) => query.subjects.some((each) => each.from === from && each.name === name))
          .map((relation) => ({ memory, relation })),
      );
      return [...stored, ...others];
    },
  };
}

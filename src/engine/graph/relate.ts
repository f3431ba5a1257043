import { atMost, invalidArgument, texts } from '../../domain/check.ts';
import { SalienceError } from '../../domain/errors.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import {
  isSameTriple,
  MOST_RELATIONS,
  type RelationRecord,
  relationId,
  relationName,
  relationOf,
  relationText,
  type Triple,
  withRelations,
} from '../../domain/relation.ts';
import { parseScope } from '../../domain/scope.ts';
import { type Instant, parseInstant } from '../../domain/time.ts';
import type { Change, SpaceReader } from '../../store/store.ts';
import { superseding } from '../belief/supersession.ts';
import { type Dependencies, momentOf, notFound } from '../dependencies.ts';
import { inactiveOf } from '../write/plan.ts';
import { rememberStatement } from '../write/remember.ts';
import { lookOf, meantBy } from './resolve.ts';
import { endedSentence, endOf, isMadeOf, sentenceValidity } from './restate.ts';
import type { RelateOptions, RelateResult, UnrelateOptions, UnrelateResult } from './types.ts';
import { beginOf, type Edge, heldAmong, type Stating, shownRelation, takesPlaceOf } from './view.ts';

/**
 * States a relation between two memories, each given by id or by the name of an entity. Without `statedBy` it remembers
 * a sentence that states it. Throws `not_found`, `invalid_argument`.
 */
export async function relate(
  engine: Dependencies,
  from: string,
  name: string,
  to: string,
  options: RelateOptions = {},
): Promise<RelateResult> {
  const { content, statedBy, weight, confidence, validFrom, validUntil, signal } = options;
  if (content !== undefined && statedBy !== undefined)
    throw invalidArgument('statedBy', 'give content or statedBy, not both');
  const now = momentOf(engine, options);
  const [source, target] = await endsMeant(engine, from, to, options);
  const given = { from: source.id, name, to: target.id, weight, confidence, validFrom, validUntil };
  const relation = relationOf(given);
  const sentence = relationText(nameOf(source), relation.name, nameOf(target));
  if (statedBy) {
    const ids = texts(statedBy, 'statedBy', 100, 128);
    const memories = await addTo(engine, ids, relation, now);
    return resultOf(relation, sentence, memories, 'updated');
  }
  const input = {
    content: content ?? sentence,
    scope: options.scope,
    sessionId: options.sessionId,
    // The generated sentence says nothing else, so validity and confidence of the relation are also its own.
    ...(content === undefined ? { validFrom, validUntil, confidence } : {}),
    relations: [given],
  };
  const { id, outcome } = await rememberStatement(
    engine,
    input,
    { signal, now: options.now },
    {
      verb: 'relate',
      derivedFrom: content === undefined ? [source.id, target.id] : [],
      supersedes: (reader, memory) => earlierSentences(reader, { memory, relation }, now),
      furtherChanges: async (reader, [memory]) =>
        memory ? laterSentences(reader, { memory, relation }, now) : [],
    },
  );
  const [memory] = await engine.space.get([id]);
  if (!memory) throw notFound(id, engine.space.name);
  return resultOf(relation, sentence, [memory], outcome);
}

/** Ends a relation: sets the end in every memory that states it. Throws `not_found` if none does. */
export async function unrelate(
  engine: Dependencies,
  from: string,
  name: string,
  to: string,
  options: UnrelateOptions = {},
): Promise<UnrelateResult> {
  const now = momentOf(engine, options);
  const at = options.endedAt === undefined ? now : parseInstant(options.endedAt, 'endedAt');
  const scope = options.scope === undefined ? undefined : parseScope(options.scope);
  const [source, target] = await endsMeant(engine, from, to, options);
  const triple: Triple = { from: source.id, name: relationName(name, 'name'), to: target.id };
  return engine.space.write({ verb: 'unrelate', at: now }, async (reader) => {
    const stating = await reader.find('relations', [relationId(triple)]);
    const holding = stating.filter(
      (memory) =>
        (scope === undefined || memory.scope === scope) &&
        memory.relations?.some((each) => isSameTriple(each, triple) && (each.validUntil ?? Infinity) >= at),
    );
    if (holding.length === 0) {
      const where = scope === undefined ? '' : ` in scope ${JSON.stringify(scope)}`;
      throw new SalienceError(
        'not_found',
        `no memory${where} states that ${JSON.stringify(triple.from)} ${triple.name} ${JSON.stringify(triple.to)}; neighbours lists the current relations`,
        { details: { ...triple } },
      );
    }
    const changed = new Map(holding.map((memory) => [memory.id, ended(memory, triple, at, now)]));
    for (const memory of await replacedBy(reader, holding, triple, at))
      changed.set(memory.id, { ...memory, validUntil: at - 1 });
    for (const { memory, relation } of await earlierValues(reader, holding, triple, at, now)) {
      const stored = changed.get(memory.id) ?? (await reader.get([memory.id]))[0];
      const isIt = ({ validFrom }: RelationRecord) => validFrom === relation.validFrom;
      if (stored) changed.set(stored.id, ended(stored, relation, at, now, isIt));
    }
    return {
      changes: [...changed.values()].map((memory): Change => ({ kind: 'replace', memory })),
      result: {
        id: relationId(triple),
        sentence: relationText(nameOf(source), triple.name, nameOf(target)),
        statements: holding.map(({ id }) => id),
      },
    };
  });
}

/**
 * Finds the generated sentences that the ending ones superseded, directly or through a chain. They end too: if Ada
 * moves out of Rome, she does not live in Paris again. A value that had not begun has not replaced anything yet.
 */
async function replacedBy(
  reader: SpaceReader,
  holding: readonly MemoryRecord[],
  triple: Triple,
  at: Instant,
): Promise<readonly MemoryRecord[]> {
  const found = new Map<string, MemoryRecord>();
  const isOther = (memory: MemoryRecord) =>
    (memory.validUntil ?? Infinity) >= at &&
    memory.relations?.some(
      (each) => each.from === triple.from && each.name === triple.name && isMadeOf(memory, each),
    );
  let level = holding.filter((memory) => isMadeOf(memory, triple) && (memory.validFrom ?? -Infinity) < at);
  while (level.length > 0) {
    const ids = level.flatMap(({ supersedes }) => supersedes).filter((id) => !found.has(id));
    level = (await reader.get([...new Set(ids)])).flatMap((memory) =>
      memory && isOther(memory) ? [memory] : [],
    );
    for (const memory of level) found.set(memory.id, memory);
  }
  return [...found.values()];
}

/**
 * Finds the statements of earlier values, in people's own words too: they would count again, also those that are
 * superseded by one that ends. Only in the scope of an ending statement: from another scope the later value may not be
 * visible.
 */
async function earlierValues(
  reader: SpaceReader,
  holding: readonly MemoryRecord[],
  triple: Triple,
  at: Instant,
  now: Instant,
): Promise<readonly Stating[]> {
  if (!(await reader.settings()).singleValued.includes(triple.name)) return [];
  const stated = await reader.stated({ subjects: [triple] });
  const ids = new Set(holding.map(({ id }) => id));
  const ending = stated.filter(
    ({ memory, relation }) =>
      ids.has(memory.id) &&
      isSameTriple(relation, triple) &&
      (relation.validFrom ?? memory.validFrom ?? -Infinity) < at,
  );
  const look = { filter: { validAt: at, deep: true }, now, singleValued: new Set<string>() };
  return (await heldAmong(reader, stated, look)).filter(
    (each) =>
      each.relation.to !== triple.to &&
      ending.some((one) => one.memory.scope === each.memory.scope && takesPlaceOf(one, each, Infinity)),
  );
}

/**
 * Returns a memory in which a relation ends before the moment `at`. A generated sentence, which says nothing else, ends
 * with it.
 */
function ended(
  memory: MemoryRecord,
  triple: Triple,
  at: Instant,
  now: Instant,
  isMeant: (relation: RelationRecord) => boolean = () => true,
): MemoryRecord {
  const until = at - 1;
  const relations = (memory.relations ?? []).flatMap((each) => {
    if (!isSameTriple(each, triple) || !isMeant(each) || (each.validUntil ?? Infinity) < at) return [each];
    // A relation that was to begin later never held.
    return (each.validFrom ?? -Infinity) > until ? [] : [{ ...each, validUntil: until }];
  });
  return {
    ...memory,
    relations: relations.length === 0 ? undefined : relations,
    ...(isMadeOf(memory, triple) ? endedSentence(memory, at, now) : {}),
  };
}

/** A statement that is about to be written or is known already. A new one has no ordinal yet and counts as the last. */
interface Told {
  readonly memory: MemoryRecord;
  readonly relation: RelationRecord;
}

/**
 * Finds the generated sentences that state an earlier value of a single-valued relation and nothing else. The new
 * statement supersedes them: if it is invalidated, forgotten or no longer valid, the earlier value is current again.
 */
async function earlierSentences(reader: SpaceReader, told: Told, now: Instant): Promise<readonly string[]> {
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
async function laterSentences(reader: SpaceReader, told: Told, now: Instant): Promise<readonly Change[]> {
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
function statesOnly(memory: MemoryRecord, { relation: { from, name } }: Told): boolean {
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

async function addTo(
  engine: Dependencies,
  ids: readonly string[],
  relation: RelationRecord,
  at: number,
): Promise<readonly MemoryRecord[]> {
  if (ids.length === 0) throw invalidArgument('statedBy', 'name at least one memory, or leave it out');
  return engine.space.write({ verb: 'relate', at }, async (reader) => {
    const memories: MemoryRecord[] = [];
    for (const [index, memory] of (await reader.get(ids)).entries()) {
      if (!memory) throw notFound(ids[index] as string, engine.space.name);
      const united = withRelations(memory.relations ?? [], [relation]);
      const relations = atMost(united, MOST_RELATIONS, `statedBy[${index}]`, 'relations');
      const stating = { ...memory, relations, ...sentenceValidity(memory, relations) };
      // A memory in `statedBy` states the same value and is not superseded.
      const earlier = (await earlierSentences(reader, { memory, relation }, at)).filter(
        (id) => !ids.includes(id),
      );
      const replaced = (await reader.get(earlier)).filter((each) => each !== undefined);
      memories.push(replaced.reduce(superseding, stating));
    }
    return {
      changes: memories.map((memory): Change => ({ kind: 'replace', memory })),
      result: memories,
    };
  });
}

async function endsMeant(
  engine: Dependencies,
  from: string,
  to: string,
  options: { readonly scope?: string | undefined; readonly now?: string | Date | undefined },
): Promise<readonly [MemoryRecord, MemoryRecord]> {
  const look = await lookOf(engine, { scope: options.scope, now: options.now });
  const { name } = engine.space;
  return [
    await meantBy(engine.space, from, 'from', look, name),
    await meantBy(engine.space, to, 'to', look, name),
  ];
}

/** Returns how a memory is named in a generated sentence. */
export function nameOf({ title, content }: Pick<MemoryRecord, 'title' | 'content'>): string {
  return title ?? content;
}

function resultOf(
  relation: RelationRecord,
  sentence: string,
  memories: readonly MemoryRecord[],
  outcome: RelateResult['outcome'],
): RelateResult {
  const { from, name, to } = relation;
  const edge: Edge = {
    id: relationId(relation),
    from,
    name,
    to,
    stated: memories.map((memory) => ({ memory, relation })),
  };
  const [first] = memories;
  const isInactive = memories.every(({ invalidatedAt }) => invalidatedAt !== undefined);
  return {
    relation: shownRelation(edge),
    sentence,
    outcome,
    ...(first && isInactive ? { inactive: inactiveOf(first.invalidatedAt, first.invalidReason) } : {}),
  };
}

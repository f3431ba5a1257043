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
import { readAfterWrite } from '../after-write.ts';
import { superseding } from '../belief/supersession.ts';
import { type Dependencies, momentOf, notFound } from '../dependencies.ts';
import { inactiveOf } from '../write/plan.ts';
import { rememberStatement } from '../write/remember.ts';
import { lookOf, meantBy } from './resolve.ts';
import { endedSentence, isMadeOf, sentenceValidity } from './restate.ts';
import type { RelateOptions, RelateResult, UnrelateOptions, UnrelateResult } from './types.ts';
import { earlierSentences, laterSentences, type Told } from './values.ts';
import { type Edge, heldAmong, type Stating, shownRelation, takesPlaceOf } from './view.ts';

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
  const [memory] = await readAfterWrite(() => engine.space.get([id]));
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
    for (const { memory, relation } of await replacedBy(reader, holding, triple, at))
      changed.set(
        memory.id,
        ended(memory, relation, at, now, ({ validFrom = -Infinity }) => validFrom < at),
      );
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
): Promise<readonly Told[]> {
  const found = new Map<string, Told>();
  const otherValue = (memory: MemoryRecord) =>
    (memory.validUntil ?? Infinity) >= at
      ? memory.relations?.find(
          (each) => each.from === triple.from && each.name === triple.name && isMadeOf(memory, each),
        )
      : undefined;
  let level = holding.filter((memory) => isMadeOf(memory, triple) && (memory.validFrom ?? -Infinity) < at);
  while (level.length > 0) {
    const ids = level.flatMap(({ supersedes }) => supersedes).filter((id) => !found.has(id));
    level = (await reader.get([...new Set(ids)])).flatMap((memory) => {
      const relation = memory && otherValue(memory);
      if (!relation) return [];
      found.set(memory.id, { memory, relation });
      return [memory];
    });
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
 * with it, unless it also states a later period that is not meant.
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
  const isOver = relations.every((each) => !isSameTriple(each, triple) || (each.validUntil ?? Infinity) < at);
  return {
    ...memory,
    relations: relations.length === 0 ? undefined : relations,
    ...(isMadeOf(memory, triple) && isOver ? endedSentence(memory, at, now) : {}),
  };
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

import { invalidArgument, text, texts } from '../../domain/check.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { foldedName, namesOfEntity, type RelationRecord, withAliases } from '../../domain/relation.ts';
import type { Instant } from '../../domain/time.ts';
import type { Change, IndexedText, MemoryEvent, SpaceReader } from '../../store/store.ts';
import { affirmed } from '../../store/tiers.ts';
import { mentionsIn } from '../../text/mentions.ts';
import { readAfterWrite } from '../after-write.ts';
import { type Dependencies, momentOf, notFound } from '../dependencies.ts';
import { optimistically } from '../optimistically.ts';
import { shown } from '../recall/shown.ts';
import { deriveTexts, sameText } from '../write/derive.ts';
import { newRecord, revised } from '../write/record.ts';
import { derivationOf } from '../write/write.ts';
import { checkEntity } from './merge.ts';
import { lookOf, meantBy } from './resolve.ts';
import { endedSentence, isMadeOf, joined, renamed, restating, withoutRelations } from './restate.ts';
import type { SplitOptions, SplitResult } from './types.ts';
import { withPartedValues } from './values.ts';
import type { GraphLook } from './view.ts';

/** A memory that is written; `before` is missing if it is new. */
interface Written {
  readonly before: MemoryRecord | undefined;
  readonly memory: MemoryRecord;
}

interface Plan {
  /** The entity that stays, the one that is split off, then the merged entities between the two, which are changed too. */
  readonly written: readonly [Written, Written, ...Written[]];
  /** The ids of the memories whose relations move to the other entity. */
  readonly moved: readonly string[];
  /** These memories, and those that no longer supersede a value of the other entity, as they are written. */
  readonly changed: readonly MemoryRecord[];
}

/**
 * Splits an entity in two. The other entity gets the name, further names, and the memories that state its relations. If
 * an entity of this name was merged into this one, directly or through others, it is restored under its id. Throws
 * `not_found`, `invalid_argument`.
 */
export async function splitEntity(
  engine: Dependencies,
  entity: string,
  name: string,
  options: SplitOptions = {},
): Promise<SplitResult> {
  const now = momentOf(engine, options);
  const look = await lookOf(engine, { now: options.now });
  const { id } = await meantBy(engine.space, entity, 'entity', look, engine.space.name);
  const newId = engine.newId(now);
  const planned = (reader: SpaceReader) => planSplit(engine, reader, { id, name, options, now, newId, look });
  const changed = ({ written }: Plan) =>
    written.filter(({ before, memory }) => !before || !sameText(before, memory)).map(({ memory }) => memory);
  const { result } = await optimistically(
    engine.space,
    { verb: 'splitEntity', at: now },
    {
      async prepare(reader) {
        const texts = changed(await planned(reader));
        return { texts, indexed: await deriveTexts(texts, engine, options) };
      },
      async decide(reader, { texts, indexed }) {
        const plan = await planned(reader);
        const again = changed(plan);
        if (again.length !== texts.length || again.some((each, at) => !isText(each, texts[at])))
          return undefined;
        const textOf = new Map(again.map((memory, at) => [memory.id, indexed[at] as IndexedText]));
        return {
          changes: [
            ...plan.written.map(({ before, memory }) => changeOf(before, memory, textOf.get(memory.id))),
            ...plan.changed.map((memory): Change => ({ kind: 'replace', memory })),
          ],
          result: plan,
          ...derivationOf(engine, indexed),
        };
      },
    },
    options.signal,
  );
  const [kept, other] = result.written;
  return readAfterWrite(async () => ({
    entity: await shown(engine, kept.memory, now),
    split: await shown(engine, other.memory, now),
    statements: result.moved,
  }));
}

function isText(a: MemoryRecord, b: MemoryRecord | undefined): boolean {
  return b !== undefined && a.id === b.id && sameText(a, b);
}

function changeOf(
  before: MemoryRecord | undefined,
  memory: MemoryRecord,
  indexed: IndexedText | undefined,
): Change {
  if (before) return { kind: 'replace', memory, ...(indexed ? { indexed } : {}) };
  if (!indexed) throw new Error('the text of a new entity was not analysed');
  return { kind: 'insert', memory, indexed };
}

interface Asked {
  readonly id: string;
  readonly name: string;
  readonly options: SplitOptions;
  readonly now: Instant;
  readonly newId: string;
  readonly look: GraphLook;
}

async function planSplit(
  engine: Dependencies,
  reader: SpaceReader,
  { id, name, options, now, newId, look }: Asked,
): Promise<Plan> {
  const [known] = await reader.get([id]);
  if (!known) throw notFound(id, engine.space.name);
  await checkEntity(reader, known, 'entity', look);
  const said = text(name, 'name', { maxCharacters: 200 });
  // If it is an alias, its spelling there is kept.
  const title = known.aliases?.find((each) => foldedName(each) === foldedName(said)) ?? said;
  const merged = await mergedAs(reader, known, title);
  const aliases = options.aliases === undefined ? [] : texts(options.aliases, 'aliases', 64, 200);
  const other = merged
    ? retold(await affirmed(reader, merged.memory, now), aliases, options, now)
    : newRecord(
        {
          id: newId,
          type: 'entity',
          title,
          content: options.content ?? title,
          kind: options.kind ?? known.kind,
          scope: known.scope,
          ...(aliases.length === 0 ? {} : { aliases }),
        },
        { now, newId: () => newId, limits: engine.limits },
      );
  const [kept = known, ...middle] = await Promise.all(
    (merged?.within ?? [known]).map((each, at, all) =>
      parted(reader, each, other, all[at + 1] ?? merged?.memory, now),
    ),
  );
  const parts = new Set([id, other.id, ...middle.map((each) => each.id)]);
  const stating = (await reader.find('ends', [id])).filter((each) => !parts.has(each.id));
  const moving = chosen(engine, stating, kept, other, options.statements);
  const moved = new Map(moving.map((memory) => [memory.id, restating(memory, id, other.id, now)]));
  const lost = merged ? await relatingAgain(reader, merged, id, moved) : [];
  for (const memory of lost) moved.set(memory.id, memory);
  return {
    written: [
      { before: known, memory: kept },
      { before: merged?.memory, memory: other },
      ...middle.map((memory, at) => ({ before: merged?.within[at + 1], memory })),
    ],
    moved: [...moved.keys()],
    changed: await withPartedValues(reader, [...moved.values()], [id, other.id], now),
  };
}

/**
 * Returns an entity without the names of `other`, and without the relations that came with `next` when that was merged
 * into it. `next` may be `other` itself.
 */
async function parted(
  reader: SpaceReader,
  known: MemoryRecord,
  other: MemoryRecord,
  next: MemoryRecord | undefined,
  now: Instant,
): Promise<MemoryRecord> {
  const whole = await affirmed(reader, known, now);
  const before = next && (await mergeOf(reader, known.id, next.id))?.before;
  const taken = new Set(namesOfEntity(other));
  const left = known.aliases?.filter((each) => !taken.has(foldedName(each)));
  return revised(whole, {
    ...whole,
    aliases: left?.length === 0 ? undefined : left,
    supersedes: known.supersedes.filter((each) => each !== other.id),
    relations: next
      ? joined(
          withoutRelations(known, other, before) ?? [],
          next.id === other.id ? between(before, known.id, other.id) : [],
        )
      : whole.relations,
    updatedAt: Math.max(known.updatedAt, now),
  });
}

/** Returns the event of an entity in which `merged` was merged into it. */
async function mergeOf(reader: SpaceReader, id: string, merged: string): Promise<MemoryEvent | undefined> {
  const history = await reader.history(id);
  return history.findLast(({ before }) => before && !before.supersedes.includes(merged));
}

/** Returns the relations of a memory that have these two ends, in either direction. */
function between(memory: MemoryRecord | undefined, a: string, b: string): readonly RelationRecord[] {
  return (memory?.relations ?? []).filter(
    ({ from, to }) => (from === a && to === b) || (from === b && to === a),
  );
}

/**
 * Returns the memories that stated relations between a merged entity and the one that it was merged into, so that they
 * state them again, of the entity `kept`. The merge had ended these relations. `moved` are memories that change already.
 */
async function relatingAgain(
  reader: SpaceReader,
  { memory: { id: merged }, within }: Merged,
  kept: string,
  moved: ReadonlyMap<string, MemoryRecord>,
): Promise<readonly MemoryRecord[]> {
  const { id: into } = within.at(-1) as MemoryRecord;
  const merge = await mergeOf(reader, into, merged);
  if (!merge) return [];
  const lost = (await reader.operation(merge.operation)).flatMap(({ memoryId, before }) =>
    before && memoryId !== into && memoryId !== merged && between(before, into, merged).length > 0
      ? [before]
      : [],
  );
  const present = await reader.get(lost.map(({ id }) => id));
  return lost.flatMap((before, at) => {
    const memory = moved.get(before.id) ?? present[at];
    if (!memory) return [];
    const relations = joined(memory.relations ?? [], renamed(between(before, into, merged), into, kept));
    if (!between(before, into, merged).some((each) => isMadeOf(before, each)))
      return [{ ...memory, relations }];
    const { validUntil, invalidatedAt, invalidReason } = before;
    const ended = { validUntil, invalidatedAt, invalidReason, ...endedSentence(before, merge.at, merge.at) };
    // If it was changed since, the change stays.
    const isAsEnded = memory.validUntil === ended.validUntil && memory.invalidatedAt === ended.invalidatedAt;
    return [
      {
        ...memory,
        relations,
        derivedFrom: before.derivedFrom.map((id) => (id === into ? kept : id)),
        ...(isAsEnded ? { validUntil, invalidatedAt, invalidReason } : {}),
      },
    ];
  });
}

/** An entity that was merged into another one. */
interface Merged {
  readonly memory: MemoryRecord;
  /** The chain of merges: from the visible entity down to the one that it was merged into. */
  readonly within: readonly [MemoryRecord, ...MemoryRecord[]];
}

/** Finds the nearest merged entity with this title. Throws `invalid_argument` if there are several. */
async function mergedAs(reader: SpaceReader, known: MemoryRecord, name: string): Promise<Merged | undefined> {
  const looked = new Set([known.id]);
  let wholes: readonly Merged['within'][] = [[known]];
  while (wholes.length > 0) {
    const parts: Merged[] = [];
    for (const within of wholes) {
      const last = within.at(-1) as MemoryRecord;
      for (const memory of await reader.get(last.supersedes)) {
        if (memory?.type !== 'entity' || looked.has(memory.id)) continue;
        looked.add(memory.id);
        parts.push({ memory, within });
      }
    }
    const found = parts.filter(
      ({ memory: { title } }) => title !== undefined && foldedName(title) === foldedName(name),
    );
    if (found.length > 1) {
      const ids = found.map(({ memory }) => JSON.stringify(memory.id)).join(', ');
      throw invalidArgument(
        'name',
        `it names several entities that were merged: ${ids}; undo the merges instead`,
      );
    }
    if (found[0]) return found[0];
    wholes = parts.map(({ memory, within }) => [...within, memory]);
  }
  return undefined;
}

/** Returns a restored entity with the aliases and kind that the caller gives. */
function retold(
  memory: MemoryRecord,
  aliases: readonly string[],
  { kind, content }: SplitOptions,
  now: Instant,
): MemoryRecord {
  if (content !== undefined)
    throw invalidArgument('content', 'this entity was merged and comes back as it was; update it afterwards');
  return revised(memory, {
    ...memory,
    aliases: withAliases(memory, aliases),
    kind: kind ?? memory.kind,
    updatedAt: Math.max(memory.updatedAt, now),
  });
}

/**
 * Returns the memories whose relations move: those that the caller names, or those whose text names only the other
 * entity. Throws `invalid_argument`.
 */
function chosen(
  { space }: Dependencies,
  stating: readonly MemoryRecord[],
  kept: MemoryRecord,
  other: MemoryRecord,
  named: readonly string[] | undefined,
): readonly MemoryRecord[] {
  if (named === undefined) {
    const things = [kept, other].map(({ id, title, aliases = [], kind }) => ({
      id,
      names: title === undefined ? aliases : [title, ...aliases],
      kind,
    }));
    return stating.filter(({ title, content }) => {
      const found = mentionsIn([title ?? [], content].flat().join('\n'), things).map(({ id }) => id);
      return found.includes(other.id) && !found.includes(kept.id);
    });
  }
  const byId = new Map(stating.map((memory) => [memory.id, memory]));
  return texts(named, 'statements', 1000, 128).map((id) => {
    const memory = byId.get(id);
    if (memory) return memory;
    throw invalidArgument(
      'statements',
      `memory ${JSON.stringify(id)} states no relation of ${JSON.stringify(kept.id)} in space ${JSON.stringify(space.name)}; neighbours lists the ones that do`,
    );
  });
}

import type { MemoryRecord } from '../../domain/memory.ts';
import { namesOfEntity } from '../../domain/relation.ts';
import type { Instant } from '../../domain/time.ts';
import { isSuperseded } from '../../store/belief-state.ts';
import { isBelieved } from '../../store/eligibility.ts';
import type { Change, IndexedText, Link, SpaceReader, Verb, Vote } from '../../store/store.ts';
import { withFullText } from '../../store/tiers.ts';
import { saysAllOf } from '../belief/near-duplicate.ts';
import { chainsAbove, rejoined } from '../belief/supersession.ts';
import { standsIn } from '../observe/stated.ts';
import {
  combinedRelations,
  combinedTags,
  isAutomaticSummary,
  listedContent,
  type Reinstated,
  reinstatedAmong,
} from './derived.ts';

/** A plan for forgetting memories, made from what the store holds: before the write, and again within it. */
export interface Forgetting {
  /** The ids of the memories that are erased: those that were named, then what was made from them. */
  readonly forgotten: readonly string[];
  /** Consolidations that are rebuilt under their own ids from the originals that stay. */
  readonly rebuilt: readonly Rebuilt[];
  /** Originals that are recalled on their own again, because their consolidation is forgotten or no longer contains them. */
  readonly reinstated: readonly Reinstated[];
  /** The ids of memories that may say the same in other words, and are kept. */
  readonly mayStillSay: readonly string[];
  /** Other changes: supersession chains that lose a member, relations that lose an end, reasons of tombstones. */
  readonly others: readonly Change[];
}

interface Rebuilt {
  readonly memory: MemoryRecord;
  readonly votes: readonly Vote[];
  readonly links: readonly Link[];
  /** The ids of originals that stay but are left out, because they are invalidated or superseded. */
  readonly unstated: readonly string[];
}

/** A memory with all its earlier versions. `present` is missing if it was removed. */
interface Known {
  readonly present: MemoryRecord | undefined;
  readonly versions: readonly MemoryRecord[];
  /** The operations that may have copied text from one memory into another, see {@link HANDING_ON}. */
  readonly handings: readonly number[];
}

/**
 * Plans the forgetting of memories, with what was made from them:
 * - An automatic summary, or a consolidation that a model wrote, is forgotten too. The originals of the consolidation
 *   are reinstated.
 * - A consolidation that only lists its originals is rebuilt without the forgotten ones, and without those that were
 *   invalidated or superseded since.
 * - Entities that were merged into a forgotten entity are forgotten.
 * Ids that the space does not know are ignored.
 */
export async function planForgetting(
  reader: SpaceReader,
  ids: readonly string[],
  now: Instant,
): Promise<Forgetting> {
  const removed = await reader.removed();
  const going = new Map<string, Known>();
  const rebuilt = new Map<string, Rebuilt>();
  const consolidations = new Map<string, MemoryRecord>();
  let next: readonly string[] = [...new Set(ids)];
  while (next.length > 0) {
    const fresh = new Map<string, Known>();
    for (const id of next) {
      const known = await knownOf(reader, id);
      if (known) fresh.set(id, known);
    }
    for (const [id, known] of fresh) going.set(id, known);
    const made = await madeOf(reader, removed, fresh);
    for (const memory of made) {
      if (memory.source === 'consolidated' && !removed.includes(memory))
        consolidations.set(memory.id, memory);
    }
    rebuilt.clear();
    const doomed: string[] = [];
    for (const memory of consolidations.values()) {
      if (going.has(memory.id)) continue;
      const again = await joinedAgain(reader, memory, going, now);
      if (again) rebuilt.set(memory.id, again);
      else doomed.push(memory.id);
    }
    const others = made.filter(({ id }) => !consolidations.has(id)).map(({ id }) => id);
    const parts = await partsOf(reader, fresh);
    next = [...new Set([...doomed, ...others, ...parts])].filter((id) => !going.has(id));
  }
  const reinstated = await originalsOf(reader, going, rebuilt);
  const changed = new Map(await successorsOf(reader, going));
  const stating = await statingOf(reader, going);
  for (const memory of stating) changed.set(memory.id, withoutEnds(changed.get(memory.id) ?? memory, going));
  return {
    forgotten: [...going.keys()],
    rebuilt: [...rebuilt.values()].map((each) => {
      const successor = changed.get(each.memory.id);
      changed.delete(each.memory.id);
      return successor ? { ...each, memory: changedAs(each.memory, successor, going) } : each;
    }),
    reinstated: reinstated.map((each) => {
      const successor = changed.get(each.memory.id);
      changed.delete(each.memory.id);
      return successor ? { ...each, memory: changedAs(each.memory, successor, going) } : each;
    }),
    mayStillSay: [...new Set([...(await sayersOf(reader, going)), ...stating.map(({ id }) => id)])].filter(
      (id) => !going.has(id) && !rebuilt.has(id),
    ),
    others: [
      ...[...changed.values()].map((memory): Change => ({ kind: 'replace', memory })),
      ...(await reasonsOf(reader, going, rebuilt)),
    ],
  };
}

/** Returns the memories of a plan whose texts must be indexed again. */
export function textsOf({ rebuilt, reinstated }: Forgetting): readonly MemoryRecord[] {
  return [
    ...rebuilt.map(({ memory }) => memory),
    ...reinstated.filter(({ wasArchived }) => wasArchived).map(({ memory }) => memory),
  ];
}

/** Returns the changes of a plan. `indexed` is what was derived from {@link textsOf}, in that order. */
export function changesOf(plan: Forgetting, indexed: readonly IndexedText[]): readonly Change[] {
  const texts = new Map(textsOf(plan).map(({ id }, at) => [id, indexed[at] as IndexedText]));
  return [
    ...plan.others,
    ...plan.forgotten.map((id): Change => ({ kind: 'redact', id })),
    // Its history holds the forgotten text, so it is redacted and inserted anew.
    ...plan.rebuilt.flatMap(({ memory, votes, links }): readonly Change[] => [
      { kind: 'redact', id: memory.id },
      { kind: 'insert', memory, indexed: texts.get(memory.id) as IndexedText },
      ...votes.map((vote): Change => ({ kind: 'vote', id: memory.id, vote })),
      ...links.map((link): Change => ({ kind: 'link', link })),
    ]),
    ...plan.reinstated.map(
      ({ memory }): Change => ({ kind: 'replace', memory, indexed: texts.get(memory.id) }),
    ),
  ];
}

async function knownOf(reader: SpaceReader, id: string): Promise<Known | undefined> {
  const [present] = await reader.get([id]);
  const history = await reader.history(id);
  // A memory that an undo removed still has its text in the history.
  if (!present && history.every(({ redacted }) => redacted)) return undefined;
  const before = history.flatMap((event) => (event.before ? [event.before] : []));
  const handings = history.flatMap(({ verb, operation }) => (HANDING_ON.has(verb) ? [operation] : []));
  return { present, versions: present ? [present, ...before] : before, handings };
}

/**
 * Returns what was made from these memories, including memories that only the log still has, and those in the log with
 * the same content.
 */
async function madeOf(
  reader: SpaceReader,
  removed: readonly MemoryRecord[],
  going: ReadonlyMap<string, Known>,
): Promise<readonly MemoryRecord[]> {
  const versions = [...going.values()].flatMap((known) => known.versions);
  const contents = new Set(versions.map(({ content }) => content));
  const sessions = sessionsOf(versions);
  const isMade = (memory: MemoryRecord) =>
    memory.derivedFrom.some((id) => going.has(id)) ||
    // Automatic summaries of older stores have no `derivedFrom`.
    (isAutomaticSummary(memory) &&
      memory.derivedFrom.length === 0 &&
      memory.sessionId !== undefined &&
      sessions.has(memory.sessionId));
  return [
    ...(await reader.find('derivedFrom', [...going.keys()])),
    ...(await reader.find('sessionId', [...sessions])).filter(isMade),
    ...removed.filter((memory) => isMade(memory) || contents.has(memory.content)),
  ];
}

/**
 * Returns the ids of the entities that were merged into these. A merge needs one scope: an entity that an entity of
 * another scope supersedes is only hidden there, and stays.
 */
async function partsOf(reader: SpaceReader, going: ReadonlyMap<string, Known>): Promise<readonly string[]> {
  const scopesAbove = new Map<string, Set<string>>();
  for (const { present, versions } of going.values()) {
    if (present?.type !== 'entity') continue;
    // It may have been moved since.
    const scopes = versions.map(({ scope }) => scope);
    for (const id of present.supersedes)
      scopesAbove.set(id, new Set([...(scopesAbove.get(id) ?? []), ...scopes]));
  }
  const found = scopesAbove.size === 0 ? [] : await reader.get([...scopesAbove.keys()]);
  return found.flatMap((memory) =>
    memory?.type === 'entity' && scopesAbove.get(memory.id)?.has(memory.scope) ? [memory.id] : [],
  );
}

function sessionsOf(versions: readonly MemoryRecord[]): ReadonlySet<string> {
  return new Set(
    versions.flatMap(({ sessionId, bornIn }) => [sessionId, bornIn].filter((each) => each !== undefined)),
  );
}

/**
 * Rebuilds a consolidation without the forgotten and outdated originals. Returns `undefined` if its text is more than
 * the list of its originals, or fewer than two are left.
 */
async function joinedAgain(
  reader: SpaceReader,
  memory: MemoryRecord,
  going: ReadonlyMap<string, Known>,
  now: Instant,
): Promise<Rebuilt | undefined> {
  const found = await reader.get(memory.derivedFrom);
  const originals: MemoryRecord[] = [];
  for (const original of found) if (original) originals.push(await withFullText(reader, original));
  const staying = originals.filter(({ id }) => !going.has(id));
  const isOutdated = await outdatedAmong(reader, memory, going, now);
  const left = staying.filter((original) => !isOutdated(original));
  const unstated = staying.filter(isOutdated).map(({ id }) => id);
  const isPlain =
    originals.length === found.length &&
    memory.title === undefined &&
    memory.content === listedContent(originals) &&
    JSON.stringify(memory.tags) === JSON.stringify(combinedTags(originals));
  if (!isPlain || left.length < 2) return undefined;
  const links = (await reader.links([memory.id])).filter(
    ({ kind, ids }) =>
      kind !== 'sequence' &&
      !ids.some((id) => going.has(id) || (kind === 'consolidation' && unstated.includes(id))),
  );
  return {
    memory: {
      ...memory,
      content: listedContent(left),
      tags: combinedTags(left),
      ...combinedRelations(left),
      importance:
        memory.importanceSource === 'person'
          ? memory.importance
          : Math.max(...left.map(({ importance }) => importance)),
      invalidReason: undefined,
      derivedFrom: left.map(({ id }) => id),
    },
    votes: await reader.votes(memory.id),
    links,
    unstated,
  };
}

/**
 * Returns a test for originals of a consolidation that were invalidated, or superseded by a memory that stays and is
 * believed.
 */
async function outdatedAmong(
  reader: SpaceReader,
  { id: consolidation, derivedFrom }: MemoryRecord,
  going: ReadonlyMap<string, Known>,
  now: Instant,
): Promise<(original: MemoryRecord) => boolean> {
  const { memories, successors } = await chainsAbove(reader, derivedFrom);
  const stands = (id: string) => {
    const memory = going.has(id) || id === consolidation ? undefined : memories.get(id);
    return memory !== undefined && isBelieved(memory, {}, now);
  };
  return ({ id, invalidatedAt }) => invalidatedAt !== undefined || isSuperseded(id, successors, stands);
}

/**
 * Returns the originals that only a forgotten consolidation, or one rebuilt without them, had replaced, as they are
 * once reinstated.
 */
async function originalsOf(
  reader: SpaceReader,
  going: ReadonlyMap<string, Known>,
  rebuilt: ReadonlyMap<string, Rebuilt>,
): Promise<readonly Reinstated[]> {
  const gone = [...going.values()].flatMap(({ present }) =>
    present?.source === 'consolidated' ? [present] : [],
  );
  const unstated = [...rebuilt.values()].flatMap((each) => each.unstated);
  const released = new Set([...gone.flatMap(({ derivedFrom }) => derivedFrom), ...unstated]);
  const ids = [...released].filter((id) => !going.has(id) && !rebuilt.has(id));
  return reinstatedAmong(reader, ids, (memory) =>
    going.has(memory.id) ? [] : (rebuilt.get(memory.id)?.memory ?? memory).derivedFrom,
  );
}

async function successorsOf(
  reader: SpaceReader,
  going: ReadonlyMap<string, Known>,
): Promise<readonly (readonly [string, MemoryRecord])[]> {
  const present = [...going.values()].flatMap((known) => (known.present ? [known.present] : []));
  return (await rejoined(reader, present)).map((memory) => [memory.id, memory] as const);
}

function changedAs(
  memory: MemoryRecord,
  successor: MemoryRecord,
  going: ReadonlyMap<string, Known>,
): MemoryRecord {
  return withoutEnds({ ...memory, supersedes: successor.supersedes }, going);
}

/** Finds the memories that stay and state a relation with a forgotten one. */
async function statingOf(
  reader: SpaceReader,
  going: ReadonlyMap<string, Known>,
): Promise<readonly MemoryRecord[]> {
  const stating = await reader.find('ends', [...going.keys()]);
  return stating.filter(({ id }) => !going.has(id));
}

/** Returns a memory without the relations that lose an end. */
function withoutEnds(memory: MemoryRecord, going: ReadonlyMap<string, Known>): MemoryRecord {
  const left = memory.relations?.filter(({ from, to }) => !going.has(from) && !going.has(to));
  return { ...memory, relations: left?.length === 0 ? undefined : left };
}

/** Returns changes that blank the reasons of tombstones. The tombstone itself stays, so that the statement stays inactive. */
async function reasonsOf(
  reader: SpaceReader,
  going: ReadonlyMap<string, Known>,
  rebuilt: ReadonlyMap<string, Rebuilt>,
): Promise<readonly Change[]> {
  const known = [...going.values()];
  for (const id of rebuilt.keys()) known.push((await knownOf(reader, id)) as Known);
  const statements = known.flatMap(({ versions }) =>
    versions.map(({ scope, content }) => ({ scope, content })),
  );
  const distinct = [...new Map(statements.map((each) => [JSON.stringify(each), each])).values()];
  const tombstones = await reader.tombstones(distinct);
  return distinct.flatMap((statement, at): readonly Change[] => {
    const tombstone = tombstones[at];
    if (!tombstone || tombstone.reason === '') return [];
    return [{ kind: 'add-tombstone', statement, tombstone: { at: tombstone.at, reason: '' } }];
  });
}

/**
 * Finds memories that may still say what is forgotten: summaries of its sessions, copies, and memories that were
 * compared with it or are in its supersession chain and contain all of its text or one of its names. Also finds
 * memories that took over its text or name once: their history still has it.
 */
async function sayersOf(reader: SpaceReader, going: ReadonlyMap<string, Known>): Promise<readonly string[]> {
  const versions = [...going.values()].flatMap((known) => known.versions);
  const summaries = (await reader.find('sessionId', [...sessionsOf(versions)])).filter(
    ({ type }) => type === 'summary',
  );
  const contents = [...new Set(versions.map(({ content }) => content))];
  const copies = await reader.find('content', contents);
  const near = await neighboursOf(reader, [...going.keys()], versions);
  const names = new Set(versions.flatMap(namesOfEntity));
  const says = (memory: MemoryRecord) =>
    namesOfEntity(memory).some((name) => names.has(name)) ||
    contents.some(
      (said) =>
        memory.content.includes(said) ||
        saysAllOf({ content: memory.content, confidence: 1 }, { content: said, confidence: 0 }),
    );
  // A merge moves the memories that state relations too. Their sentences still name the entity that was merged.
  const namesOne = ({ content }: MemoryRecord) => [...names].some((name) => standsIn(content, name));
  const said = (await receiversOf(reader, going)).filter((each) =>
    each.versions.some((version) => says(version) || namesOne(version)),
  );
  return [
    ...new Set([
      ...[...summaries, ...copies, ...near.filter(says)].map(({ id }) => id),
      ...said.map(({ id }) => id),
    ]),
  ];
}

/**
 * Verbs that copy text from one memory into another and log events for both. A merge logs only the entity that stays:
 * see {@link mergesIn}.
 */
const HANDING_ON: ReadonlySet<Verb> = new Set(['resolve', 'splitEntity']);

/** Operations in one page. */
const MERGES_AT_ONCE = 100;

/** Returns the memories that may have taken over text from forgotten ones, with all their versions. */
async function receiversOf(
  reader: SpaceReader,
  going: ReadonlyMap<string, Known>,
): Promise<readonly (Known & { readonly id: string })[]> {
  const operations = new Set([...going.values()].flatMap(({ handings }) => handings));
  const isEntity = ({ versions }: Known) => versions.some(({ type }) => type === 'entity');
  if ([...going.values()].some(isEntity)) {
    for (const operation of await mergesIn(reader)) operations.add(operation);
  }
  const receivers = new Set<string>();
  for (const operation of operations) {
    for (const { memoryId } of await reader.operation(operation)) receivers.add(memoryId);
  }
  const found: (Known & { readonly id: string })[] = [];
  for (const id of receivers) {
    const known = going.has(id) ? undefined : await knownOf(reader, id);
    if (known) found.push({ id, ...known });
  }
  return found;
}

async function mergesIn(reader: SpaceReader): Promise<readonly number[]> {
  const found: number[] = [];
  for (let before: number | undefined; ; ) {
    const page = await reader.operations({ limit: MERGES_AT_ONCE, before, ids: 0, verb: 'mergeEntities' });
    found.push(...page.map(({ operation }) => operation));
    before = page.at(-1)?.operation;
    if (before === undefined) return found;
  }
}

async function neighboursOf(
  reader: SpaceReader,
  ids: readonly string[],
  versions: readonly MemoryRecord[],
): Promise<readonly MemoryRecord[]> {
  const { memories: above } = await chainsAbove(reader, ids);
  const pairs = await reader.knownPairs(ids);
  const named = [
    ...pairs.flatMap(({ older, newer }) => [older, newer]),
    ...versions.flatMap(({ supersedes }) => supersedes),
  ];
  const found = await reader.get([...new Set(named)]);
  return [...above.values(), ...found.filter((memory) => memory !== undefined)];
}

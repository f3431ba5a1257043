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
import { combinedRelations, combinedTags, isAutomaticSummary, listedContent } from './derived.ts';

/** What forgetting some memories comes to: decided from what the store holds, before and again inside the write. */
export interface Forgetting {
  /** The ids whose text goes: those that were named, then what was made of them. */
  readonly forgotten: readonly string[];
  /** Consolidations that are made again from what is left, under their own ids. */
  readonly rebuilt: readonly Rebuilt[];
  /** Originals of consolidations that go, or no longer state them: each stands for itself again. */
  readonly reinstated: readonly Reinstated[];
  /** The ids of memories that may say the same in words of their own, and stay. */
  readonly mayStillSay: readonly string[];
  /** What else changes: chains that lose a link, reasons of invalidations. */
  readonly others: readonly Change[];
}

interface Rebuilt {
  readonly memory: MemoryRecord;
  readonly votes: readonly Vote[];
  readonly links: readonly Link[];
  /** The ids of originals that stay, and that it no longer states: nobody believes them. */
  readonly unstated: readonly string[];
}

interface Reinstated {
  readonly memory: MemoryRecord;
  /** It has its text again, of which nothing was derived any more. */
  readonly wasArchived: boolean;
}

/** A memory as it is, if it is there, and everything that it ever was. */
interface Known {
  readonly present: MemoryRecord | undefined;
  readonly versions: readonly MemoryRecord[];
  /** The operations by which it, or another one, may have handed something on. */
  readonly handings: readonly number[];
}

/**
 * Decides what goes with these memories. What was made of them goes too: an automatic summary, and a consolidation that
 * a model has written; its originals are then believed again. One that only lists its originals stays, without their
 * part and without what was invalidated or superseded since.
 * With an entity goes what was merged into it. Ids that the space knows nothing of are left out.
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

/** The memories whose texts must be read for a forgetting. */
export function textsOf({ rebuilt, reinstated }: Forgetting): readonly MemoryRecord[] {
  return [
    ...rebuilt.map(({ memory }) => memory),
    ...reinstated.filter(({ wasArchived }) => wasArchived).map(({ memory }) => memory),
  ];
}

/** The changes of a forgetting; `indexed` is what was derived from {@link textsOf}, in that order. */
export function changesOf(plan: Forgetting, indexed: readonly IndexedText[]): readonly Change[] {
  const texts = new Map(textsOf(plan).map(({ id }, at) => [id, indexed[at] as IndexedText]));
  return [
    ...plan.others,
    ...plan.forgotten.map((id): Change => ({ kind: 'redact', id })),
    // Its history holds the forgotten text: what is left of it is written anew.
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

/** What was made of memories, those included that only the log still has, and what the log has that says the same. */
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
    // Those of older stores do not say what they were made of.
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

/** The entities that have become part of these. */
async function partsOf(reader: SpaceReader, going: ReadonlyMap<string, Known>): Promise<readonly string[]> {
  const older = [...going.values()].flatMap(({ present }) =>
    present?.type === 'entity' ? present.supersedes : [],
  );
  const found = older.length === 0 ? [] : await reader.get([...new Set(older)]);
  return found.flatMap((memory) => (memory?.type === 'entity' ? [memory.id] : []));
}

function sessionsOf(versions: readonly MemoryRecord[]): ReadonlySet<string> {
  return new Set(
    versions.flatMap(({ sessionId, bornIn }) => [sessionId, bornIn].filter((each) => each !== undefined)),
  );
}

/** A consolidation without what is forgotten; `undefined` where its words are not those of its originals alone. */
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

/** Tells which originals of a consolidation were invalidated, or superseded by what stays and is believed. */
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

/** What consolidations that go, or no longer state it, had replaced, as it is without them. */
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
  const ids = [...released].filter((id) => !going.has(id));
  const elsewhere = new Set(
    (await reader.find('derivedFrom', ids))
      .filter(({ id, source }) => source === 'consolidated' && !going.has(id))
      .flatMap((memory) => (rebuilt.get(memory.id)?.memory ?? memory).derivedFrom),
  );
  const originals = await reader.get(ids.filter((id) => !elsewhere.has(id) && !rebuilt.has(id)));
  return Promise.all(
    originals
      .filter((memory) => memory?.consolidatedAt !== undefined)
      .map(async (memory): Promise<Reinstated> => {
        const whole = await withFullText(reader, memory as MemoryRecord);
        return {
          memory: { ...whole, consolidatedAt: undefined, coldSince: undefined, tier: 'hot' },
          wasArchived: memory?.tier === 'stub',
        };
      }),
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

/** What stays and states a relation with what goes. */
async function statingOf(
  reader: SpaceReader,
  going: ReadonlyMap<string, Known>,
): Promise<readonly MemoryRecord[]> {
  const stating = await reader.find('ends', [...going.keys()]);
  return stating.filter(({ id }) => !going.has(id));
}

/** A relation goes with either of its ends. */
function withoutEnds(memory: MemoryRecord, going: ReadonlyMap<string, Known>): MemoryRecord {
  const left = memory.relations?.filter(({ from, to }) => !going.has(from) && !going.has(to));
  return { ...memory, relations: left?.length === 0 ? undefined : left };
}

/** The hash of an invalidated statement stays, so that it stays inactive; what was said about it goes. */
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
 * Who else may say it: what a person wrote about its sessions, copies of it, and memories that were compared with it or
 * belong to its chain and say all of it, or one of its names: a merge hands them on. What was handed on and has been
 * replaced or undone since still stands in the history.
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
  // A merge hands on what states relations too, and its sentence goes on naming who became part of another one.
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

/** Verbs that write into one memory what another one says. A merge writes the one that takes over alone. */
const HANDING_ON: ReadonlySet<Verb> = new Set(['resolve', 'splitEntity']);

/** Operations that are read together. */
const MERGES_AT_ONCE = 100;

/** What these may have handed something on to, with all that it ever was. */
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

import type { MemoryRecord } from '../../domain/memory.ts';
import { namesOfEntity } from '../../domain/relation.ts';
import { isRelation } from '../../store/belief-state.ts';
import { contentKey } from '../../store/content-key.ts';
import { lastSequence, type State } from '../../store/state.ts';
import { afterUse, afterWrite } from '../../store/state-writer.ts';
import type {
  Decision,
  IndexedText,
  MemoryEvent,
  NewPair,
  NewUsage,
  UseDecision,
  WriteEntry,
} from '../../store/store.ts';
import { settingsToJson } from '../../store/stored-json.ts';
import { fullContent } from '../../store/tiers.ts';
import { attributesOf } from './attributes.ts';
import { type Changes, newStamp, type TableChange, WITHOUT_PAGES } from './commit.ts';
import { toEventRow } from './events.ts';
import type { Gathered } from './gather.ts';
import type { Found, Head } from './moment.ts';
import { toPairRow } from './pairs.ts';
import { toRecordingRow } from './recordings.ts';
import { checkedText, termsToJson, toRow, vectorToText } from './rows.ts';
import { toSessionRow } from './sessions.ts';
import type { TableName } from './tables.ts';
import { toUsageRow } from './usage.ts';
import { toVoteRow } from './votes.ts';

/** The rows to write, and the row of the space afterwards. */
export interface Plan {
  readonly after: Head;
  readonly changes: Changes;
}

/** Computes the rows that a decision changes: those that differ between the states before and after it. */
export function planWrite(
  gathered: Gathered,
  entry: WriteEntry,
  decision: Decision<unknown>,
): Plan | undefined {
  const { head, state } = gathered;
  const next = afterWrite(state, entry, decision);
  const stamp = newStamp();
  const isNew = next.events.filter(({ sequence }) => sequence > head.sequence);
  const { keys, key } = keysAfter(gathered, isNew);
  const derived = new Set(
    decision.changes.flatMap((change) =>
      (change.kind === 'insert' || change.kind === 'replace') && change.indexed ? [change.memory.id] : [],
    ),
  );
  // Sessions first, as in the SQLite store: an error of a text that cannot be stored then names the session, not its memories.
  const session = difference(state.sessions, next.sessions, toSessionRow, (id) => ({ id }));
  const rows = planMemories(gathered, next, keys, derived);
  const events = planEvents(gathered, next, isNew, stamp);
  const forgets = isNew.some(({ redacted }) => redacted) || (events.set?.rows.length ?? 0) > 0;
  const changes: Changes = {
    ...rows.changes,
    ...(forgets ? WITHOUT_PAGES : {}),
    event: events,
    usage: {
      put: changed(state.usages, next.usages).map((usage) => ({
        ...toUsageRow(usage),
        stamp: gathered.usageStamps.get(usage.sequence) ?? '',
      })),
    },
    recall: { put: changed(state.recordings, next.recordings).map(toRecordingRow) },
    link: linkChange(state, next),
    similar_pair: difference(state.pairs, next.pairs, toPairRow, (sequence) => ({ sequence })),
    session,
    tombstone: difference(
      state.tombstones,
      next.tombstones,
      ({ at, reason }, statement) => ({ hash: gathered.hashes.get(statement), at, reason }),
      (statement) => ({ hash: gathered.hashes.get(statement) }),
    ),
    vote: difference(votesByKey(state), votesByKey(next), toVoteRow, (_, { memoryId, voter, operation }) => ({
      memory_id: memoryId,
      voter,
      operation,
    })),
  };
  const lastEvent = next.events.at(-1);
  // A pair is deleted only together with one of its memories, and a search does not believe a deleted memory.
  const pairsChanged = changed(relationsOf(state), relationsOf(next)).length > 0;
  const after: Head = {
    ...head,
    sequence: lastSequence(next),
    at: lastEvent?.at ?? head.at,
    event_stamp: isNew.length > 0 ? stamp : head.event_stamp,
    key,
    ordinal: next.lastOrdinal,
    pair: next.lastPair,
    relations: head.relations + (pairsChanged || rows.standOtherwise ? 1 : 0),
    embedding_model: next.embedding?.model ?? null,
    embedding_dimensions: next.embedding?.dimensions ?? null,
    analyzer: next.analyzer ?? null,
    settings: next.settings === state.settings ? head.settings : settingsToJson(next.settings),
  };
  return planOf(head, after, stamp, changes);
}

/** Computes the rows that a use changes. The sequence of the use is `after.usage`. */
export function planUse(gathered: Gathered, usage: NewUsage, decision: UseDecision): Plan {
  const { head, state } = gathered;
  const next = afterUse(state, usage, decision);
  const stamp = newStamp();
  const row = next.usages.at(-1);
  // Before the memories, so that the error of a text that cannot be stored names the session and not a field of theirs.
  const uses = row ? [{ ...toUsageRow(row), stamp }] : [];
  const rows = planMemories(gathered, next, gathered.keys, new Set());
  const changes: Changes = {
    ...rows.changes,
    link: linkChange(state, next),
    usage: { put: uses },
  };
  const after = {
    ...head,
    stamp,
    usage: row?.sequence ?? head.usage,
    used_at: row?.at ?? head.used_at,
    usage_stamp: stamp,
  };
  return { after, changes: withoutEmpty(changes) };
}

function planOf(before: Head, after: Head, stamp: string, changes: Changes): Plan | undefined {
  const real = withoutEmpty(changes);
  const same = (Object.keys(after) as (keyof Head)[]).every((name) => after[name] === before[name]);
  return same && Object.keys(real).length === 0 ? undefined : { after: { ...after, stamp }, changes: real };
}

function withoutEmpty(changes: Changes): Changes {
  return Object.fromEntries(
    Object.entries(changes).filter(
      ([, { put = [], drop = [], set, clear }]) =>
        clear || put.length + drop.length + (set?.rows.length ?? 0) > 0,
    ),
  );
}

/** The keys of memories afterwards. A new memory gets the next key, even if its id was used before. */
function keysAfter(
  { head, keys }: Gathered,
  events: readonly MemoryEvent[],
): { readonly keys: ReadonlyMap<string, number>; readonly key: number } {
  const after = new Map(keys);
  let { key } = head;
  for (const event of events) if (isCreation(event)) after.set(event.memoryId, ++key);
  return { keys: after, key };
}

function isCreation({ before, redacted, link, settings }: MemoryEvent): boolean {
  return before === undefined && !redacted && link === undefined && settings === undefined;
}

function planEvents(
  { head, keys, loggedKeys, state }: Gathered,
  next: State,
  isNew: readonly MemoryEvent[],
  stamp: string,
): TableChange {
  const present = new Map(keys);
  let { key } = head;
  const added = isNew.map((event) => {
    if (isCreation(event)) present.set(event.memoryId, ++key);
    return toEventRow(event, present.get(event.memoryId) ?? loggedKeys.get(event.memoryId) ?? 0, stamp);
  });
  const before = new Map(state.events.map((event) => [event.sequence, event]));
  const redacted = next.events
    .filter((event) => event.sequence <= head.sequence && before.get(event.sequence) !== event)
    .map((event) => event.sequence);
  return {
    put: added,
    set: {
      rows: redacted.map((sequence) => ({ sequence })),
      to: { before: null, link: null, other_id: null, redacted: true },
    },
  };
}

interface MemoryChanges {
  readonly changes: Changes;
  /** Whether relations between memories (supersession, possible updates) may have changed. */
  readonly standOtherwise: boolean;
}

/** Computes the rows of memories, and the rows derived from them. */
function planMemories(
  { keys: keysBefore, state, head, superseded }: Gathered,
  next: State,
  keys: ReadonlyMap<string, number>,
  derived: ReadonlySet<string>,
): MemoryChanges {
  const put: Record<'memory' | 'derived' | Line, Found[]> = {
    memory: [],
    derived: [],
    supersession: [],
    attribute: [],
    entity_name: [],
    relation: [],
  };
  const drop: Record<keyof typeof put, Found[]> = {
    memory: [],
    derived: [],
    supersession: [],
    attribute: [],
    entity_name: [],
    relation: [],
  };
  const { generation } = head;
  let standOtherwise = false;
  const leave = (id: string) => {
    const key = keysBefore.get(id);
    if (key === undefined) return;
    drop.memory.push({ key });
    drop.derived.push({ key });
    for (const line of LINES) drop[line].push({ key });
    standOtherwise = true;
  };
  for (const id of state.memories.keys()) if (!next.memories.has(id)) leave(id);
  for (const [id, after] of next.memories) {
    const before = state.memories.get(id);
    const compared = next.compared.has(id);
    if (before === after && state.compared.has(id) === compared) continue;
    const key = keys.get(id) ?? 0;
    const isFresh = keysBefore.get(id) !== key;
    if (isFresh) leave(id);
    const { memory } = after;
    put.memory.push({ ...toRow(memory), key, compared, content_key: contentKey(statementOf(memory, next)) });
    if (derived.has(id)) put.derived.push(toDerivedRow(generation, key, after));
    for (const line of LINES) {
      const rows = LINE_ROWS[line](memory);
      const old = before && !isFresh ? LINE_ROWS[line](before.memory) : [];
      if (JSON.stringify(rows) === JSON.stringify(old)) continue;
      if (old.length > 0) drop[line].push({ key });
      put[line].push(...rows.map((row) => ({ key, ...row })));
      standOtherwise ||= line === 'supersession';
    }
    standOtherwise ||= isFresh && superseded.has(id);
  }
  const changes = Object.fromEntries(
    Object.keys(put).map((name) => {
      const table = name as keyof typeof put;
      return [table, { put: put[table], drop: drop[table] } satisfies TableChange];
    }),
  );
  return { changes, standOtherwise };
}

/** Converts the derived data of a memory to a row. */
export function toDerivedRow(generation: number, key: number, { terms, vector }: IndexedText): Found {
  return { generation, key, terms: termsToJson(terms), vector: vector ? vectorToText(vector) : null };
}

/** The content of a memory; for a stub, its full text. */
function statementOf(memory: MemoryRecord, { events }: State): string {
  if (memory.tier !== 'stub') return memory.content;
  return fullContent(
    memory,
    events.filter(({ memoryId }) => memoryId === memory.id),
  );
}

type Line = Extract<TableName, 'supersession' | 'attribute' | 'entity_name' | 'relation'>;

/** The rows derived from a record, by table. */
export const LINE_ROWS: Readonly<Record<Line, (memory: MemoryRecord) => readonly Found[]>> = {
  supersession: ({ supersedes }) => [...new Set(supersedes)].map((older) => ({ older_id: older })),
  attribute: ({ metadata }) => attributesOf(metadata).map(([name, value]) => ({ name, value })),
  entity_name: (memory) => namesOfEntity(memory).map((name) => ({ name })),
  relation: ({ relations = [] }) =>
    relations.map(({ from, name, to, weight, confidence, validFrom = null, validUntil = null }) => ({
      from_id: checkedText(from, 'from'),
      name: checkedText(name, 'name'),
      to_id: checkedText(to, 'to'),
      weight: weight + 0,
      confidence: confidence + 0,
      valid_from: validFrom,
      valid_until: validUntil,
    })),
};

const LINES = Object.keys(LINE_ROWS) as readonly Line[];

function linkChange({ links: before }: State, { links: after }: State): TableChange {
  return difference(
    before,
    after,
    ({ ids, kind, weight, at }) => ({ a_id: ids[0], b_id: ids[1], kind, weight: weight + 0, at }),
    (_, { ids, kind }) => ({ a_id: ids[0], b_id: ids[1], kind }),
  );
}

function votesByKey({ votes }: State) {
  return new Map(
    votes.map((vote) => [JSON.stringify([vote.memoryId, vote.voter, vote.operation]), vote] as const),
  );
}

function difference<Key, Value>(
  before: ReadonlyMap<Key, Value>,
  after: ReadonlyMap<Key, Value>,
  toRow: (value: Value, key: Key) => Found,
  toKey: (key: Key, value: Value) => Found,
): TableChange {
  return {
    put: [...after]
      .filter(([key, value]) => before.get(key) !== value)
      .map(([key, value]) => toRow(value, key)),
    drop: [...before].filter(([key]) => !after.has(key)).map(([key, value]) => toKey(key, value)),
  };
}

function relationsOf({ pairs }: State): readonly NewPair[] {
  return [...pairs.values()].filter(isRelation);
}

/** The rows of a log that are new or changed. */
function changed<Row>(before: readonly Row[], after: readonly Row[]): readonly Row[] {
  const known = new Set(before);
  return after.filter((row) => !known.has(row));
}

import type { MemoryRecord } from '../../domain/memory.ts';
import { textChanged } from '../../store/comparison.ts';
import { deriveWith } from '../../store/derived.ts';
import { memoryExists, missingMemory } from '../../store/faults.ts';
import type { Change, Decision, IndexedText, LinkChange, WriteEntry } from '../../store/store.ts';
import { settingsToJson } from '../../store/stored-json.ts';
import { writeAttributes } from './attributes.ts';
import { checksumOf, withChecksum } from './checksum.ts';
import type { Connection } from './connection.ts';
import { keyOfMemory } from './content-key.ts';
import type { SqlValue } from './driver.ts';
import { checkUndoable, findMemory, lastEvent } from './events.ts';
import { isUniqueViolation } from './faults.ts';
import { redactMemory, redactMentions } from './forget.ts';
import { type AppliedLink, attachedLinks, removeLinks, setLink } from './links.ts';
import {
  readDerivation,
  readSettings,
  readVerified,
  writeDerivation,
  writeMeta,
  writeSettings,
} from './meta.ts';
import {
  attemptPairs,
  type End,
  forgetComparison,
  forgetEnds,
  markCompared,
  queuePair,
  requeuePairs,
  settlePair,
} from './pairs.ts';
import { writeGraph } from './relations.ts';
import {
  checksumOfRecord,
  ORDINAL_AT,
  optionalText,
  RECORD_COLUMN_LIST,
  RECORD_COLUMNS,
  toRow,
  toVectorBytes,
} from './rows.ts';
import { writeSession } from './sessions.ts';
import { noticeSuperseded, relationsChanged, writeSupersession } from './supersession.ts';
import { encodeTermVector } from './term-vector.ts';
import type { TermIds } from './terms.ts';
import { addTombstone, removeTombstone } from './tombstones.ts';
import { castVote, withdrawVotes } from './votes.ts';

const insertRecord = `INSERT INTO memory (${RECORD_COLUMN_LIST}, checksum, content_key, row) VALUES (${RECORD_COLUMNS.map(() => '?').join(', ')}, ?, ?, ?)`;
const updateMemory = `UPDATE memory SET ${RECORD_COLUMNS.map((column) => `${column} = ?`).join(', ')}, checksum = ?, content_key = ? WHERE row = ?`;
// The SQLite of Node.js 22 binds no bytes as NULL.
const insertTermVector = "INSERT INTO term_vector (row, bytes, checksum) VALUES (?, coalesce(?, x''), ?)";
const insertVectorBytes = 'INSERT INTO vector (row, bytes, checksum) VALUES (?, ?, ?)';
const insertEvent = `INSERT INTO event (sequence, operation, at, verb, memory_row, memory_id, before, redacted, undoes, link, run, settings, checksum)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/**
 * Applies a decision and logs it as one operation, inside the caller's transaction. Runs in steps, so that concurrent reads
 * need not wait for thousands of changes.
 */
export function* applyDecision(
  connection: Connection,
  termIds: TermIds,
  entry: WriteEntry,
  decision: Decision<unknown>,
  /** Called for every new memory, with the sequence of its event. */
  onInsert?: (inserted: Inserted, sequence: number) => void,
): Generator<undefined, void> {
  if (entry.undoes !== undefined) checkUndoable(connection, entry.undoes, entry.partly);
  const before = readDerivation(connection);
  const after = deriveWith(before, decision);
  if (after.embedding !== before.embedding || after.analyzer !== before.analyzer) {
    writeDerivation(connection, after);
  }
  const last = lastEvent(connection);
  const at = Math.max(entry.at, last?.at ?? entry.at);
  const operation = (last?.sequence ?? 0) + 1;
  let sequence = operation;
  const places = createPlaces(connection);
  const logged = connection.statement(insertEvent);
  const { verb, undoes = null } = entry;
  const run = optionalText(entry.run, 'run');
  const log = ({ row, id, before, link }: Applied, isRedacted: 0 | 1, settings: string | null) => {
    const change = link === undefined ? null : JSON.stringify(link);
    const event: SqlValue[] = [
      sequence++,
      operation,
      at,
      verb,
      row,
      id,
      before ?? null,
      isRedacted,
      undoes,
      change,
      run,
      settings,
    ];
    logged.run(...withChecksum(event));
  };
  const redacted = new Set<string>();
  for (const change of insertsTogether(decision.changes)) {
    if (isList(change)) {
      for (const added of yield* insertMemories(connection, termIds, change, places)) {
        onInsert?.(added, sequence);
        log({ row: added.row, id: added.memory.id }, 0, null);
      }
      yield;
      continue;
    }
    if (change.kind === 'redact') redacted.add(change.id);
    for (const applied of applyChange(connection, termIds, change, { at, operation }))
      log(applied, change.kind === 'redact' ? 1 : 0, null);
    yield;
  }
  if (decision.settings) {
    log({ row: 0, id: '' }, 0, settingsToJson(readSettings(connection)));
    writeSettings(connection, decision.settings);
  }
  places.save();
  if (redacted.size > 0) redactMentions(connection, redacted, operation);
  if (sequence === operation) forgetEnds(connection, operation);
}

function* termsOf(inserts: readonly Insert[]): Generator<string> {
  for (const { indexed } of inserts) yield* indexed.terms.keys();
}

/** Replaces the data derived from the text of the memory in `row`. */
export function writeIndexed(
  connection: Connection,
  termIds: TermIds,
  row: number,
  indexed: IndexedText,
): void {
  connection.run('DELETE FROM term_vector WHERE row = ?', row);
  connection.run('DELETE FROM vector WHERE row = ?', row);
  insertTerms(connection, termIds, row, indexed);
  insertVector(connection, row, indexed);
}

function insertTerms(connection: Connection, termIds: TermIds, row: number, { terms }: IndexedText): void {
  const pairs: [id: number, count: number][] = [];
  for (const [term, count] of terms) pairs.push([termIds.idOf(term), count]);
  const bytes = encodeTermVector(pairs);
  connection.statement(insertTermVector).run(row, bytes, checksumOf([row, bytes]));
}

function insertVector(connection: Connection, row: number, { vector }: IndexedText): void {
  if (!vector) return;
  const bytes = toVectorBytes(vector);
  connection.statement(insertVectorBytes).run(row, bytes, checksumOf([row, bytes]));
}

/** The data that the log keeps about a change of one memory. */
interface Applied {
  readonly row: number;
  readonly id: string;
  /** The memory before the change, as JSON. */
  readonly before?: string | undefined;
  readonly link?: LinkChange | undefined;
}

type Insert = Extract<Change, { kind: 'insert' }>;

/** A memory that was inserted, with its row and ordinal. */
export interface Inserted extends Pick<Insert, 'memory' | 'indexed'> {
  readonly row: number;
  /** The ordinal that it was assigned. */
  readonly ordinal: number;
}

type OtherChange = Exclude<Change, Insert>;

/** The maximum number of inserts made together, with one lookup of their terms. Each table takes about a millisecond. */
const MOST_TOGETHER = 128;

/** Inserts between two possible pauses. Checking for a pause after each insert would cost a twentieth of the time. */
const INSERTS_BETWEEN = 32;

/** Yields the changes in order, with consecutive inserts grouped. */
function* insertsTogether(changes: readonly Change[]): Generator<readonly Insert[] | OtherChange> {
  let inserts: Insert[] = [];
  for (const change of changes) {
    const isInsert = change.kind === 'insert';
    if (inserts.length > 0 && (!isInsert || inserts.length === MOST_TOGETHER)) {
      yield inserts;
      inserts = [];
    }
    if (isInsert) inserts.push(change);
    else yield change;
  }
  if (inserts.length > 0) yield inserts;
}

function isList(change: readonly Insert[] | OtherChange): change is readonly Insert[] {
  return Array.isArray(change);
}

/** Inserts memories table by table, so that the pages and indexes of one table stay in the processor's caches. */
function* insertMemories(
  connection: Connection,
  termIds: TermIds,
  inserts: readonly Insert[],
  places: Places,
): Generator<undefined, readonly Inserted[]> {
  termIds.make(termsOf(inserts));
  const added: Inserted[] = [];
  for (const change of inserts) {
    if (added.push(insertMemory(connection, change, places)) % INSERTS_BETWEEN === 0) yield;
  }
  yield;
  for (const { row, indexed } of added) insertTerms(connection, termIds, row, indexed);
  yield;
  for (const { row, indexed } of added) insertVector(connection, row, indexed);
  yield;
  for (const { row, memory } of added) {
    writeSupersession(connection, row, memory, undefined);
    writeGraph(connection, row, memory, undefined);
    if (Object.keys(memory.metadata).length > 0) writeAttributes(connection, row, memory.metadata);
  }
  noticeSuperseded(
    connection,
    added.map(({ memory }) => memory),
  );
  return added;
}

function insertMemory(connection: Connection, { memory, indexed }: Insert, places: Places): Inserted {
  const row = places.nextRow();
  const ordinal = places.ordinalOf(memory);
  const values = toRow(memory);
  values[ORDINAL_AT] = ordinal;
  const key = keyOfMemory(connection, memory);
  const checksum = checksumOfRecord(row, memory, values, key);
  values.push(checksum, key, row);
  try {
    connection.statement(insertRecord).run(...values);
  } catch (error) {
    throw isUniqueViolation(error) ? memoryExists(memory.id) : error;
  }
  // Any update fires the trigger that computes a missing checksum.
  if (checksum === null) connection.run('UPDATE memory SET id = id WHERE row = ?', row);
  return { row, ordinal, memory, indexed };
}

function applyChange(
  connection: Connection,
  termIds: TermIds,
  change: OtherChange,
  end: End,
): readonly Applied[] {
  switch (change.kind) {
    case 'replace': {
      const { row, memory } = existing(connection, change.memory.id);
      const key = keyOfMemory(connection, change.memory, memory);
      const values = toRow({ ...change.memory, ordinal: memory.ordinal });
      connection
        .statement(updateMemory)
        .run(...values, checksumOfRecord(row, change.memory, values, key), key, row);
      if (change.indexed) writeIndexed(connection, termIds, row, change.indexed);
      writeSupersession(connection, row, change.memory, memory);
      writeGraph(connection, row, change.memory, memory);
      if (JSON.stringify(memory.metadata) !== JSON.stringify(change.memory.metadata)) {
        writeAttributes(connection, row, change.memory.metadata);
      }
      if (textChanged(memory, change.memory)) forgetComparison(connection, memory.id, end);
      return [{ row, id: memory.id, before: JSON.stringify(memory) }];
    }
    case 'remove': {
      const { row, memory } = existing(connection, change.id);
      const links = attachedLinks(connection, row).map(ofLink);
      forgetComparison(connection, memory.id, end);
      connection.run('DELETE FROM memory WHERE row = ?', row);
      relationsChanged(connection);
      return [...links, { row, id: memory.id, before: JSON.stringify(memory) }];
    }
    case 'redact':
      return [{ row: redactMemory(connection, change.id), id: change.id }];
    case 'link':
      return [ofLink(setLink(connection, change.link))];
    case 'unlink':
      return removeLinks(connection, change.ids, change.kinds).map(ofLink);
    case 'queue-pair':
      queuePair(connection, change.pair, end.at);
      return [];
    case 'attempt-pairs':
      attemptPairs(connection, change.sequences);
      return [];
    case 'settle-pair':
      settlePair(connection, change.sequence, change.resolution, end);
      return [];
    case 'requeue-pairs':
      requeuePairs(connection, change, end.at);
      return [];
    case 'compared':
      markCompared(connection, change.ids);
      return [];
    case 'session':
      writeSession(connection, change.session);
      return [];
    case 'add-tombstone':
      addTombstone(connection, change.statement, change.tombstone);
      return [];
    case 'remove-tombstone':
      removeTombstone(connection, change.statement);
      return [];
    case 'vote':
      castVote(connection, change.id, change.vote, end.operation);
      return [];
    case 'withdraw-votes':
      withdrawVotes(connection, change.operation);
      return [];
  }
}

function ofLink({ row, change }: AppliedLink): Applied {
  return { row, id: change.link.ids[0], link: change };
}

function existing(connection: Connection, id: string) {
  const found = findMemory(connection, id);
  if (!found) throw missingMemory(id);
  return found;
}

/** Assigns row numbers, which are never reused, and ordinals to new memories. */
interface Places {
  nextRow(): number;
  ordinalOf(memory: MemoryRecord): number;
  save(): void;
}

function createPlaces(connection: Connection): Places {
  const used = connection.get("SELECT seq FROM sqlite_sequence WHERE name = 'memory'") as
    | { seq: number }
    | undefined;
  let row = used?.seq ?? 0;
  const before = Number(readVerified(connection, 'ordinal') ?? 0);
  let last = before;
  return {
    nextRow: () => ++row,
    ordinalOf(memory) {
      const ordinal = memory.ordinal || last + 1;
      last = Math.max(last, ordinal);
      return ordinal;
    },
    save() {
      if (last > before) writeMeta(connection, 'ordinal', String(last));
    },
  };
}

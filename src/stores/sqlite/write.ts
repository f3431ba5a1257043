import { textChanged } from '../../store/comparison.ts';
import { deriveWith } from '../../store/derived.ts';
import { memoryExists, missingMemory } from '../../store/faults.ts';
import type { Change, Decision, IndexedText, LinkChange, WriteEntry } from '../../store/store.ts';
import { settingsToJson } from '../../store/stored-json.ts';
import { writeAttributes } from './attributes.ts';
import { withChecksum } from './checksum.ts';
import type { Connection } from './connection.ts';
import { keyOfMemory } from './content-key.ts';
import type { SqlValue } from './driver.ts';
import { checkUndoable, findMemory, lastEvent } from './events.ts';
import { isUniqueViolation } from './faults.ts';
import { redactMemory, redactMentions } from './forget.ts';
import { type AppliedLink, attachedLinks, removeLinks, setLink } from './links.ts';
import { readDerivation, readMeta, readSettings, writeDerivation, writeMeta, writeSettings } from './meta.ts';
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
  optionalText,
  RECORD_COLUMN_LIST,
  RECORD_COLUMNS,
  toRow,
  toVectorBytes,
} from './rows.ts';
import { writeSession } from './sessions.ts';
import { relationsChanged, writeSupersession } from './supersession.ts';
import { encodeTermVector } from './term-vector.ts';
import type { TermIds } from './terms.ts';
import { addTombstone, removeTombstone } from './tombstones.ts';
import { castVote, withdrawVotes } from './votes.ts';

const insertMemory = `INSERT INTO memory (${RECORD_COLUMN_LIST}, checksum, content_key, row) VALUES (${RECORD_COLUMNS.map(() => '?').join(', ')}, ?, ?, ?)`;
const updateMemory = `UPDATE memory SET ${RECORD_COLUMNS.map((column) => `${column} = ?`).join(', ')}, checksum = ?, content_key = ? WHERE row = ?`;
const insertEvent = `INSERT INTO event (sequence, operation, at, verb, memory_row, memory_id, before, redacted, undoes, link, run, settings, checksum)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Applies a decision and logs it as one operation, inside the caller's transaction. */
export function applyDecision(
  connection: Connection,
  termIds: TermIds,
  entry: WriteEntry,
  decision: Decision<unknown>,
): void {
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
  let row = nextRow(connection);
  const ordinals = createOrdinals(connection);
  const logged = connection.statement(insertEvent);
  const log = (...values: readonly SqlValue[]) => logged.run(...withChecksum(values));
  const run = optionalText(entry.run, 'run');
  const redacted = new Set<string>();
  termIds.make(termsOf(decision.changes));
  for (const change of decision.changes) {
    if (change.kind === 'redact') redacted.add(change.id);
    for (const applied of applyChange(connection, termIds, ordinals.given(change), row, { at, operation })) {
      if (applied.row === row) row++;
      log(
        sequence++,
        operation,
        at,
        entry.verb,
        applied.row,
        applied.id,
        applied.before ?? null,
        change.kind === 'redact' ? 1 : 0,
        entry.undoes ?? null,
        applied.link === undefined ? null : JSON.stringify(applied.link),
        run,
        null,
      );
    }
  }
  if (decision.settings) {
    const settings = settingsToJson(readSettings(connection));
    const { undoes = null } = entry;
    log(sequence++, operation, at, entry.verb, 0, '', null, 0, undoes, null, run, settings);
    writeSettings(connection, decision.settings);
  }
  ordinals.save();
  if (redacted.size > 0) redactMentions(connection, redacted, operation);
  if (sequence === operation) forgetEnds(connection, operation);
}

function* termsOf(changes: readonly Change[]): Generator<string> {
  for (const change of changes) {
    if ((change.kind === 'insert' || change.kind === 'replace') && change.indexed)
      yield* change.indexed.terms.keys();
  }
}

/** Writes what is derived from the text of the memory in `row`, in the place of what was there. */
export function writeIndexed(
  connection: Connection,
  termIds: TermIds,
  row: number,
  { terms, vector }: IndexedText,
): void {
  const pairs: [id: number, count: number][] = [];
  for (const [term, count] of terms) pairs.push([termIds.idOf(term), count]);
  connection
    .statement('INSERT OR REPLACE INTO term_vector (row, bytes, checksum) VALUES (?, ?, ?)')
    .run(...withChecksum([row, encodeTermVector(pairs)]));
  if (vector) {
    connection
      .statement('INSERT OR REPLACE INTO vector (row, bytes, checksum) VALUES (?, ?, ?)')
      .run(...withChecksum([row, toVectorBytes(vector)]));
  } else {
    connection.statement('DELETE FROM vector WHERE row = ?').run(row);
  }
}

/** What the log keeps of a change of one memory. */
interface Applied {
  readonly row: number;
  readonly id: string;
  /** The memory before the change, as JSON. */
  readonly before?: string | undefined;
  readonly link?: LinkChange | undefined;
}

function applyChange(
  connection: Connection,
  termIds: TermIds,
  change: Change,
  newRow: number,
  end: End,
): readonly Applied[] {
  switch (change.kind) {
    case 'insert': {
      const values: SqlValue[] = toRow(change.memory);
      const key = keyOfMemory(connection, change.memory);
      const checksum = checksumOfRecord(newRow, change.memory, values, key);
      values.push(checksum, key, newRow);
      try {
        connection.statement(insertMemory).run(...values);
      } catch (error) {
        throw isUniqueViolation(error) ? memoryExists(change.memory.id) : error;
      }
      // Any update makes the trigger compute a checksum that is missing.
      if (checksum === null) connection.run('UPDATE memory SET id = id WHERE row = ?', newRow);
      writeIndexed(connection, termIds, newRow, change.indexed);
      writeSupersession(connection, newRow, change.memory, undefined);
      writeGraph(connection, newRow, change.memory, undefined);
      if (Object.keys(change.memory.metadata).length > 0) {
        writeAttributes(connection, newRow, change.memory.metadata);
      }
      return [{ row: newRow, id: change.memory.id }];
    }
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
      requeuePairs(connection, change.operation, end.at);
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

/** Gives new memories their place in the order of the space, and keeps count. */
function createOrdinals(connection: Connection): { given(change: Change): Change; save(): void } {
  const before = Number(readMeta(connection, 'ordinal') ?? 0);
  let last = before;
  return {
    given(change) {
      if (change.kind !== 'insert') return change;
      const ordinal = change.memory.ordinal || last + 1;
      last = Math.max(last, ordinal);
      return { ...change, memory: { ...change.memory, ordinal } };
    },
    save() {
      if (last > before) writeMeta(connection, 'ordinal', String(last));
    },
  };
}

function nextRow(connection: Connection): number {
  const used = connection.get("SELECT seq FROM sqlite_sequence WHERE name = 'memory'") as
    | { seq: number }
    | undefined;
  return (used?.seq ?? 0) + 1;
}

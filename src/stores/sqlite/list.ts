import type { MemoryRecord } from '../../domain/memory.ts';
import { checkListLimit, decodeCursor, pageOf } from '../../store/cursor.ts';
import type { ListAnswer, ListRequest } from '../../store/store.ts';
import { rowsWithMetadata } from './attributes.ts';
import type { Connection, SqlValue } from './connection.ts';
import { fromRow, type MemoryRow, ROW_COLUMN_LIST } from './rows.ts';

/** One page, by key and not by offset: memories that are written meanwhile shift nothing. */
export function listMemories(connection: Connection, request: ListRequest): ListAnswer {
  const { filter, limit, cursor, order = 'updated' } = request;
  checkListLimit(limit);
  const conditions = ['TRUE'];
  const values: SqlValue[] = [];
  const among = (column: string, operator: 'IN' | 'NOT IN', list: readonly string[] | undefined) => {
    if (list === undefined) return;
    conditions.push(`${column} ${operator} (SELECT value FROM json_each(?))`);
    values.push(JSON.stringify(list));
  };
  among('scope', 'IN', filter.scopes);
  if (filter.inScope !== undefined) {
    const kind = filter.inScope.endsWith(':*');
    conditions.push(kind ? 'instr(scope, ?) = 1' : 'scope = ?');
    values.push(kind ? filter.inScope.slice(0, -1) : filter.inScope);
  }
  among('type', 'IN', filter.types);
  among('type', 'NOT IN', filter.typesExclude);
  for (const tag of filter.tags ?? []) {
    conditions.push('EXISTS (SELECT 1 FROM json_each(memory.tags) WHERE value = ?)');
    values.push(tag);
  }
  const within = rowsWithMetadata(connection, filter.metadata);
  if (within) {
    conditions.push('row IN (SELECT value FROM json_each(?))');
    values.push(JSON.stringify([...within]));
  }
  if (cursor !== undefined) {
    const { updatedAt, ordinal } = decodeCursor(cursor, order);
    if (order === 'inserted') {
      conditions.push('ordinal > ?');
      values.push(ordinal);
    } else {
      conditions.push('updated_at <= ? AND (updated_at < ? OR ordinal < ?)');
      values.push(updatedAt, updatedAt, ordinal);
    }
  }
  const rows = connection.each(
    `SELECT ${ROW_COLUMN_LIST} FROM memory WHERE ${conditions.join(' AND ')}
     ORDER BY ${order === 'inserted' ? 'ordinal' : 'updated_at DESC, ordinal DESC'} LIMIT ?`,
    ...values,
    limit + 1,
  );
  return pageOf(recordsOf(rows), request);
}

function* recordsOf(rows: Iterable<unknown>): Generator<MemoryRecord> {
  for (const row of rows) yield fromRow(row as MemoryRow);
}

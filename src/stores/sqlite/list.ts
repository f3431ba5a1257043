import { columnOf, FIELDS, type Field } from '../../domain/fields.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import {
  checkListRequest,
  decodeCursor,
  type ListOrder,
  type ListPlace,
  notListed,
  offsetAround,
  orderOf,
  pageOf,
  placeOf,
} from '../../store/cursor.ts';
import { damagedRow } from '../../store/damage.ts';
import type { FieldCondition, ListAnswer, ListRequest } from '../../store/store.ts';
import { rowsWithMetadata } from './attributes.ts';
import type { Connection } from './connection.ts';
import { real, type SqlValue } from './driver.ts';
import { readRecords, VALUE_COLUMN_LIST } from './rows.ts';

/** A part of a WHERE clause with its values. */
interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Lists one page. Pages continue from a sort key, so that new memories shift nothing, unless `offset` or `around` is given. */
export function listMemories(connection: Connection, request: ListRequest): ListAnswer {
  checkListRequest(request);
  const { limit, cursor, around, count } = request;
  const order = orderOf(request);
  const matching = matchingOf(connection, request);
  const countOf = (...conditions: readonly Condition[]) => {
    const { sql, values } = allOf([...matching, ...conditions]);
    const found = connection.get(`SELECT count(*) AS count FROM memory WHERE ${sql}`, ...values);
    return (found as { count: number }).count;
  };
  let { offset = 0 } = request;
  if (around !== undefined) {
    const place = placeWithin(connection, around, matching, order);
    offset = offsetAround(countOf(beside(place, order, 'before')), countOf(), limit);
  }
  const following =
    cursor === undefined ? matching : [...matching, beside(decodeCursor(cursor, request), order, 'after')];
  const { sql, values } = allOf(following);
  // Only row numbers are sorted, because rows are wide.
  const direction = order.direction === 'asc' ? 'ASC' : 'DESC';
  const rows = connection.all(
    `SELECT row FROM memory WHERE ${sql} ORDER BY ${keyOf(order)} ${direction}, ordinal ${direction} LIMIT ? OFFSET ?`,
    ...values,
    limit + 1,
    offset,
  ) as { row: number }[];
  const page = pageOf(recordsOf(connection, rows), request);
  if (!count) return page;
  const [first] = page.memories;
  const total = countOf();
  return {
    ...page,
    total,
    position: first ? countOf(beside(placeOf(first, order), order, 'before')) : total,
  };
}

function* recordsOf(connection: Connection, rows: readonly { row: number }[]): Generator<MemoryRecord> {
  for (const { row } of rows) {
    const [found] = readRecords(connection, `SELECT ${VALUE_COLUMN_LIST} FROM memory WHERE row = ?`, row);
    if (found === undefined)
      throw damagedRow({ table: 'memory', row }, 'an index refers to it, but it does not exist');
    yield found;
  }
}

function matchingOf(connection: Connection, { filter, where = [] }: ListRequest): readonly Condition[] {
  const conditions: Condition[] = [];
  const among = (column: string, operator: 'IN' | 'NOT IN', list: readonly unknown[] | undefined) => {
    if (list === undefined) return;
    conditions.push({
      sql: `${column} ${operator} (SELECT value FROM json_each(?))`,
      values: [JSON.stringify(list)],
    });
  };
  among('scope', 'IN', filter.scopes);
  if (filter.inScope !== undefined) {
    const kind = filter.inScope.endsWith(':*');
    conditions.push({
      sql: kind ? 'instr(scope, ?) = 1' : 'scope = ?',
      values: [kind ? filter.inScope.slice(0, -1) : filter.inScope],
    });
  }
  among('type', 'IN', filter.types);
  among('type', 'NOT IN', filter.typesExclude);
  for (const tag of filter.tags ?? []) {
    conditions.push({ sql: 'EXISTS (SELECT 1 FROM json_each(memory.tags) WHERE value = ?)', values: [tag] });
  }
  const within = rowsWithMetadata(connection, filter.metadata);
  if (within) among('row', 'IN', [...within]);
  return [...conditions, ...where.map(conditionOf)];
}

function conditionOf({ field, compare, value }: FieldCondition): Condition {
  const column = columnOf(field);
  if (compare !== 'is')
    return { sql: `${column} ${compare === 'from' ? '>=' : '<'} ?`, values: [value as number] };
  if (typeof value === 'boolean') return { sql: `${column} = ?`, values: [value ? 1 : 0] };
  // As JSON, because the driver ends a text at its first NUL.
  return { sql: `${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify([value])] };
}

/** Returns the condition for the memories before or after a place in the list. */
function beside({ value, ordinal }: ListPlace, order: ListOrder, side: 'before' | 'after'): Condition {
  const operator = (side === 'before') === (order.direction === 'asc') ? '<' : '>';
  return {
    sql: `(${keyOf(order)}, ordinal) ${operator} (?, ?)`,
    values: [value === null ? LOWEST : real(value), ordinal],
  };
}

function placeWithin(
  connection: Connection,
  id: string,
  matching: readonly Condition[],
  order: ListOrder,
): ListPlace {
  const { sql, values } = allOf([
    ...matching,
    { sql: 'id IN (SELECT value FROM json_each(?))', values: [JSON.stringify([id])] },
  ]);
  const found = connection.get(
    `SELECT ${columnOf(order.field)} AS value, ordinal FROM memory WHERE ${sql}`,
    ...values,
  );
  if (!found) throw notListed(id);
  return found as ListPlace;
}

/** The sort key of a memory without a value. It is below every instant. */
const LOWEST = Number.MIN_SAFE_INTEGER;

/** Returns the expression that a list is sorted by: the plain column, so that its index is used, unless it may be NULL. */
function keyOf({ field }: ListOrder): string {
  const { initial, required }: Field = FIELDS[field];
  const column = columnOf(field);
  return initial === undefined && !required ? `ifnull(${column}, ${LOWEST})` : column;
}

function allOf(conditions: readonly Condition[]): Condition {
  return {
    sql: ['TRUE', ...conditions.map(({ sql }) => sql)].join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}

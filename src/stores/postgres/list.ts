import { columnOf, FIELDS, type Field } from '../../domain/fields.ts';
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
import type { FieldCondition, ListAnswer, ListRequest } from '../../store/store.ts';
import { keysWithMetadata } from './attributes.ts';
import type { Moment } from './moment.ts';
import { fromRow, RECORD_COLUMNS } from './rows.ts';
import {
  joined,
  quoted,
  raw,
  type Sql,
  sql,
  wanted,
  wantedNumber,
  wantedNumbers,
  wantedTexts,
} from './sql.ts';

/** Lists one page. Pages continue from a sort key, so that new memories shift nothing, unless `offset` or `around` is given. */
export async function listMemories(moment: Moment, request: ListRequest): Promise<ListAnswer> {
  checkListRequest(request);
  const { limit, cursor, around, count } = request;
  const order = orderOf(request);
  const after = cursor === undefined ? undefined : decodeCursor(cursor, request);
  const { memory } = moment.place.database.tables;
  const matching = await matchingOf(moment, request);
  const countOf = (...conditions: readonly Sql[]) =>
    sql`SELECT count(*) AS count FROM ${memory} AS memory WHERE ${allOf([...matching, ...conditions])}`;
  const counted = async (...queries: readonly Sql[]) =>
    (await moment.read(...queries)).map(([row]) => Number(row?.['count']));
  let { offset = 0 } = request;
  if (around !== undefined) {
    const place = await placeWithin(moment, around, matching, order);
    const [before = 0, all = 0] = await counted(countOf(beside(place, order, 'before')), countOf());
    offset = offsetAround(before, all, limit);
  }
  const following = after ? [...matching, beside(after, order, 'after')] : matching;
  const direction = order.direction === 'asc' ? sql`ASC` : sql`DESC`;
  // Only keys are sorted, because rows are wide.
  const rows = await moment.rows(
    sql`SELECT ${RECORD_COLUMNS} FROM (
        SELECT key AS chosen FROM ${memory} AS memory WHERE ${allOf(following)}
        ORDER BY ${keyOf(order)} ${direction}, ordinal ${direction} LIMIT ${limit + 1}::bigint OFFSET ${offset}::bigint) AS page
      JOIN ${memory} AS memory ON memory.space_id = ${moment.place.id}::uuid AND memory.key = chosen
      ORDER BY ${keyOf(order)} ${direction}, ordinal ${direction}`,
  );
  const page = pageOf(rows.map(fromRow), request);
  if (!count) return page;
  const [first] = page.memories;
  const [total = 0, position] = await counted(
    countOf(),
    ...(first ? [countOf(beside(placeOf(first, order), order, 'before'))] : []),
  );
  return { ...page, total, position: position ?? total };
}

async function matchingOf(moment: Moment, { filter, where = [] }: ListRequest): Promise<readonly Sql[]> {
  const conditions: Sql[] = [sql`memory.space_id = ${moment.place.id}::uuid`];
  if (filter.scopes) conditions.push(sql`scope IN ${wantedTexts(filter.scopes)}`);
  if (filter.inScope !== undefined) {
    conditions.push(
      filter.inScope.endsWith(':*')
        ? sql`starts_with(scope, ${wanted(filter.inScope.slice(0, -1))})`
        : sql`scope = ${wanted(filter.inScope)}`,
    );
  }
  if (filter.types) conditions.push(sql`type IN ${wantedTexts(filter.types)}`);
  if (filter.typesExclude) conditions.push(sql`type NOT IN ${wantedTexts(filter.typesExclude)}`);
  for (const tag of filter.tags ?? []) {
    conditions.push(
      sql`EXISTS (SELECT 1 FROM json_array_elements_text(memory.tags::json) AS each(tag) WHERE each.tag = ${wanted(tag)})`,
    );
  }
  const within = await keysWithMetadata(moment, filter.metadata);
  if (within) conditions.push(sql`key IN ${wantedNumbers([...within])}`);
  return [...conditions, ...where.map(conditionOf)];
}

function conditionOf({ field, compare, value }: FieldCondition): Sql {
  const column = raw(quoted(columnOf(field)));
  if (compare !== 'is')
    return sql`${column} ${compare === 'from' ? sql`>=` : sql`<`} ${wantedNumber(Number(value))}`;
  if (typeof value === 'boolean') return sql`${column} = ${String(value)}::boolean`;
  return typeof value === 'number'
    ? sql`${column} = ${wantedNumber(value)}`
    : sql`${column} = ${wanted(value)}`;
}

/** Returns the condition for the memories before or after a place in the list. */
function beside({ value, ordinal }: ListPlace, order: ListOrder, side: 'before' | 'after'): Sql {
  const operator = (side === 'before') === (order.direction === 'asc') ? sql`<` : sql`>`;
  const { kind }: Field = FIELDS[order.field];
  const type = kind === 'number' ? sql`double precision` : sql`bigint`;
  return sql`(${keyOf(order)}, ordinal) ${operator} (${value === null ? LOWEST : value}::${type}, ${ordinal}::bigint)`;
}

async function placeWithin(
  moment: Moment,
  id: string,
  matching: readonly Sql[],
  order: ListOrder,
): Promise<ListPlace> {
  const { memory } = moment.place.database.tables;
  const [found] = await moment.rows<ListPlace>(
    sql`SELECT ${raw(columnOf(order.field))} AS value, ordinal FROM ${memory} AS memory
      WHERE ${allOf([...matching, sql`id = ${wanted(id)}`])}`,
  );
  if (!found) throw notListed(id);
  return found;
}

/** The sort key of a memory without a value. It is below every instant. */
const LOWEST = Number.MIN_SAFE_INTEGER;

/** Returns the expression that a list is sorted by: the plain column, so that its index is used, unless it may be NULL. */
function keyOf({ field }: ListOrder): Sql {
  const { initial, required }: Field = FIELDS[field];
  const column = columnOf(field);
  return raw(initial === undefined && !required ? `coalesce(${column}, ${LOWEST})` : column);
}

function allOf(conditions: readonly Sql[]): Sql {
  return joined(conditions, ' AND ');
}

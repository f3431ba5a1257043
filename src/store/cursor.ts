import { invalidArgument } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { type FieldName, SORTS, type SortDirection, type SortName } from '../domain/fields.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import { sha256 } from '../scoring/sha256.ts';
import type { FieldCondition, ListAnswer, ListRequest } from './store.ts';

/** The order of a list. */
export interface ListOrder {
  readonly sort: SortName;
  readonly direction: SortDirection;
  readonly field: FieldName;
}

/** The place of a memory in a list: the value it is sorted by, `null` if it has none, then its ordinal. */
export interface ListPlace {
  readonly value: number | null;
  readonly ordinal: number;
}

export function orderOf({ sort = 'updated', direction }: Pick<ListRequest, 'sort' | 'direction'>): ListOrder {
  const { field, direction: usual } = SORTS[sort];
  return { sort, field, direction: direction ?? usual };
}

export function placeOf(memory: MemoryRecord, { field }: Pick<ListOrder, 'field'>): ListPlace {
  return { value: (memory[field] as number | undefined) ?? null, ordinal: memory.ordinal };
}

/** Negative when `a` comes before `b` in a list of this direction. */
export function comparePlaces(a: ListPlace, b: ListPlace, direction: SortDirection): number {
  const [low, high] = [a.value ?? -Infinity, b.value ?? -Infinity];
  const order = low === high ? a.ordinal - b.ordinal : low < high ? -1 : 1;
  return direction === 'asc' ? order : -order;
}

/** Whether a memory meets every condition on its fields. */
export function meetsFields(memory: MemoryRecord, where: readonly FieldCondition[] = []): boolean {
  return where.every(({ field, compare, value }) => {
    const has = memory[field];
    if (has === undefined) return false;
    return compare === 'is' ? has === value : compare === 'from' ? has >= value : has < value;
  });
}

/** Takes one page from `memories`, which are in list order and begin after the cursor; see `ListRequest`. */
export function pageOf(memories: Iterable<MemoryRecord>, request: ListRequest): ListAnswer {
  const { limit, maxCharacters = Infinity } = request;
  const page: MemoryRecord[] = [];
  let characters = 0;
  for (const memory of memories) {
    if (maxCharacters < Infinity) characters += JSON.stringify(memory).length;
    const last = page.at(-1);
    if (last && (page.length === limit || characters > maxCharacters)) {
      return { memories: page, nextCursor: encodeCursor(last, request) };
    }
    page.push(memory);
  }
  return { memories: page, nextCursor: undefined };
}

/** The offset of a page that has the memory at `position` in its middle. */
export function offsetAround(position: number, total: number, limit: number): number {
  return Math.max(0, Math.min(position - Math.floor(limit / 2), total - limit));
}

function encodeCursor(memory: MemoryRecord, request: ListRequest): string {
  const order = orderOf(request);
  const { value, ordinal } = placeOf(memory, order);
  return Buffer.from(JSON.stringify([...boundTo(request, order), value, ordinal])).toString('base64url');
}

/** Decodes a cursor. Throws `invalid_argument` for one of another list or of an older version. */
export function decodeCursor(cursor: string, request: ListRequest): ListPlace {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    const bound = boundTo(request, orderOf(request));
    if (
      Array.isArray(read) &&
      read.length === bound.length + 2 &&
      bound.every((each, at) => read[at] === each)
    ) {
      const [value, ordinal] = read.slice(bound.length) as unknown[];
      if ((value === null || Number.isFinite(value)) && Number.isSafeInteger(ordinal))
        return { value: value as number | null, ordinal: ordinal as number };
    }
  } catch {
    // falls through to the one error below
  }
  throw notOfList();
}

/** The error for a cursor of another list. */
export function notOfList(): SalienceError {
  return invalidArgument(
    'cursor',
    'not a cursor of this list: pass nextCursor unchanged, with the same filters and order, or leave it out to start from the first page',
  );
}

/** The list that a cursor belongs to: its order, and a short hash of its filters. */
function boundTo({ filter, where = [] }: ListRequest, { sort, direction }: ListOrder): readonly string[] {
  const filters = JSON.stringify([filter, where], (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return [sort, direction, sha256(filters).slice(0, 16)];
}

/** Throws `invalid_argument` for an invalid limit, offset or `around`, and for more than one way to begin a page. */
export function checkListRequest({ limit, cursor, offset, around }: ListRequest): void {
  if (!(Number.isSafeInteger(limit) && limit >= 1))
    throw invalidArgument('limit', `${describe(limit)} is not a whole number of at least 1`);
  if (offset !== undefined && !(Number.isSafeInteger(offset) && offset >= 0))
    throw invalidArgument('offset', `${describe(offset)} is not a whole number of at least 0`);
  if (around !== undefined && typeof around !== 'string')
    throw invalidArgument('around', `expected the id of a memory, not ${describe(around)}`);
  const said = Object.entries({ cursor, offset, around }).filter(([, value]) => value !== undefined);
  const [first, second] = said.map(([name]) => name);
  if (first !== undefined && second !== undefined)
    throw invalidArgument(second, `give ${first} or ${second}, not both`);
}

/** The error of a list that is asked for a page around a memory that it does not contain. */
export function notListed(id: string): SalienceError {
  return new SalienceError(
    'not_found',
    `around: memory ${JSON.stringify(id)} is not in this list; look at its filters, or at the id`,
    { details: { id } },
  );
}

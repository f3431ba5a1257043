import { SalienceError } from '../domain/errors.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import type { ListAnswer, ListOrder, ListRequest } from './store.ts';

/** The last memory of a page: where the next one starts. */
export type ListPosition = Pick<MemoryRecord, 'updatedAt' | 'ordinal'>;

function encodeCursor({ updatedAt, ordinal }: ListPosition, order: ListOrder): string {
  return Buffer.from(JSON.stringify([order, updatedAt, ordinal])).toString('base64url');
}

/** One page of memories that come in the order of a list, beginning after the cursor; see `ListRequest`. */
export function pageOf(
  memories: Iterable<MemoryRecord>,
  { limit, order = 'updated', maxCharacters = Infinity }: Omit<ListRequest, 'filter'>,
): ListAnswer {
  const page: MemoryRecord[] = [];
  let characters = 0;
  for (const memory of memories) {
    if (maxCharacters < Infinity) characters += JSON.stringify(memory).length;
    const last = page.at(-1);
    if (last && (page.length === limit || characters > maxCharacters)) {
      return { memories: page, nextCursor: encodeCursor(last, order) };
    }
    page.push(memory);
  }
  return { memories: page, nextCursor: undefined };
}

/** Reads a cursor back. Throws `invalid_argument` for one of another order or of an older version. */
export function decodeCursor(cursor: string, order: ListOrder): ListPosition {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(read) && read.length === 3 && read[0] === order) {
      const [, updatedAt, ordinal] = read as unknown[];
      if (Number.isSafeInteger(updatedAt) && Number.isSafeInteger(ordinal))
        return { updatedAt: Number(updatedAt), ordinal: Number(ordinal) };
    }
  } catch {
    // falls through to the one error below
  }
  throw new SalienceError(
    'invalid_argument',
    'cursor: not a cursor of a list in this order by this version; pass nextCursor unchanged, or leave it out to start from the first page',
    { details: { field: 'cursor' } },
  );
}

/** Throws `invalid_argument` unless `limit` is a whole number of at least 1. */
export function checkListLimit(limit: number): void {
  if (Number.isSafeInteger(limit) && limit >= 1) return;
  throw new SalienceError('invalid_argument', `limit: ${limit} is not a whole number of at least 1`, {
    details: { field: 'limit' },
  });
}

/** Negative when `a` comes before `b` in a list of this order. */
export function compareListed(a: ListPosition, b: ListPosition, order: ListOrder): number {
  if (order === 'inserted') return a.ordinal - b.ordinal;
  return b.updatedAt - a.updatedAt || b.ordinal - a.ordinal;
}

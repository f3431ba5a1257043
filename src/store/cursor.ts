import { SalienceError } from '../model/errors.ts';
import type { MemoryRecord } from '../model/memory.ts';
import type { Instant } from '../model/time.ts';
import type { ListAnswer, ListRequest } from './store.ts';

/** The last memory of a page: where the next one starts. */
export interface ListPosition {
  readonly updatedAt: Instant;
  readonly id: string;
}

function encodeCursor({ updatedAt, id }: MemoryRecord): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString('base64url');
}

/** One page of memories that come in the order of a list, beginning after the cursor; see `ListRequest`. */
export function pageOf(
  memories: Iterable<MemoryRecord>,
  { limit, maxCharacters = Infinity }: Pick<ListRequest, 'limit' | 'maxCharacters'>,
): ListAnswer {
  const page: MemoryRecord[] = [];
  let characters = 0;
  for (const memory of memories) {
    if (maxCharacters < Infinity) characters += JSON.stringify(memory).length;
    const last = page.at(-1);
    if (last && (page.length === limit || characters > maxCharacters)) {
      return { memories: page, nextCursor: encodeCursor(last) };
    }
    page.push(memory);
  }
  return { memories: page, nextCursor: undefined };
}

/** Reads a cursor back. Throws `invalid_argument`. */
export function decodeCursor(cursor: string): ListPosition {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(read) && read.length === 2) {
      const [updatedAt, id] = read as unknown[];
      if (Number.isSafeInteger(updatedAt) && typeof id === 'string')
        return { updatedAt: Number(updatedAt), id };
    }
  } catch {
    // falls through to the one error below
  }
  throw new SalienceError(
    'invalid_argument',
    'cursor: this is not a cursor of an earlier list; pass nextCursor as it was returned, or leave it out to start anew',
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

/**
 * The order of a list: newest update first, then id by code point, which is the byte order of UTF-8 that databases
 * sort by.
 */
export function compareListed(a: ListPosition, b: ListPosition): number {
  return b.updatedAt - a.updatedAt || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));
}

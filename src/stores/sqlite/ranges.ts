import type { Connection } from './connection.ts';

/** The row numbers of a table, or another indexed column, in ranges that have rows, each from the first number to before the second: for statements that shall not take long. */
export function* rangesOf(
  connection: Connection,
  table: string,
  size: number,
  column = 'rowid',
): Generator<readonly [from: number, until: number]> {
  const select = `SELECT min(${column}) AS first FROM ${table} WHERE ${column} >= ?`;
  // From row to row: a number that damage made huge would have billions of ranges before it, all empty.
  for (let from = Number.MIN_SAFE_INTEGER; ; ) {
    const { first } = connection.get(select, from) as { first: number | null };
    if (first === null) return;
    from = first + size;
    yield [first, from];
  }
}

import type { Connection } from './connection.ts';

/**
 * Divides the values of an indexed column, by default the row numbers, into non-empty ranges of `size` numbers, so that no statement
 * takes long. A range includes `from` and excludes `until`.
 */
export function* rangesOf(
  connection: Connection,
  table: string,
  size: number,
  column = 'rowid',
): Generator<readonly [from: number, until: number]> {
  const select = `SELECT min(${column}) AS first FROM ${table} WHERE ${column} >= ?`;
  // Each range starts at an existing row. Otherwise a huge number, caused by damage, would give billions of empty ranges.
  for (let from = Number.MIN_SAFE_INTEGER; ; ) {
    const { first } = connection.get(select, from) as { first: number | null };
    if (first === null) return;
    from = first + size;
    yield [first, from];
  }
}

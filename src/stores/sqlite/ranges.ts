import type { Connection } from './connection.ts';

/** The row numbers of a table, or another indexed column, in ranges, each from the first number to before the second: for statements that shall not take long. */
export function* rangesOf(
  connection: Connection,
  table: string,
  size: number,
  column = 'rowid',
): Generator<readonly [from: number, until: number]> {
  const { last } = connection.get(`SELECT max(${column}) AS last FROM ${table}`) as { last: number | null };
  for (let from = 0; from <= (last ?? -1); from += size) yield [from, from + size];
}

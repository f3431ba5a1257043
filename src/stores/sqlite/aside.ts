import type { SqlValue } from './driver.ts';
import { type Rows, startThread } from './thread.ts';

/**
 * Runs a statement that only reads a file, named `space`, on another thread: of some, SQLite makes one call that would hold up
 * everything else for a second at 100,000 memories. Its rows; `undefined` where it was not run or failed, and it is up to the
 * caller: nobody can do it on the side here.
 */
export type ReadAside = (
  path: string,
  sql: string,
  ...values: readonly SqlValue[]
) => Promise<Rows | undefined>;

export const readAside: ReadAside = (path, sql, ...values) => runAside(path, 'ro', sql, values);

/** The same of a statement that changes how a file stores what it holds, and not what that is. */
export type RewriteAside = (path: string, sql: string) => Promise<Rows | undefined>;

export const rewriteAside: RewriteAside = (path, sql) => runAside(path, 'rw', sql, []);

async function runAside(
  path: string,
  mode: 'ro' | 'rw',
  sql: string,
  values: readonly SqlValue[],
): Promise<Rows | undefined> {
  const thread = await startThread().catch(() => undefined);
  const rows = await thread?.run(path, mode, sql, values);
  await thread?.end();
  return rows;
}

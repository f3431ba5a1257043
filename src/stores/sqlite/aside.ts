import type { SqlValue } from './driver.ts';
import { type Room, type Rows, startThread, type Thread } from './thread.ts';

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

export const readAside: ReadAside = (path, sql, ...values) =>
  aside((thread) => thread.run(path, 'ro', sql, values));

/** The same of a statement that changes how a file stores what it holds, and not what that is. */
export type RewriteAside = (path: string, sql: string) => Promise<Rows | undefined>;

export const rewriteAside: RewriteAside = (path, sql) => aside((thread) => thread.run(path, 'rw', sql));

/** The same of a statement that reads bytes into a room that threads share: see `fill` of {@link Thread}. */
export type FillAside = (
  path: string,
  into: Room,
  sql: string,
  ...values: readonly SqlValue[]
) => Promise<Rows | undefined>;

export const fillAside: FillAside = (path, into, sql, ...values) =>
  aside((thread) => thread.fill(path, sql, values, into));

async function aside(work: (thread: Thread) => Promise<Rows | undefined>): Promise<Rows | undefined> {
  const thread = await startThread().catch(() => undefined);
  const rows = thread && (await work(thread));
  await thread?.end();
  return rows;
}

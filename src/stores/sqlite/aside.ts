import type { SqlValue } from './driver.ts';
import { type Room, type Rows, startThread, type Thread } from './thread.ts';

/**
 * Runs a read-only statement on another thread, with the file at `path` attached as `space`. SQLite runs some statements as a
 * single call, which would block the event loop for a second at 100,000 memories. Returns the rows, or `undefined` if the statement
 * failed or no thread could run it; the caller must then run it itself.
 */
export type ReadAside = (
  path: string,
  sql: string,
  ...values: readonly SqlValue[]
) => Promise<Rows | undefined>;

export const readAside: ReadAside = (path, sql, ...values) =>
  aside((thread) => thread.run(path, 'ro', sql, values));

/** Does the same with a statement that changes how a file stores its content, but not the content. */
export type RewriteAside = (path: string, sql: string) => Promise<Rows | undefined>;

export const rewriteAside: RewriteAside = (path, sql) => aside((thread) => thread.run(path, 'rw', sql));

/** Does the same with a statement that reads bytes into shared memory: see `fill` of {@link Thread}. */
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

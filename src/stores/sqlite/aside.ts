import { pathToFileURL } from 'node:url';
import type { SqlValue } from './driver.ts';
import { startThread } from './thread.ts';

/** What the thread runs, see `startThread`. */
const SCRIPT = `
  answer(({ url, mode, sql, values }) => {
    const database = new DatabaseSync(':memory:', { timeout: 2000 });
    try {
      database.prepare('ATTACH ? AS space').run(url + '?mode=' + mode);
      database.exec('PRAGMA space.secure_delete = ON');
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return statement.all(...values);
    } finally {
      database.close();
    }
  });
`;

type Rows = readonly (readonly SqlValue[])[];

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

/** The same of a statement that changes how a file stores what it holds, and not what that is. What was there before is overwritten. */
export type RewriteAside = (path: string, sql: string) => Promise<Rows | undefined>;

export const rewriteAside: RewriteAside = (path, sql) => runAside(path, 'rw', sql, []);

async function runAside(
  path: string,
  mode: 'ro' | 'rw',
  sql: string,
  values: readonly SqlValue[],
): Promise<Rows | undefined> {
  const thread = await startThread(SCRIPT).catch(() => undefined);
  const rows = await thread?.ask({ url: pathToFileURL(path).href, mode, sql, values });
  thread?.end();
  return rows as Rows | undefined;
}

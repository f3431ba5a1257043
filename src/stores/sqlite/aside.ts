import { pathToFileURL } from 'node:url';
import type { SqlValue } from './driver.ts';
import { startThread } from './thread.ts';

/** What the thread runs, see `startThread`. */
const SCRIPT = `
  answer(({ url, sql, values }) => {
    const database = new DatabaseSync(':memory:');
    database.prepare('ATTACH ? AS space').run(url + '?mode=ro');
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    const rows = statement.all(...values);
    database.exec('DETACH space');
    database.close();
    return rows;
  });
`;

/**
 * Runs a statement that only reads a file, named `space`, on another thread: of some, SQLite makes one call that would hold up
 * everything else for a second at 100,000 memories. Its rows; `undefined` where it was not run or failed, and it is up to the
 * caller: nobody can do it on the side here.
 */
export type ReadAside = (
  path: string,
  sql: string,
  ...values: readonly SqlValue[]
) => Promise<readonly (readonly SqlValue[])[] | undefined>;

export const readAside: ReadAside = async (path, sql, ...values) => {
  const thread = await startThread(SCRIPT).catch(() => undefined);
  const rows = await thread?.ask({ url: pathToFileURL(path).href, sql, values });
  thread?.end();
  return rows as Awaited<ReturnType<ReadAside>>;
};

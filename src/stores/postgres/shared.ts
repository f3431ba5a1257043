import { AsyncLocalStorage } from 'node:async_hooks';
import { SalienceError } from '../../domain/errors.ts';
import type { SharedTexts } from '../../store/store.ts';
import { type Database, translated } from './connection.ts';
import { isUndefinedTable } from './faults.ts';
import { type Sql, sql, wanted } from './sql.ts';

interface Note {
  readonly kind: string;
  readonly id: string;
  readonly text: string;
}

const notes = new AsyncLocalStorage<Note>();

/** Returns the part of a write that also stores the text given to `SharedTexts.along`, if the write changes the row of the space. */
export function noted({ tables }: Pick<Database, 'tables'>): readonly Sql[] {
  const note = notes.getStore();
  if (!note) return [];
  return [
    sql`noted AS (UPDATE ${tables.shared} AS t SET text = ${note.text}::text FROM moved
      WHERE t.kind = ${note.kind}::text AND t.id = ${note.id}::text)`,
  ];
}

/** Creates the shared texts of a store: see `Store.shared`. `prepare` creates the tables if they are missing. */
export function sharedTexts(database: Database, prepare: () => Promise<unknown>): SharedTexts {
  const { shared } = database.tables;
  /** Runs a statement. Returns no rows if the table does not exist, as before the first write. */
  const read = (statement: Sql) =>
    translated(database, () =>
      database.run(statement).catch((error: unknown) => {
        if (isUndefinedTable(error)) return [];
        throw error;
      }),
    );
  const one = (kind: string, id: string) => sql`kind = ${kind}::text AND id = ${wanted(id)}`;
  return {
    async get(kind, id) {
      const [row] = await read(sql`SELECT text FROM ${shared} WHERE ${one(kind, id)}`);
      return row?.[0] ?? undefined;
    },
    async add(kind, id, text) {
      await prepare();
      const rows = await translated(database, () =>
        database.run(
          sql`INSERT INTO ${shared} (kind, id, text) VALUES (${kind}::text, ${id}::text, ${text}::text)
            ON CONFLICT (kind, id) DO NOTHING RETURNING id`,
        ),
      );
      if (rows.length > 0) return;
      throw new SalienceError(
        'already_exists',
        `${kind} ${JSON.stringify(id)} exists already; use another id`,
      );
    },
    async put(kind, id, text) {
      await prepare();
      await translated(database, () =>
        database.run(
          sql`INSERT INTO ${shared} (kind, id, text) VALUES (${kind}::text, ${id}::text, ${text}::text)
            ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text`,
        ),
      );
    },
    async remove(kind, id) {
      return (await read(sql`DELETE FROM ${shared} WHERE ${one(kind, id)} RETURNING id`)).length > 0;
    },
    along: (kind, id, text, work) => notes.run({ kind, id, text }, work),
    async ids(kind) {
      return (await read(sql`SELECT id FROM ${shared} WHERE kind = ${kind}::text`)).map(([id]) => id ?? '');
    },
  };
}

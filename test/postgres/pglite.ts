import { PGlite } from '@electric-sql/pglite';
import type { Store } from '../../src/store/store.ts';
import type { PostgresPool } from '../../src/stores/postgres/index.ts';
import { postgres } from '../../src/stores/postgres/index.ts';
import { TABLES } from '../../src/stores/postgres/tables.ts';

/** PostgreSQL as WebAssembly, in this process: one connection, and nothing to install. */
export interface TestServer extends AsyncDisposable {
  readonly pool: PostgresPool;
  /** A store in a schema that holds nothing. */
  freshStore(): Promise<{ readonly store: Store; readonly schema: string; cleanup(): Promise<void> }>;
  /** Runs statements as they are. */
  script(text: string): Promise<void>;
  /** Holds the one connection in a transaction for as long as `work` takes. */
  hold<Result>(work: () => Promise<Result>): Promise<Result>;
  /** How many statements were run so far. */
  readonly statements: number;
}

/** To start one takes seconds of the processor: the next file of tests takes what the last one has left. */
const idle: PGlite[] = [];

export async function startPglite({ patience = 60_000 } = {}): Promise<TestServer> {
  const database = idle.pop() ?? (await PGlite.create());
  /** One connection waits for itself for ever: what holds it is named instead. */
  const watched = async <Result>(text: string, work: Promise<Result>): Promise<Result> => {
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(
          new Error(`PGlite has one connection, which something holds: no answer to ${text.slice(0, 200)}`),
        );
      }, patience);
    });
    try {
      return await Promise.race([work, tooLong]);
    } finally {
      clearTimeout(timer);
    }
  };
  let statements = 0;
  const pool: PostgresPool = {
    async query({ text, values }) {
      statements++;
      if (values) return watched(text, database.query<unknown[]>(text, values, { rowMode: 'array' }));
      await watched(text, database.exec(text));
      return { rows: [] };
    },
  };
  const free: string[] = [];
  let made = 0;
  return {
    pool,
    get statements() {
      return statements;
    },
    async script(text) {
      await watched(text, database.exec(text));
    },
    hold: (work) => database.transaction(() => work()),
    async freshStore() {
      const schema = free.pop() ?? `test_${++made}`;
      const store = postgres(pool, { schema });
      return {
        store,
        schema,
        async cleanup() {
          await store.close();
          const tables = ['space', 'shared', ...Object.keys(TABLES)]
            .map((name) => `${schema}.${name}`)
            .join(', ');
          const { rows } = await database.query(`SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'`);
          if (rows.length === 0) return;
          await database.exec(`TRUNCATE ${tables}`);
          free.push(schema);
        },
      };
    },
    async [Symbol.asyncDispose]() {
      const { rows } = await database.query<{ readonly name: string }>(
        `SELECT quote_ident(nspname) AS name FROM pg_namespace
         WHERE nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('public', 'information_schema')`,
      );
      for (const { name } of rows) await database.exec(`DROP SCHEMA ${name} CASCADE`);
      idle.push(database);
    },
  };
}

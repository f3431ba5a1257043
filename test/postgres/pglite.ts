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
  /** How many statements were run so far. */
  readonly statements: number;
}

export async function startPglite(): Promise<TestServer> {
  const database = await PGlite.create();
  let statements = 0;
  const pool: PostgresPool = {
    async query({ text, values }) {
      statements++;
      if (values) return database.query<unknown[]>(text, values, { rowMode: 'array' });
      await database.exec(text);
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
      await database.exec(text);
    },
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
    [Symbol.asyncDispose]: () => database.close(),
  };
}

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Store } from '../../src/store/store.ts';
import type { PostgresOptions } from '../../src/stores/postgres/index.ts';
import { postgres } from '../../src/stores/postgres/index.ts';

/** The URL of a real server, which scripts/test-postgres.mjs sets. */
export const SERVER = process.env['SALIENCE_TEST_POSTGRES'];

/** Why a test that needs a real server is skipped. */
export const WITHOUT_SERVER = 'needs a server: node scripts/test-postgres.mjs';

/** A schema of a real server that holds nothing, and goes when it is disposed of. */
export interface FreshSchema extends AsyncDisposable {
  readonly schema: string;
  readonly url: string;
  open(options?: PostgresOptions): Store;
  /** Runs statements as they are. */
  script(text: string): Promise<pg.QueryResult>;
}

export function freshSchema(url = SERVER ?? ''): FreshSchema {
  const schema = `test_${randomBytes(6).toString('hex')}`;
  const stores: Store[] = [];
  const script = async (text: string) => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  };
  return {
    schema,
    url,
    open(options = {}) {
      const store = postgres(url, { schema, ...options });
      stores.push(store);
      return store;
    },
    script,
    async [Symbol.asyncDispose]() {
      await Promise.all(stores.map((store) => store.close()));
      await script(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    },
  };
}

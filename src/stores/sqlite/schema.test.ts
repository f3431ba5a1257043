import { expect, it } from 'vitest';
import { connect, IN_MEMORY } from './connection.ts';
import { APPLICATION_ID, identify, makeSchema, migrate, SCHEMA_VERSION } from './schema.ts';

it('makeSchema makes what all migrations make, the first time and every other time', async () => {
  const made = async (make: typeof makeSchema) => {
    const connection = await connect(IN_MEMORY, { readOnly: false, timeout: 0 });
    try {
      make(connection);
      expect(identify(connection)).toBe(SCHEMA_VERSION);
      expect(connection.get('PRAGMA space.application_id')).toEqual({ application_id: APPLICATION_ID });
      return connection.all('SELECT type, name, tbl_name, sql FROM space.sqlite_schema ORDER BY type, name');
    } finally {
      connection.close();
    }
  };
  const migrated = await made((connection) => migrate(connection, 0));
  expect(migrated.length).toBeGreaterThan(30);
  expect(await made(makeSchema)).toEqual(migrated);
  expect(await made(makeSchema)).toEqual(migrated);
});

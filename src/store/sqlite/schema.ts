import { SalienceError } from '../../model/errors.ts';
import type { Connection } from './connection.ts';
import { initial } from './migrations/0001-initial.ts';
import { living } from './migrations/0002-living.ts';
import { belief } from './migrations/0003-belief.ts';

/** In the header of every file of ours: "Sal1" in ASCII. */
export const APPLICATION_ID = 0x53616c31;

/** One step of the schema, from the version before. Never changed once released. */
export interface Migration {
  readonly version: number;
  readonly sql: string;
  /** What SQL alone cannot do, afterwards. */
  run?(connection: Connection): void;
}

const migrations: readonly Migration[] = [initial, living, belief];

/** The version that this code reads and writes. */
export const SCHEMA_VERSION = migrations.length;

/** Brings a file from `version` to the present one. Runs inside the caller's transaction. */
export function migrate(connection: Connection, version: number): void {
  for (const migration of migrations.slice(version)) {
    connection.database.exec(migration.sql);
    migration.run?.(connection);
  }
  connection.database.exec(
    `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`,
  );
}

/**
 * The schema version of a file, 0 for an empty one. Throws `not_a_store` for a file of another program and
 * `newer_store` for one from a later version.
 */
export function identify(connection: Connection): number {
  // One statement, so that a store that another process is just making is seen whole or not at all.
  const { application, version, objects } = connection.get(
    `SELECT application_id AS application, user_version AS version,
            (SELECT count(*) FROM sqlite_schema) AS objects
     FROM pragma_application_id, pragma_user_version`,
  ) as { application: number; version: number; objects: number };
  if (application === 0 && version === 0 && objects === 0) return 0;
  if (application !== APPLICATION_ID || version < 1) {
    throw new SalienceError(
      'not_a_store',
      `${connection.path} is an SQLite database of another program; choose another directory, or move the file away`,
      { details: { path: connection.path } },
    );
  }
  if (version > SCHEMA_VERSION) {
    throw new SalienceError(
      'newer_store',
      `${connection.path} was written by a newer version (schema ${version}; this one knows ${SCHEMA_VERSION}); update the package. The file is untouched`,
      { details: { path: connection.path, version, known: SCHEMA_VERSION } },
    );
  }
  return version;
}

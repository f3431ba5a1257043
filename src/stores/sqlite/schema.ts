import { SalienceError } from '../../domain/errors.ts';
import { type Connection, readTransaction } from './connection.ts';
import { foreignDatabase } from './faults.ts';
import { initial } from './migrations/0001-initial.ts';
import { living } from './migrations/0002-living.ts';
import { belief } from './migrations/0003-belief.ts';
import { provenance } from './migrations/0004-provenance.ts';
import { recording } from './migrations/0005-recording.ts';
import { graph } from './migrations/0006-graph.ts';
import { typesInOrder } from './migrations/0007-types-in-order.ts';
import { textChanged } from './migrations/0008-text-changed.ts';
import { leaveWithoutChecksum, protectTables, rowsWithWrongChecksum } from './protection.ts';

/** The application id in the header of every file of a store: "Sal1" in ASCII. */
export const APPLICATION_ID = 0x53616c31;

/** One step of the schema, from the previous version. Never changed once released. */
export interface Migration {
  readonly version: number;
  readonly sql: string;
  /** Runs after `sql`, for what SQL alone cannot do. */
  run?(connection: Connection): void;
}

const migrations: readonly Migration[] = [
  initial,
  living,
  belief,
  provenance,
  recording,
  graph,
  typesInOrder,
  textChanged,
];

/** The version that this code reads and writes. */
export const SCHEMA_VERSION = migrations.length;

/** Migrates a file from `version` to the present version. Runs inside the caller's transaction. */
export function migrate(connection: Connection, version: number): void {
  const damaged = rowsWithWrongChecksum(connection);
  for (const migration of migrations.slice(version)) {
    connection.database.exec(inSpace(migration.sql));
    migration.run?.(connection);
  }
  protectTables(connection);
  leaveWithoutChecksum(connection, damaged);
  markAsOurs(connection);
}

function markAsOurs({ database }: Connection): void {
  database.exec(
    `PRAGMA space.application_id = ${APPLICATION_ID}; PRAGMA space.user_version = ${SCHEMA_VERSION}`,
  );
}

/** The statements that create the present schema in one step. Set after the first file of the process was migrated. */
let madeBy: readonly string[] | undefined;

/**
 * Creates the present schema in an empty database, inside the caller's transaction. The first database of a process is migrated
 * step by step. For the others, the resulting statements are run again, which takes a tenth of the time.
 */
export function makeSchema(connection: Connection): void {
  if (madeBy) {
    for (const sql of madeBy) connection.database.exec(sql);
    markAsOurs(connection);
    return;
  }
  migrate(connection, 0);
  const made = connection.all(
    `SELECT sql FROM space.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
     ORDER BY type = 'trigger', type = 'index', rowid`,
  ) as { sql: string }[];
  madeBy = made.map(({ sql }) => inSpace(sql));
}

/** Adds the name of the attached file to CREATE statements, which otherwise apply to the main database. */
function inSpace(sql: string): string {
  return sql.replaceAll(/\bCREATE (?:UNIQUE )?(?:TABLE|INDEX|TRIGGER|VIEW) /g, '$&space.');
}

/**
 * Returns the schema version of a file, or 0 for an empty one. Throws `not_a_store` for a file of another program and
 * `newer_store` for one from a later version.
 */
export function identify(connection: Connection): number {
  const read = () => ({
    ...(connection.get('PRAGMA space.application_id') as { application_id: number }),
    ...(connection.get('PRAGMA space.user_version') as { user_version: number }),
    ...(connection.get('SELECT count(*) AS objects FROM space.sqlite_schema') as { objects: number }),
  });
  // In one transaction, so that a store that another process is creating is seen complete or not at all.
  const {
    application_id: application,
    user_version: version,
    objects,
  } = connection.database.isTransaction ? read() : readTransaction(connection, read);
  if (application === 0 && version === 0 && objects === 0) return 0;
  if (application !== APPLICATION_ID || version < 1) {
    throw foreignDatabase(connection.path);
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

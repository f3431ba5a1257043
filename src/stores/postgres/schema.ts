import { SalienceError } from '../../domain/errors.ts';
import { type Database, translated } from './connection.ts';
import { isNameTaken, isOtherTable, isUndefinedTable } from './faults.ts';
import { initial } from './migrations/0001-initial.ts';
import { copying } from './migrations/0002-copying.ts';
import { pages } from './migrations/0003-pages.ts';
import { turns } from './migrations/0004-turns.ts';
import { textChanged } from './migrations/0005-text-changed.ts';
import { quoted, sql } from './sql.ts';

/** One step of the schema, from the previous version. Never changed once released. */
export interface Migration {
  readonly version: number;
  /** The statements. They name tables without a schema. */
  readonly sql: string;
  /** New tables. Every user gets the same rights on them as on `memory`. */
  readonly likeMemory?: readonly string[];
}

const migrations: readonly Migration[] = [initial, copying, pages, turns, textChanged];

/** The version that this code reads and writes. */
export const SCHEMA_VERSION = migrations.length;

/** The oldest version that can correctly read and write the schema of this version. Its programs keep working after a migration. */
const OLDEST_THAT_FITS = 5;

/** The key of the advisory lock that serialises migrations: "Salience" in ASCII. */
const MIGRATION_LOCK = '6007781405021037413';

/**
 * Returns the schema version of a database, or 0 if there is none yet. Throws `newer_store` for a schema of a later version,
 * `not_a_store` if `meta` is a table of another program, and `store_failed` if the server would round numbers or if, for a schema
 * not created yet, the encoding of the database cannot hold every text.
 */
export async function identify(database: Database): Promise<number> {
  return translated(database, async () => {
    let found: readonly (readonly (string | null)[])[];
    try {
      found = await database.run(
        sql`SELECT value, ${DIGITS}, (SELECT value FROM ${database.tables.meta} WHERE key = 'fits')
          FROM ${database.tables.meta} WHERE key = 'schema'`,
      );
    } catch (error) {
      if (isOtherTable(error)) throw foreignSchema(database);
      if (!isUndefinedTable(error)) throw error;
      const [[digits, encoding] = []] = await database.run(
        sql`SELECT ${DIGITS}, current_setting('server_encoding')::text`,
      );
      checkDigits(database, digits);
      checkEncoding(database, encoding);
      return 0;
    }
    const [version, digits, fits] = found[0] ?? [];
    if (!/^[1-9][0-9]*$/.test(version ?? '')) throw foreignSchema(database);
    const known = Number(version);
    const { place, schema } = database;
    if (known > SCHEMA_VERSION && Number(fits ?? known) > SCHEMA_VERSION) {
      throw new SalienceError(
        'newer_store',
        `PostgreSQL at ${place}: the schema ${JSON.stringify(schema)} was written by a newer version (schema ${known}; this one knows ${SCHEMA_VERSION}); update the package. Nothing was changed`,
        { details: { place, version: known, known: SCHEMA_VERSION } },
      );
    }
    checkDigits(database, digits);
    // A newer schema that this version can use is treated as the present one.
    return Math.min(known, SCHEMA_VERSION);
  });
}

const DIGITS = sql`current_setting('extra_float_digits')::text`;

function checkDigits({ place }: Database, digits: string | null = null): void {
  if (Number(digits ?? 1) >= 1) return;
  throw new SalienceError(
    'store_failed',
    `PostgreSQL at ${place}: extra_float_digits is ${digits}, so that the server rounds numbers; set it to 1, the default, for the user (a setting of a user comes before that of the database): ALTER ROLE … SET extra_float_digits = 1, and connect again`,
    { details: { place } },
  );
}

function checkEncoding({ place }: Database, encoding: string | null = null): void {
  if ((encoding ?? 'UTF8') === 'UTF8') return;
  throw new SalienceError(
    'store_failed',
    `PostgreSQL at ${place}: the encoding of the database is ${encoding}, which cannot hold every text; use one with the encoding UTF8 (createdb --encoding=UTF8 --template=template0). Nothing was changed`,
    { details: { place } },
  );
}

/** Returns the statements that migrate a schema from `version` to `to`, to be run as one transaction. */
export function migrationScript(schema: string, version: number, to = SCHEMA_VERSION): string {
  const steps = migrations
    .slice(version, to)
    .flatMap(({ sql: text, likeMemory = [] }) => [
      inSchema(text, schema),
      ...likeMemory.map((table) => rightsLikeMemory(schema, table)),
    ]);
  const meta = `${quoted(schema)}.meta`;
  return [
    `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`,
    ...(version === 0
      ? [
          schemaIfMissing(schema),
          // If two processes create the schema, this fails in the second one, whose whole script is rolled back.
          `CREATE TABLE ${meta} (key text PRIMARY KEY, value text NOT NULL)`,
        ]
      : [`DELETE FROM ${meta} WHERE key = 'schema' AND value = '${version}'`]),
    ...steps,
    `INSERT INTO ${meta} (key, value) VALUES ('schema', '${to}')`,
    `INSERT INTO ${meta} (key, value) VALUES ('fits', '${OLDEST_THAT_FITS}') ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  ].join(';\n');
}

/** Migrates a schema to the present version, if it is older. Returns the version that it had. */
export async function migrate(database: Database): Promise<number> {
  const version = await identify(database);
  if (version === SCHEMA_VERSION) return version;
  try {
    await database.script(migrationScript(database.schema, version));
  } catch (error) {
    // Another process may have migrated it first.
    const now = await identify(database);
    if (now === SCHEMA_VERSION) return version;
    if (now === 0 && isNameTaken(error)) throw foreignSchema(database);
    return translated(database, () => Promise.reject(error));
  }
  return version;
}

function foreignSchema({ place, schema }: Database): SalienceError {
  return new SalienceError(
    'not_a_store',
    `PostgreSQL at ${place}: the schema ${JSON.stringify(schema)} has tables of another program with the names of ours; choose another schema. Nothing was changed`,
    { details: { place, schema } },
  );
}

/** Creates a missing schema. `CREATE SCHEMA IF NOT EXISTS` alone needs the right to create schemas even if the schema exists. */
function schemaIfMissing(schema: string): string {
  return `DO $schema$
    BEGIN
      IF to_regnamespace('${quoted(schema)}') IS NULL THEN
        CREATE SCHEMA IF NOT EXISTS ${quoted(schema)};
      END IF;
    END $schema$`;
}

/** Grants every user the same rights on `table` as on `memory`, so that their programs keep working after the owner migrates. */
function rightsLikeMemory(schema: string, table: string): string {
  return `DO $rights$
    DECLARE held record;
    BEGIN
      FOR held IN SELECT DISTINCT grantee, privilege_type FROM information_schema.role_table_grants
        WHERE table_schema = '${schema}' AND table_name = 'memory' AND grantee <> current_user
      LOOP
        EXECUTE format('GRANT %s ON ${quoted(schema)}.${table} TO %s', held.privilege_type,
          CASE held.grantee WHEN 'PUBLIC' THEN 'PUBLIC' ELSE quote_ident(held.grantee) END);
      END LOOP;
    END $rights$`;
}

/** Adds the name of the schema to the tables that the statements create or change, and removes comments. */
function inSchema(statements: string, schema: string): string {
  const name = quoted(schema);
  return statements
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\b(CREATE TABLE|ALTER TABLE) /g, `$1 ${name}.`)
    .replaceAll(/\b(CREATE (?:UNIQUE )?INDEX \w+ ON) /g, `$1 ${name}.`);
}

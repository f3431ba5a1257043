import { SalienceError } from '../../domain/errors.ts';
import type { Database } from './connection.ts';
import { quoted, sql } from './sql.ts';
import { TABLES, type Table, type TableName, type TableNames } from './tables.ts';

/** A constraint that makes the rows of a table unique. */
interface Constraint {
  readonly table: keyof TableNames;
  readonly kind: 'PRIMARY KEY' | 'UNIQUE';
  readonly columns: readonly string[];
}

const primary = (table: keyof TableNames, ...columns: string[]): Constraint => ({
  table,
  kind: 'PRIMARY KEY',
  columns,
});

/** All such constraints that the migrations create. */
const CONSTRAINTS: readonly Constraint[] = [
  primary('meta', 'key'),
  primary('space', 'space_id'),
  primary('shared', 'kind', 'id'),
  ...(Object.keys(TABLES) as TableName[]).flatMap((table) => {
    const { key }: Table = TABLES[table];
    return key ? [primary(table, 'space_id', ...key)] : [];
  }),
  { table: 'memory', kind: 'UNIQUE', columns: ['space_id', 'id'] },
];

/**
 * Finds the constraints that a schema lacks, for example because a dump was restored without them. Returns for each a sentence that
 * says what to do. An invalid or partial index does not count as a constraint. Throws the driver's own errors.
 */
export async function missingConstraints(database: Database): Promise<readonly string[]> {
  const { schema, tables } = database;
  const rows = await database.run(
    sql`SELECT class.relname::text, (
        SELECT string_agg(attribute.attname::text, ',' ORDER BY attribute.attname::text COLLATE "C")
        FROM pg_attribute AS attribute WHERE attribute.attrelid = index.indrelid
          AND attribute.attnum = ANY ((index.indkey::int2[])[0:index.indnkeyatts - 1])
      )
      FROM pg_index AS index JOIN pg_class AS class ON class.oid = index.indrelid
      WHERE class.relnamespace = to_regnamespace(${quoted(schema)}::text)
        AND index.indisunique AND index.indisvalid AND index.indimmediate
        AND index.indpred IS NULL AND index.indexprs IS NULL`,
    { reads: true },
  );
  const known = new Set(rows.map(([table, columns]) => `${table}: ${columns}`));
  return CONSTRAINTS.filter(({ table, columns }) => !known.has(`${table}: ${[...columns].sort()}`)).map(
    ({ table, kind, columns }) => {
      const added = `${kind} (${columns.map(quoted).join(', ')})`;
      const statement = `ALTER TABLE ${tables[table].parts[0]} ADD ${added}`;
      return `the table ${table} has lost its ${kind} (${columns.join(', ')}): as the owner of the tables, run ${statement}`;
    },
  );
}

/** Returns the error for a statement that failed because a constraint is missing; `undefined` if none is found to be missing. */
export async function constraintFailure(database: Database): Promise<SalienceError | undefined> {
  const [first, ...others] = await missingConstraints(database).catch(() => []);
  if (first === undefined) return undefined;
  const more = others.length > 0 ? `. ${others.length} more are missing; salience doctor lists them` : '';
  return new SalienceError(
    'store_failed',
    `PostgreSQL at ${database.place}: ${first}; nothing was changed${more}`,
    { details: { place: database.place, code: '42P10' } },
  );
}

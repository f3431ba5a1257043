import type { Connection } from './connection.ts';
import { readDerivation, readMeta } from './meta.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { decodeTermVector } from './term-vector.ts';

/** Looks for damage in the file and between the tables; each finding is a sentence. Inside a read transaction. */
export function findDamage(connection: Connection): readonly string[] {
  const findings = (connection.all('PRAGMA integrity_check(100)') as { integrity_check: string }[])
    .map((row) => row.integrity_check)
    .filter((line) => line !== 'ok')
    .map((line) => `SQLite: ${line}`);
  // A damaged file makes the questions below unanswerable.
  if (findings.length > 0) return findings;
  const { user_version: version } = connection.get('PRAGMA user_version') as { user_version: number };
  if (version !== SCHEMA_VERSION) findings.push(`the schema is ${version}, not ${SCHEMA_VERSION}`);
  const count = (sql: string, ...values: number[]) =>
    (connection.get(`SELECT count(*) AS count FROM ${sql}`, ...values) as { count: number }).count;
  const report = (found: number, what: string) => {
    if (found > 0) findings.push(`${found} ${what}`);
  };
  report(
    count('memory WHERE NOT EXISTS (SELECT 1 FROM term_vector WHERE term_vector.row = memory.row)'),
    'memories without their terms: reindex the space',
  );
  for (const table of ['vector', 'term_vector']) {
    report(
      count(`${table} WHERE NOT EXISTS (SELECT 1 FROM memory WHERE memory.row = ${table}.row)`),
      `rows in ${table} without a memory: reindex the space`,
    );
  }
  report(
    count(
      `link WHERE a_row >= b_row OR NOT EXISTS (SELECT 1 FROM memory WHERE row = a_row)
       OR NOT EXISTS (SELECT 1 FROM memory WHERE row = b_row)`,
    ),
    'links without both of their memories: restore the space from a backup',
  );
  report(
    count(
      `similar_pair WHERE dropped = 0 AND (NOT EXISTS (SELECT 1 FROM memory WHERE id = older_id)
       OR NOT EXISTS (SELECT 1 FROM memory WHERE id = newer_id))`,
    ),
    'similar pairs without both of their memories: restore the space from a backup',
  );
  const { embedding } = readDerivation(connection);
  report(
    count('vector WHERE length(bytes) <> ?', (embedding?.dimensions ?? 0) * 4),
    `vectors that are not of the space's model (${embedding?.model ?? 'none'}): reindex the space`,
  );
  report(unknownTerms(connection), 'memories with terms that are not in the dictionary: reindex the space');
  if (readMeta(connection, 'erasure') !== undefined) {
    findings.push(
      'bytes of forgotten memories wait to be erased: open the space for writing while nobody else reads it',
    );
  }
  return findings;
}

function unknownTerms(connection: Connection): number {
  const known = new Set((connection.all('SELECT id FROM term') as { id: number }[]).map(({ id }) => id));
  let damaged = 0;
  for (const row of connection.statement('SELECT bytes FROM term_vector').iterate()) {
    let unknown = false;
    decodeTermVector((row as { bytes: Uint8Array }).bytes, (term) => {
      if (!known.has(term)) unknown = true;
    });
    if (unknown) damaged++;
  }
  return damaged;
}

import type { SpaceInfo } from '../../store/store.ts';
import { type Connection, IN_MEMORY } from './connection.ts';
import { lastSequence } from './events.ts';
import { bytesOf } from './files.ts';
import { readDerivation, readMeta, readSettings } from './meta.ts';
import { SCHEMA_VERSION } from './schema.ts';

/** Counts of a space. To be called inside a read transaction, so that they belong together. */
export function spaceInfo(connection: Connection, name: string): SpaceInfo {
  const count = (table: string) =>
    (connection.get(`SELECT count(*) AS count FROM ${table}`) as { count: number }).count;
  const countsBy = (column: string) =>
    Object.fromEntries(
      (
        connection.all(`SELECT ${column} AS key, count(*) AS count FROM memory GROUP BY ${column}`) as {
          key: string;
          count: number;
        }[]
      ).map(({ key, count }) => [key, count]),
    );
  const lastBackup = readMeta(connection, 'backup');
  const onDisk = connection.path !== IN_MEMORY;
  return {
    name,
    memories: count('memory'),
    vectors: count('vector'),
    terms: count('term'),
    byType: countsBy('type'),
    byScope: countsBy('scope'),
    byTier: countsBy('tier'),
    links: count('link'),
    pendingPairs: count('similar_pair WHERE ended_at IS NULL'),
    events: count('event'),
    sequence: lastSequence(connection),
    ...readDerivation(connection),
    settings: readSettings(connection),
    ...(lastBackup === undefined ? {} : { lastBackup }),
    bytes: onDisk ? bytesOf(connection.path) : 0,
    path: onDisk ? connection.path : undefined,
    schemaVersion: SCHEMA_VERSION,
  };
}

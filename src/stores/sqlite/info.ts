import type { SpaceInfo } from '../../store/store.ts';
import { type Connection, IN_MEMORY } from './connection.ts';
import type { SqlValue } from './driver.ts';
import { lastSequence } from './events.ts';
import { bytesOf } from './files.ts';
import { readDerivation, readMeta, readSettings } from './meta.ts';
import { rangesOf } from './ranges.ts';
import { SCHEMA_VERSION } from './schema.ts';

/** The number of rows that one statement counts, in a millisecond or two. */
const RANGE = 2048;

/** Counts what a space holds, in steps. Call it inside a read transaction, so that the counts are of one state. */
export function* spaceInfo(connection: Connection, name: string): Generator<undefined, SpaceInfo> {
  const counts = COUNTED.map(() => new Map<string, number>());
  let memories = 0;
  const groups = COUNTED.join(', ');
  for (const row of yield* ofRanges(connection, 'memory', `${groups}, count(*)`, `GROUP BY ${groups}`)) {
    const count = row.at(-1) as number;
    memories += count;
    for (const [at, by] of counts.entries()) {
      const key = row[at] as string;
      by.set(key, (by.get(key) ?? 0) + count);
    }
  }
  const [byType, byScope, byTier] = counts.map((by) => Object.fromEntries([...by].sort(byKey)));
  const all = function* (table: string) {
    const found = yield* ofRanges(connection, table, 'count(*)');
    return found.reduce((sum, [count]) => sum + (count as number), 0);
  };
  const some = (rows: string) =>
    (connection.get(`SELECT count(*) AS count FROM ${rows}`) as { count: number }).count;
  const lastBackup = readMeta(connection, 'backup');
  const onDisk = connection.path !== IN_MEMORY;
  return {
    name,
    memories,
    vectors: yield* all('vector'),
    terms: yield* all('term'),
    byType: byType!,
    byScope: byScope!,
    byTier: byTier!,
    links: some('link'),
    pendingPairs: some('similar_pair WHERE ended_at IS NULL'),
    events: yield* all('event'),
    sequence: lastSequence(connection),
    ...readDerivation(connection),
    settings: readSettings(connection),
    ...(lastBackup === undefined ? {} : { lastBackup }),
    bytes: onDisk ? bytesOf(connection.path) : 0,
    path: onDisk ? connection.path : undefined,
    schemaVersion: SCHEMA_VERSION,
  };
}

/** The columns whose values are counted. */
const COUNTED = ['type', 'scope', 'tier'] as const;

/** Runs a statement on a table range by range, and returns all result rows. */
function* ofRanges(
  connection: Connection,
  table: string,
  columns: string,
  rest = '',
): Generator<undefined, SqlValue[][]> {
  const found: SqlValue[][] = [];
  for (const range of rangesOf(connection, table, RANGE)) {
    found.push(
      ...connection.lists(`SELECT ${columns} FROM ${table} WHERE rowid >= ? AND rowid < ? ${rest}`, ...range),
    );
    yield;
  }
  return found;
}

function byKey([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : 1;
}

import { createHash } from 'node:crypto';
import { SalienceError } from '../../domain/errors.ts';
import { DEFAULT_SETTINGS } from '../../domain/settings.ts';
import {
  COPY_PARTS,
  type CopyHead,
  type CopyKey,
  type CopyPart,
  type CopyRange,
  type CopyRow,
  type CopyRows,
  type CopySource,
  type CopyTarget,
  type StoreCopying,
  termsToCopy,
} from '../../store/copying.ts';
import { anotherCopy } from '../../store/faults.ts';
import {
  linkChangeFromJson,
  settingsFromJson,
  settingsToJson,
  usedFromJson,
} from '../../store/stored-json.ts';
import { type Changes, commit, newStamp, settling, type TableChange } from './commit.ts';
import { type Database, translated } from './connection.ts';
import {
  embeddingOf,
  type Found,
  type Head,
  type Moment,
  type SpacePlace,
  spaceIdOf,
  startMoment,
} from './moment.ts';
import { fromRow, RECORD_COLUMNS, termsFromJson } from './rows.ts';
import { joined, quoted, raw, type Sql, sql, wantedNumbers, wantedTexts } from './sql.ts';
import { type ColumnType, TABLES, type TableName } from './tables.ts';
import { newTombstoneKey, readTombstoneKey } from './tombstones.ts';
import { LINE_ROWS } from './write.ts';

/**
 * Returns the functions that copy spaces between this schema and another store. `prepare` migrates the schema if needed, and
 * `openForReading` returns the id of a space.
 */
export function copyingIn(
  database: Database,
  prepare: (readOnly: boolean) => Promise<unknown>,
  openForReading: (name: string) => Promise<string>,
): StoreCopying {
  return {
    async from(name) {
      return sourceOf({ database, name, id: await openForReading(name), secrets: {} });
    },
    async into(name) {
      await prepare(false);
      const place = { database, name, id: spaceIdOf(name), secrets: {}, isCopy: true };
      const { space } = database.tables;
      const [row] = await translated(database, async () => {
        await database.run(
          sql`INSERT INTO ${space} (space_id, name, stamp, settings, tombstone_key, copying)
            VALUES (${place.id}::uuid, ${name}::text, ${newStamp()}::text, ${settingsToJson(DEFAULT_SETTINGS)}::text, ${newTombstoneKey()}::text, true)
            ON CONFLICT (space_id) DO NOTHING`,
        );
        return database.run(sql`SELECT copying::text FROM ${space} WHERE space_id = ${place.id}::uuid`);
      });
      if (row?.[0] !== 'true') throw exists(name);
      return targetOf(place);
    },
    // An error is ignored here: the same error will be reported when a space is read.
    identity: () => identityOf(database).catch(() => undefined),
  };
}

/**
 * Returns a text that identifies the server (by its start time), the database and the schema (by their object ids). It also includes
 * a hash of the random keys of the spaces, because test servers may start at the same time.
 */
async function identityOf(database: Database): Promise<string | undefined> {
  const [row] = await database.run(
    sql`SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()),
        (SELECT oid FROM pg_database WHERE datname = current_database()),
        (SELECT oid FROM pg_namespace WHERE nspname = ${database.schema}::text),
        (SELECT md5(string_agg(space_id::text || tombstone_key, ',' ORDER BY space_id)) FROM ${database.tables.space}))`,
    { reads: true },
  );
  return row?.[0] ?? undefined;
}

function exists(space: string): SalienceError {
  return new SalienceError(
    'already_exists',
    `space ${JSON.stringify(space)} exists already, and a copy overwrites nothing; delete it first (salience spaces delete), or copy into another store`,
    { details: { space } },
  );
}

function rowsOf(place: SpacePlace): CopyRows {
  const { database, id } = place;
  return {
    async rows(part, range) {
      const found = await startMoment(place).rows(queryOf(place, part, range));
      return found.map((row) => copied(part, row));
    },
    async count(part) {
      const table = database.tables[part === 'compared' ? 'memory' : part];
      const [row] = await startMoment(place).rows<{ count: number }>(
        sql`SELECT count(*) AS count FROM ${table} WHERE space_id = ${id}::uuid`,
      );
      return row?.count ?? 0;
    },
    async [Symbol.asyncDispose]() {},
  };
}

function queryOf({ database, id }: SpacePlace, part: CopyPart, range: CopyRange): Sql {
  const { memory, derived, link } = database.tables;
  const here = (table: string) => sql`${raw(table)}.space_id = ${id}::uuid`;
  switch (part) {
    case 'memory':
      return sql`SELECT ${RECORD_COLUMNS}, memory.content_key, derived.terms AS terms, encode(derived.vector, 'base64') AS vector
        FROM ${memory} AS memory LEFT JOIN ${derived} AS derived
          ON derived.space_id = memory.space_id AND derived.generation = space.generation AND derived.key = memory.key
        WHERE ${here('memory')} AND ${conditionOf('memory', 'memory', ['key'], range)}`;
    case 'compared':
      return sql`SELECT key, compared FROM ${memory} AS memory
        WHERE ${here('memory')} AND ${conditionOf('memory', 'memory', ['key'], range)}`;
    case 'link': {
      // Joined from both ends, because either end of a link may have the lower key.
      const end = (mine: string, other: string) =>
        sql`SELECT link.a_id, link.b_id, link.kind, link.weight, link.at, memory.key AS low, other.key AS high
          FROM ${memory} AS memory
          JOIN ${link} AS link ON link.space_id = memory.space_id AND ${raw(mine)} = memory.id
          JOIN ${memory} AS other ON other.space_id = memory.space_id AND other.id = ${raw(other)}
          WHERE ${here('memory')} AND other.key > memory.key AND ${conditionOf('memory', 'memory', ['key'], range, false)}`;
      return sql`SELECT a_id, b_id, kind, weight, at FROM (${end('link.a_id', 'link.b_id')} UNION ALL ${end('link.b_id', 'link.a_id')}) AS found
        ORDER BY low, high, kind`;
    }
    default: {
      const stamp = part === 'event' || part === 'usage' ? ', stamp' : '';
      const columns = raw(COPY_PARTS[part].columns.map(quoted).join(', ') + stamp);
      return sql`SELECT ${columns} FROM ${database.tables[part]} AS part
        WHERE ${here('part')} AND ${conditionOf('part', part, COPY_PARTS[part].key, range)}`;
    }
  }
}

function conditionOf(
  alias: string,
  table: TableName,
  key: readonly string[],
  range: CopyRange,
  ordered = true,
): Sql {
  const columns = raw(key.map((column) => `${alias}.${quoted(column)}`).join(', '));
  const types: Readonly<Record<string, ColumnType>> = TABLES[table].columns;
  const valuesOf = (given: CopyKey) =>
    joined(
      given.map((value, at) => sql`${String(value)}::${raw(types[key[at] as string] ?? 'text')}`),
      ', ',
    );
  const order = ordered ? sql` ORDER BY ${columns}` : sql``;
  if ('among' in range) return sql`(${columns}) IN ${wantedNumbers(range.among)}${order}`;
  const { after, upTo, limit } = range;
  const bounds = [
    sql`true`,
    ...(after ? [sql`(${columns}) > (${valuesOf(after)})`] : []),
    ...(upTo ? [sql`(${columns}) <= (${valuesOf(upTo)})`] : []),
  ];
  return sql`${joined(bounds, ' AND ')}${order}${limit === undefined ? sql`` : sql` LIMIT ${limit}::bigint`}`;
}

function copied(part: CopyPart, row: Found): CopyRow {
  if (part !== 'memory') return row as CopyRow;
  // Throws if the row is damaged.
  fromRow(row);
  const { terms, vector } = row;
  const key = Number(row['key']);
  return {
    ...(row as CopyRow),
    terms: typeof terms === 'string' ? termsToCopy(termsFromJson(terms, key)) : null,
    // PostgreSQL breaks base64 into lines.
    vector: typeof vector === 'string' ? vector.replaceAll('\n', '') : null,
  };
}

function sourceOf(place: SpacePlace): CopySource {
  const { database, id } = place;
  const { event, usage: used, memory } = database.tables;
  return {
    ...rowsOf(place),
    head: () => readHead(startMoment(place)),
    async touched({ sequence, usage }) {
      const moment = startMoment(place);
      const [events = [], uses = []] = await moment.read(
        sql`SELECT sequence, memory_key, link, redacted FROM ${event} WHERE space_id = ${id}::uuid AND sequence > ${sequence}::bigint`,
        sql`SELECT sequence, used FROM ${used} WHERE space_id = ${id}::uuid AND sequence > ${usage}::bigint`,
      );
      const ids = [
        ...events.flatMap(({ link, sequence: number }) =>
          typeof link === 'string' ? linkChangeFromJson(link, Number(number)).link.ids : [],
        ),
        ...uses.flatMap((row) =>
          usedFromJson(String(row['used']), Number(row['sequence'])).map((use) => use.id),
        ),
      ];
      // This may read a later state. The next call of `touched` returns what was written since.
      const named = await startMoment(place).rows<{ key: number }>(
        sql`SELECT key FROM ${memory} WHERE space_id = ${id}::uuid AND id IN ${wantedTexts(ids)}`,
      );
      const keys = [...events.map((row) => Number(row['memory_key'])), ...named.map(({ key }) => key)];
      return {
        keys: [...new Set(keys)].filter((key) => key > 0),
        redacted: events.some(({ redacted }) => redacted),
      };
    },
  };
}

async function readHead(moment: Moment): Promise<CopyHead> {
  const tombstoneKey = await readTombstoneKey(moment);
  const head = await moment.head();
  return {
    stamp: head.stamp,
    generation: head.generation,
    key: head.key,
    sequence: head.sequence,
    at: head.at,
    usage: head.usage,
    usedAt: head.used_at,
    pair: head.pair,
    recording: head.recording,
    ordinal: head.ordinal,
    embedding: embeddingOf(head),
    analyzer: head.analyzer ?? undefined,
    settings: head.settings,
    tombstoneKey,
  };
}

function targetOf(place: SpacePlace): CopyTarget {
  const { database, id, name } = place;
  const { space, event, usage, memory } = database.tables;
  let head: Head | undefined;
  /**
   * Runs `attempt`, one statement that verifies the stamp of the space, until it succeeds. Retries if the statement was lost before
   * the server ran it. Throws if another copy has written.
   */
  const inTurn = async (attempt: (before: Head) => Promise<boolean>) => {
    head ??= await startMoment(place).head();
    while (!(await attempt(head))) {
      const { stamp } = await startMoment(place).head();
      if (stamp !== head.stamp) throw anotherCopy(name);
    }
    return head;
  };
  const write = async (changes: Changes) => {
    const stamp = newStamp();
    const before = await inTurn((known) => commit(place, known, { ...known, stamp }, changes));
    head = { ...before, stamp };
  };
  /** Whether the copy is complete. Others may have written to the space since. */
  const isComplete = async () => {
    const found = await database.run(
      sql`SELECT 1::text FROM ${space} WHERE space_id = ${id}::uuid AND NOT copying`,
    );
    return found.length > 0;
  };
  /** Finds stored memories that hold the id of one of `rows` under another key. */
  const takenIds = async (rows: readonly CopyRow[]) => {
    const keys = new Set(rows.map((row) => row['key']));
    const found = await startMoment(place).rows<{ key: number; id: string }>(
      sql`SELECT key, id FROM ${memory} WHERE space_id = ${id}::uuid AND id IN ${wantedTexts(rows.map((row) => String(row['id'])))}`,
    );
    return found.filter(({ key }) => !keys.has(key));
  };
  return {
    ...rowsOf(place),
    unfinished: () =>
      `space ${JSON.stringify(place.name)} is a copy that has not ended, with texts in it; copy or restore it again, or delete it (salience spaces delete)`,
    async put(part, rows, gone) {
      if (part === 'compared') {
        for (const compared of [true, false]) {
          const changed = rows.filter((row) => row['compared'] === compared).map(({ key }) => ({ key }));
          if (changed.length > 0) await write({ memory: { set: { rows: changed, to: { compared } } } });
        }
        return;
      }
      if (part === 'memory') {
        const left = [...gone, ...(await takenIds(rows))];
        for (const end of ['a_id', 'b_id']) {
          if (left.length > 0) await write({ link: { drop: left.map((row) => ({ [end]: row['id'] })) } });
        }
        return write(memoryChanges(rows, left));
      }
      return write({ [part]: changeOf(part, rows, gone) });
    },
    async finish(given) {
      const last = (table: Sql) =>
        sql`coalesce((SELECT stamp FROM ${table} WHERE space_id = ${id}::uuid ORDER BY sequence DESC LIMIT 1), '')`;
      const { embedding, analyzer = null, tombstoneKey } = given;
      const settings = settingsToJson(settingsFromJson(given.settings, { table: 'space', row: 0 }));
      const complete = async ({ stamp }: Head) => {
        const done = await database.run(
          sql`UPDATE ${space} SET copying = false, stamp = ${newStamp()}::text, key = ${given.key}::bigint,
            sequence = ${given.sequence}::bigint, at = ${given.at}::bigint, event_stamp = ${last(event)},
            usage = ${given.usage}::bigint, used_at = ${given.usedAt}::bigint, usage_stamp = ${last(usage)},
            pair = ${given.pair}::bigint, recording = ${given.recording}::bigint, ordinal = ${given.ordinal}::bigint,
            embedding_model = ${embedding?.model ?? null}::text, embedding_dimensions = ${embedding?.dimensions ?? null}::bigint,
            analyzer = ${analyzer}::text, settings = ${settings}::text,
            tombstone_key = coalesce(${tombstoneKey ?? null}::text, tombstone_key)
            WHERE space_id = ${id}::uuid AND copying AND stamp = ${stamp}::text RETURNING 1::text`,
        );
        return done.length > 0;
      };
      await inTurn((before) => settling(place, () => complete(before), isComplete));
    },
  };
}

function memoryChanges(rows: readonly CopyRow[], gone: readonly Found[]): Changes {
  const keys = [...rows, ...gone].map(({ key }) => ({ key }));
  const records = rows.map((row) => ({ key: row['key'], memory: fromRow(row) }));
  const lines = Object.entries(LINE_ROWS).map(([line, rowsFor]) => [
    line,
    {
      drop: keys,
      put: records.flatMap(({ key, memory }) => rowsFor(memory).map((each) => ({ key, ...each }))),
    },
  ]);
  const left = gone.map(({ key }) => ({ key }));
  return {
    ...Object.fromEntries(lines),
    memory: {
      // `compared` is copied as a part of its own.
      put: rows.map(({ terms, vector, ...row }) => ({ ...row, compared: false })),
      drop: left,
    },
    derived: {
      put: rows
        .filter(({ terms }) => terms !== null)
        .map(({ key, terms, vector }) => ({ generation: 0, key, terms, vector })),
      drop: left,
    },
  };
}

function changeOf(
  part: Exclude<CopyPart, 'memory' | 'compared'>,
  rows: readonly CopyRow[],
  gone: readonly CopyRow[],
): TableChange {
  const key: readonly string[] = COPY_PARTS[part].key;
  return {
    put: rows.map((row) => completed(part, row)),
    drop: gone.map((row) => Object.fromEntries(key.map((column) => [column, row[column]]))),
  };
}

/** Adds the columns that only PostgreSQL's logs have. If the source has no stamps, every copy computes the same ones. */
function completed(part: CopyPart, row: CopyRow): Found {
  const { sequence, operation = null, at } = row;
  const stamp = row['stamp'] ?? stampFrom([part, operation ?? sequence, at]);
  if (part === 'usage') return { ...row, stamp };
  if (part !== 'event') return row;
  const { link } = row;
  const other = typeof link === 'string' ? linkChangeFromJson(link, Number(sequence)).link.ids[1] : null;
  return { ...row, stamp, other_id: other };
}

function stampFrom(values: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 16);
}

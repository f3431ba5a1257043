import { SalienceError } from '../../domain/errors.ts';
import { DEFAULT_SETTINGS } from '../../domain/settings.ts';
import { parseSpaceName } from '../../domain/space.ts';
import { createResidence } from '../../search/residence.ts';
import { closedError, missingSpace } from '../../store/faults.ts';
import { createQueue } from '../../store/queue.ts';
import type { OpenSpaceOptions, SpaceStore, Store } from '../../store/store.ts';
import { settingsToJson } from '../../store/stored-json.ts';
import { newStamp, settled } from './commit.ts';
import { type Database, translated } from './connection.ts';
import { copyingIn } from './copying.ts';
import { isLost, isUndefinedTable, translateError } from './faults.ts';
import { incomplete, spaceIdOf } from './moment.ts';
import { identify, migrate, SCHEMA_VERSION } from './schema.ts';
import { sharedTexts } from './shared.ts';
import { type OpenSpace, openHandle } from './space.ts';
import { joined, raw, type Sql, sql } from './sql.ts';
import { TABLES, type TableName } from './tables.ts';
import { createTerms } from './terms.ts';
import { newTombstoneKey } from './tombstones.ts';

interface Shared {
  readonly space: OpenSpace;
  handles: number;
}

/** The least time, in milliseconds, between two test writes of `ready`. */
const PROBE_EVERY = 5000;

/** Creates a store of the spaces in one schema. */
export function openStoreIn(database: Database): Store {
  const shared = new Map<string, Shared>();
  const opened = new Set<SpaceStore>();
  let ready: Promise<number> | undefined;
  let closed = false;
  const checkOpen = () => {
    if (closed) throw closedError('the store');
  };
  const run: Database['run'] = (statement) => translated(database, () => database.run(statement));
  /** Returns the version of the schema, 0 if there is none. Unless `readOnly`, creates a missing schema and migrates an older one. */
  const prepare = async (readOnly: boolean): Promise<number> => {
    ready ??= identify(database);
    const version = await ready.catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    if (version === SCHEMA_VERSION) return version;
    // Not cached: another process may migrate it.
    ready = undefined;
    if (version === 0 && readOnly) return version;
    if (readOnly) throw olderSchema(database, version);
    await migrate(database);
    ready = Promise.resolve(SCHEMA_VERSION);
    return SCHEMA_VERSION;
  };
  const listSpaces = async (): Promise<readonly string[]> => {
    try {
      const rows = await database.run(sql`SELECT name FROM ${database.tables.space} WHERE NOT copying`);
      return rows.map(([name]) => name ?? '').sort();
    } catch (error) {
      if (isUndefinedTable(error)) return [];
      return translated(database, () => Promise.reject(error));
    }
  };
  /** Finds a space, and whether a copy into it is unfinished. Throws if another name has the same hash. */
  const find = async (name: string, id: string) => {
    const [row] = await run(
      sql`SELECT name, copying::text FROM ${database.tables.space} WHERE space_id = ${id}::uuid`,
    );
    if (row && row[0] !== name) {
      throw new SalienceError(
        'invalid_space_name',
        `the name ${JSON.stringify(name)} has the hash of another space; choose another name`,
      );
    }
    return row && { copying: row[1] === 'true' };
  };
  const texts = sharedTexts(database, () => prepare(false));
  let probed = Number.NEGATIVE_INFINITY;
  let closing: Promise<void> | undefined;
  const close = () => {
    closed = true;
    closing ??= Promise.all([...opened].map((space) => space.close())).then(() => database.close());
    return closing;
  };
  return {
    async openSpace(
      name,
      { readOnly = false, mustExist = readOnly, settings = DEFAULT_SETTINGS, room }: OpenSpaceOptions = {},
    ) {
      checkOpen();
      parseSpaceName(name);
      const id = spaceIdOf(name);
      const version = await prepare(readOnly);
      const exists = version > 0 && (await find(name, id));
      if (exists !== false && exists?.copying) throw incomplete(name);
      if (!exists && (readOnly || mustExist)) throw missingSpace(name, await listSpaces());
      if (!exists) {
        await run(
          sql`INSERT INTO ${database.tables.space} (space_id, name, stamp, settings, tombstone_key)
            VALUES (${id}::uuid, ${name}::text, ${newStamp()}::text, ${settingsToJson(settings)}::text, ${newTombstoneKey()}::text)
            ON CONFLICT (space_id) DO NOTHING`,
        );
        if ((await find(name, id))?.copying) throw incomplete(name);
      }
      checkOpen();
      let entry = shared.get(name);
      if (!entry) {
        const place = { database, name, id, secrets: {} };
        const following = {
          terms: createTerms(),
          position: undefined,
          usesAhead: 0,
          rowsAhead: 0,
          overtaken: 0,
          unsaved: 0,
        };
        entry = {
          space: {
            place,
            writes: createQueue(),
            residence: createResidence(name),
            following,
            writesInTurn: 0,
          },
          handles: 0,
        };
        shared.set(name, entry);
      }
      entry.handles++;
      const mine = entry;
      const space = openHandle(mine.space, { readOnly, room }, () => {
        opened.delete(space);
        if (--mine.handles === 0 && shared.get(name) === mine) shared.delete(name);
      });
      opened.add(space);
      return space;
    },
    async listSpaces() {
      checkOpen();
      return listSpaces();
    },
    async deleteSpace(name) {
      checkOpen();
      parseSpaceName(name);
      const id = spaceIdOf(name);
      const version = await prepare(true);
      if (version === 0 || !(await find(name, id))) throw missingSpace(name, await listSpaces());
      const mine = [...opened].filter((space) => space.name === name);
      try {
        await database.run(deletion(database, id));
      } catch (error) {
        const isGone =
          isLost(error) && (await settled({ database, id }, error, async () => !(await find(name, id))));
        if (!isGone) throw translateError(error, database.place);
      }
      await Promise.all(mine.map((space) => space.close()));
    },
    shared: texts,
    async ready() {
      checkOpen();
      // Identified again, because another version may have migrated it since.
      ready = undefined;
      await prepare(false);
      // Only a write shows that the disk is full or that the server has become a standby.
      if (performance.now() - probed < PROBE_EVERY) return;
      await texts.put('ready', 'probe', String(SCHEMA_VERSION));
      probed = performance.now();
    },
    copying: copyingIn(database, prepare, async (name) => {
      checkOpen();
      parseSpaceName(name);
      const id = spaceIdOf(name);
      const found = (await prepare(true)) > 0 && (await find(name, id));
      if (!found) throw missingSpace(name, await listSpaces());
      if (found.copying) throw incomplete(name);
      return id;
    }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Returns the statement that deletes a space. It deletes the row of the space first, which waits for writers that have locked it, so
 * that the following statements see all their rows. A single statement would only see the rows from before it waited.
 */
function deletion({ tables, busyTimeout }: Database, id: string): Sql {
  const here = `WHERE space_id = '${id}'`;
  const rest = (Object.keys(TABLES) as TableName[]).map(
    (table) => sql`DELETE FROM ${tables[table]} ${raw(here)};`,
  );
  // DO takes no parameters. The id has only hexadecimal digits and hyphens.
  return sql`DO $deletion$
    BEGIN
      PERFORM set_config('lock_timeout', ${raw(`'${busyTimeout}'`)}, true);
      DELETE FROM ${tables.space} ${raw(here)};
      IF FOUND THEN
        ${joined(rest, '\n')}
      END IF;
    END $deletion$`;
}

function olderSchema({ place, schema }: Database, version: number): SalienceError {
  return new SalienceError(
    'store_read_only',
    `PostgreSQL at ${place}: the schema ${JSON.stringify(schema)} is of the older version ${version}; bring it to ${SCHEMA_VERSION} with salience migrate, or open a space once for writing`,
    { details: { place, version } },
  );
}

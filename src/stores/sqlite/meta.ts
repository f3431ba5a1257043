import { DEFAULT_SETTINGS, type SpaceSettings } from '../../domain/settings.ts';
import { damagedRow } from '../../store/damage.ts';
import type { Derivation } from '../../store/derived.ts';
import type { SpaceState } from '../../store/store.ts';
import { settingsFromJson, settingsToJson } from '../../store/stored-json.ts';
import { verify, withChecksum } from './checksum.ts';
import type { Connection } from './connection.ts';

/**
 * The keys of the table `meta`, which holds single values of a space:
 *
 * - `generation` changes when derived data was replaced outside of the log.
 * - `erasure` is set while forgotten bytes may still be in the files.
 * - `snapshot` and `snapshot_usage` are the sequences of the last event and the last use that the saved pages reflect.
 * - `snapshot_id` changes whenever pages are saved, and is part of their names.
 * - `relations` changes when a memory starts or stops superseding or contesting another.
 * - `ordinal` is the last ordinal given.
 * - `backup` is the time of the last backup.
 * - `settings` are the settings of the space, as JSON.
 * - `tombstone_key` is the key of the hashes of invalidated statements.
 */
export type MetaKey =
  | 'space'
  | 'embedding_model'
  | 'embedding_dimensions'
  | 'analyzer'
  | 'generation'
  | 'erasure'
  | 'snapshot'
  | 'snapshot_usage'
  | 'snapshot_id'
  | 'relations'
  | 'ordinal'
  | 'backup'
  | 'settings'
  | 'tombstone_key';

/** Reads a value without its checksum: one that no answer depends on, or one of an older schema, which may have no checksums. */
export function readMeta(connection: Connection, key: MetaKey): string | undefined {
  const row = connection.get('SELECT value FROM meta WHERE key = ?', key) as { value: string } | undefined;
  return row?.value;
}

/** Reads a value and verifies its checksum, in a file of the present schema. Throws `store_corrupt`. */
export function readVerified(connection: Connection, key: MetaKey): string | undefined {
  const row = connection.get('SELECT value, checksum FROM meta WHERE key = ?', key) as
    | { value: string; checksum: number | null }
    | undefined;
  if (row) verify([key, row.value], row.checksum, { table: 'meta', row: key });
  return row?.value;
}

/** Sets a value; `undefined` removes it. */
export function writeMeta(connection: Connection, key: MetaKey, value: string | undefined): void {
  if (value === undefined) connection.run('DELETE FROM meta WHERE key = ?', key);
  else {
    connection.run(
      'INSERT OR REPLACE INTO meta (key, value, checksum) VALUES (?, ?, ?)',
      ...withChecksum([key, value]),
    );
  }
}

export function readDerivation(connection: Connection): Derivation {
  const model = readVerified(connection, 'embedding_model');
  const dimensions = readVerified(connection, 'embedding_dimensions');
  if ((model === undefined) !== (dimensions === undefined))
    throw damagedRow({ table: 'meta', row: 'embedding_model' }, 'its dimensions, or the model, are missing');
  if (model === undefined && connection.get('SELECT 1 FROM vector LIMIT 1') !== undefined)
    throw damagedRow({ table: 'meta', row: 'embedding_model' }, 'it is missing, although vectors exist');
  return {
    embedding: model === undefined ? undefined : { model, dimensions: Number(dimensions) },
    analyzer: readVerified(connection, 'analyzer'),
  };
}

export function writeDerivation(connection: Connection, { embedding, analyzer }: Derivation): void {
  writeMeta(connection, 'embedding_model', embedding?.model);
  writeMeta(connection, 'embedding_dimensions', embedding && String(embedding.dimensions));
  writeMeta(connection, 'analyzer', analyzer);
}

/** Reads the settings of the space. Throws `store_corrupt`. */
export function readSettings(connection: Connection): SpaceSettings {
  const json = readVerified(connection, 'settings');
  return json === undefined ? DEFAULT_SETTINGS : settingsFromJson(json, { table: 'meta', row: 0 });
}

export function readSpaceState(connection: Connection): SpaceState {
  return { settings: readSettings(connection), ...readDerivation(connection) };
}

/** The state of a space, and the version of the file in which it was read. */
export interface VersionedState {
  readonly version: number;
  readonly state: SpaceState;
}

export function readVersionedState(
  connection: Connection,
  before?: VersionedState | undefined,
): VersionedState {
  const version = connection.version();
  return before?.version === version ? before : { version, state: readSpaceState(connection) };
}

export function writeSettings(connection: Connection, settings: SpaceSettings): void {
  writeMeta(connection, 'settings', settingsToJson(settings));
}

export function readGeneration(connection: Connection): number {
  return Number(readVerified(connection, 'generation') ?? 0);
}

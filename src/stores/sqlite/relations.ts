import type { MemoryRecord } from '../../domain/memory.ts';
import { namesOfEntity, type RelationRecord, tripleOf } from '../../domain/relation.ts';
import type { Standing, StatedQuery, StatedRelationRow } from '../../store/store.ts';
import { checksumOf } from './checksum.ts';
import type { Connection } from './connection.ts';
import { real, type SqlValue } from './driver.ts';
import { text } from './rows.ts';

type Keyed = Pick<MemoryRecord, 'type' | 'title'> & {
  readonly aliases?: readonly string[] | undefined;
  readonly relations?: readonly RelationRecord[] | undefined;
};

/** Indexes the names of an entity and the relations that a memory states, in the place of what there was before. */
export function writeGraph(
  connection: Connection,
  row: number,
  memory: Keyed,
  before: Keyed | undefined,
): void {
  const names = namesOfEntity(memory);
  const oldNames = before === undefined ? [] : namesOfEntity(before);
  if (JSON.stringify(names) !== JSON.stringify(oldNames)) {
    if (oldNames.length > 0) connection.run('DELETE FROM entity_name WHERE row = ?', row);
    for (const name of names)
      connection.run('INSERT INTO entity_name (name, row) VALUES (?, ?)', text(name, 'name'), row);
  }
  const { relations = [] } = memory;
  const { relations: old = [] } = before ?? {};
  if (JSON.stringify(relations) === JSON.stringify(old)) return;
  if (old.length > 0) connection.run('DELETE FROM relation WHERE row = ?', row);
  for (const relation of relations) connection.run(insert, ...valuesOf(relation), row);
}

const insert = `INSERT INTO relation (from_id, name, to_id, weight, confidence, valid_from, valid_until, row)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

/** What is indexed of a relation, in the order of the columns. */
export function valuesOf(relation: RelationRecord): SqlValue[] {
  const { from, name, to, weight, confidence, validFrom = null, validUntil = null } = relation;
  const ids = [text(from, 'from'), text(name, 'name'), text(to, 'to')];
  return [...ids, real(weight), real(confidence), validFrom, validUntil];
}

/** For comparing what is indexed with what is said: one number for all relations of a memory. */
export function relationsKey(relations: readonly (readonly SqlValue[])[]): string {
  return relations
    .map((values) => checksumOf([...values]))
    .sort((a, b) => a - b)
    .join();
}

const standing = `memory.id, memory.ordinal, memory.scope, memory.type, memory.title, memory.kind, memory.tier, memory.core,
  memory.created_at, memory.valid_from, memory.valid_until, memory.expires_at, memory.invalidated_at, memory.consolidated_at`;
const stated = `relation.from_id, relation.name, relation.to_id, relation.weight, relation.confidence,
  relation.valid_from AS since, relation.valid_until AS until`;

/** Of both ends at once: an index each, and no row twice. */
const byEnds = `SELECT ${standing}, ${stated} FROM json_each(?1) AS wanted
    JOIN relation ON relation.from_id = wanted.value JOIN memory ON memory.row = relation.row
  UNION ALL
  SELECT ${standing}, ${stated} FROM json_each(?1) AS wanted
    JOIN relation INDEXED BY relation_to ON relation.to_id = wanted.value JOIN memory ON memory.row = relation.row
    WHERE relation.from_id NOT IN (SELECT value FROM json_each(?1))`;
const bySubjects = `SELECT ${standing}, ${stated} FROM json_each(?1) AS wanted
    JOIN relation ON relation.from_id = wanted.value ->> 0 AND relation.name = wanted.value ->> 1
    JOIN memory ON memory.row = relation.row`;
const byId = `SELECT ${standing} FROM json_each(?1) AS wanted JOIN memory ON memory.id = wanted.value`;

interface StandingRow {
  readonly id: string;
  readonly ordinal: number;
  readonly scope: string;
  readonly type: string;
  readonly title: string | null;
  readonly kind: string | null;
  readonly tier: Standing['tier'];
  readonly core: number;
  readonly created_at: number;
  readonly valid_from: number | null;
  readonly valid_until: number | null;
  readonly expires_at: number | null;
  readonly invalidated_at: number | null;
  readonly consolidated_at: number | null;
}

interface StatedRow extends StandingRow {
  readonly from_id: string;
  readonly name: string;
  readonly to_id: string;
  readonly weight: number;
  readonly confidence: number;
  readonly since: number | null;
  readonly until: number | null;
}

/** See `StoreReader.stated`. To be called inside a transaction. */
export function readStated(connection: Connection, query: StatedQuery): readonly StatedRelationRow[] {
  const [sql, wanted] =
    'ends' in query
      ? [byEnds, [...new Set(query.ends)]]
      : [bySubjects, query.subjects.map(({ from, name }) => [from, name])];
  if (wanted.length === 0) return [];
  const rows = connection.all(sql, JSON.stringify(wanted)) as StatedRow[];
  return rows.map((row) => ({
    memory: standingOf(row),
    relation: {
      from: row.from_id,
      name: row.name,
      to: row.to_id,
      weight: row.weight,
      confidence: row.confidence,
      ...(row.since === null ? {} : { validFrom: row.since }),
      ...(row.until === null ? {} : { validUntil: row.until }),
    },
  }));
}

/** See `StoreReader.standing`. To be called inside a transaction. */
export function readStanding(
  connection: Connection,
  ids: readonly string[],
): readonly (Standing | undefined)[] {
  const rows = connection.all(byId, JSON.stringify([...new Set(ids)])) as StandingRow[];
  const found = new Map(rows.map((row) => [row.id, standingOf(row)]));
  return ids.map((id) => found.get(id));
}

function standingOf(row: StandingRow): Standing {
  return {
    id: row.id,
    ordinal: row.ordinal,
    scope: row.scope,
    type: row.type,
    title: row.title ?? undefined,
    kind: row.kind ?? undefined,
    tier: row.tier,
    core: row.core === 1,
    createdAt: row.created_at,
    validFrom: row.valid_from ?? undefined,
    validUntil: row.valid_until ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    invalidatedAt: row.invalidated_at ?? undefined,
    consolidatedAt: row.consolidated_at ?? undefined,
  };
}

/** The triples of these ids of relations, as JSON for a query. */
export function triplesOf(ids: readonly string[]): readonly string[][] {
  return ids.flatMap((id) => {
    const triple = tripleOf(id);
    return triple ? [[triple.from, triple.name, triple.to]] : [];
  });
}

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

/** Indexes the names of an entity and the relations that a memory states. Replaces what was indexed for `before`. */
export function writeGraph(
  connection: Connection,
  row: number,
  memory: Keyed,
  before: Keyed | undefined,
): void {
  const names = namesOfEntity(memory);
  const oldNames = before === undefined ? [] : namesOfEntity(before);
  if (names.length + oldNames.length > 0 && JSON.stringify(names) !== JSON.stringify(oldNames)) {
    if (oldNames.length > 0) connection.run('DELETE FROM entity_name WHERE row = ?', row);
    for (const name of names)
      connection.run('INSERT INTO entity_name (name, row) VALUES (?, ?)', text(name, 'name'), row);
  }
  const { relations = [] } = memory;
  const { relations: old = [] } = before ?? {};
  const none = relations.length + old.length === 0;
  if (none || JSON.stringify(relations) === JSON.stringify(old)) return;
  if (old.length > 0) connection.run('DELETE FROM relation WHERE row = ?', row);
  for (const relation of relations) connection.run(insert, ...valuesOf(relation), row);
}

const insert = `INSERT INTO relation (from_id, name, to_id, weight, confidence, valid_from, valid_until, row)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

/** Returns the indexed values of a relation, in the order of the columns. */
export function valuesOf(relation: RelationRecord): SqlValue[] {
  const { from, name, to, weight, confidence, validFrom = null, validUntil = null } = relation;
  const ids = [text(from, 'from'), text(name, 'name'), text(to, 'to')];
  return [...ids, real(weight), real(confidence), validFrom, validUntil];
}

/** Returns a text that is equal for equal sets of relations, whatever their order. `check` compares records with the index by it. */
export function relationsKey(relations: readonly (readonly SqlValue[])[]): string {
  return relations
    .map((values) => checksumOf([...values]))
    .sort((a, b) => a - b)
    .join();
}

const standing = `memory.id, memory.ordinal, memory.scope, memory.type, memory.title, memory.kind, memory.tier, memory.core,
  memory.created_at, memory.valid_from, memory.valid_until, memory.expires_at, memory.invalidated_at, memory.consolidated_at`;
const stated = `relation.from_id, relation.name, relation.to_id, relation.weight, relation.confidence,
  relation.valid_from, relation.valid_until`;

/** Finds relations by either end. Each half uses its own index, and no row comes twice. */
const byEnds = `SELECT ${stated}, ${standing} FROM json_each(?1) AS wanted
    JOIN relation ON relation.from_id = wanted.value JOIN memory ON memory.row = relation.row
  UNION ALL
  SELECT ${stated}, ${standing} FROM json_each(?1) AS wanted
    JOIN relation INDEXED BY relation_to ON relation.to_id = wanted.value JOIN memory ON memory.row = relation.row
    WHERE relation.from_id NOT IN (SELECT value FROM json_each(?1))`;
const bySubjects = `SELECT ${stated}, ${standing} FROM json_each(?1) AS wanted
    JOIN relation ON relation.from_id = wanted.value ->> 0 AND relation.name = wanted.value ->> 1
    JOIN memory ON memory.row = relation.row`;
const byId = `SELECT ${standing} FROM json_each(?1) AS wanted JOIN memory ON memory.id = wanted.value`;

/** The columns of `standing`, in its order. */
type StandingRow = readonly [
  id: string,
  ordinal: number,
  scope: string,
  type: string,
  title: string | null,
  kind: string | null,
  tier: Standing['tier'],
  core: number,
  createdAt: number,
  validFrom: number | null,
  validUntil: number | null,
  expiresAt: number | null,
  invalidatedAt: number | null,
  consolidatedAt: number | null,
];

/** The columns of `stated`, then those of `standing`. */
type StatedRow = readonly [
  from: string,
  name: string,
  to: string,
  weight: number,
  confidence: number,
  since: number | null,
  until: number | null,
  ...StandingRow,
];

/** Reads stated relations: see `StoreReader.stated`. Call it inside a transaction. */
export function readStated(connection: Connection, query: StatedQuery): readonly StatedRelationRow[] {
  const [sql, wanted] =
    'ends' in query
      ? [byEnds, [...new Set(query.ends)]]
      : [bySubjects, query.subjects.map(({ from, name }) => [from, name])];
  if (wanted.length === 0) return [];
  const rows = connection.lists(sql, JSON.stringify(wanted)) as unknown as readonly StatedRow[];
  return rows.map(([from, name, to, weight, confidence, since, until, ...memory]) => ({
    memory: standingOf(memory),
    relation: {
      from,
      name,
      to,
      weight,
      confidence,
      ...(since === null ? {} : { validFrom: since }),
      ...(until === null ? {} : { validUntil: until }),
    },
  }));
}

/** Reads the standing of memories: see `StoreReader.standing`. Call it inside a transaction. */
export function readStanding(
  connection: Connection,
  ids: readonly string[],
): readonly (Standing | undefined)[] {
  const rows = connection.lists(byId, JSON.stringify([...new Set(ids)])) as unknown as readonly StandingRow[];
  const found = new Map(rows.map((row) => [row[0], standingOf(row)]));
  return ids.map((id) => found.get(id));
}

function standingOf([
  id,
  ordinal,
  scope,
  type,
  title,
  kind,
  tier,
  core,
  createdAt,
  validFrom,
  validUntil,
  expiresAt,
  invalidatedAt,
  consolidatedAt,
]: StandingRow): Standing {
  return {
    id,
    ordinal,
    scope,
    type,
    title: title ?? undefined,
    kind: kind ?? undefined,
    tier,
    core: core === 1,
    createdAt,
    validFrom: validFrom ?? undefined,
    validUntil: validUntil ?? undefined,
    expiresAt: expiresAt ?? undefined,
    invalidatedAt: invalidatedAt ?? undefined,
    consolidatedAt: consolidatedAt ?? undefined,
  };
}

/** Returns the triples of these relation ids. Ids that are not valid are left out. */
export function triplesOf(ids: readonly string[]): readonly string[][] {
  return ids.flatMap((id) => {
    const triple = tripleOf(id);
    return triple ? [[triple.from, triple.name, triple.to]] : [];
  });
}

import { isStorable } from '../../domain/wellformed.ts';
import type { Standing, StatedQuery, StatedRelationRow } from '../../store/store.ts';
import type { Found, Moment } from './moment.ts';
import { sql, wantedTexts } from './sql.ts';

const standing = sql`memory.id, memory.ordinal, memory.scope, memory.type, memory.title, memory.kind, memory.tier, memory.core,
  memory.created_at, memory.valid_from, memory.valid_until, memory.expires_at, memory.invalidated_at, memory.consolidated_at`;

/** See `StoreReader.stated`. */
export async function readStated(moment: Moment, query: StatedQuery): Promise<readonly StatedRelationRow[]> {
  const { database, id } = moment.place;
  const { relation, memory } = database.tables;
  const from = sql`SELECT ${standing}, relation.from_id, relation.name, relation.to_id, relation.weight, relation.confidence,
      relation.valid_from AS since, relation.valid_until AS until
    FROM ${relation} AS relation
    JOIN ${memory} AS memory ON memory.space_id = relation.space_id AND memory.key = relation.key
    WHERE relation.space_id = ${id}::uuid`;
  if ('ends' in query) {
    if (query.ends.length === 0) return [];
    const ends = wantedTexts(query.ends);
    const found = await moment.rows(
      sql`${from} AND relation.from_id IN ${ends} UNION ALL ${from} AND relation.to_id IN ${ends} AND relation.from_id NOT IN ${ends}`,
    );
    return found.map(statedOf);
  }
  const subjects = query.subjects.filter((each) => isStorable(each.from) && isStorable(each.name));
  if (subjects.length === 0) return [];
  const found = await moment.rows(
    sql`${from} AND (relation.from_id, relation.name) IN (
      SELECT subject ->> 0, subject ->> 1 FROM json_array_elements(${JSON.stringify(subjects.map((each) => [each.from, each.name]))}::json) AS subject)`,
  );
  return found.map(statedOf);
}

/** See `StoreReader.standing`. */
export async function readStanding(
  moment: Moment,
  ids: readonly string[],
): Promise<readonly (Standing | undefined)[]> {
  if (ids.length === 0) return [];
  const { database, id } = moment.place;
  const rows = await moment.rows(
    sql`SELECT ${standing} FROM ${database.tables.memory} AS memory
      WHERE memory.space_id = ${id}::uuid AND memory.id IN ${wantedTexts(ids)}`,
  );
  const found = new Map(rows.map((row) => [row['id'], standingOf(row)]));
  return ids.map((each) => found.get(each));
}

interface StandingRow {
  readonly id: string;
  readonly ordinal: number;
  readonly scope: string;
  readonly type: string;
  readonly title: string | null;
  readonly kind: string | null;
  readonly tier: Standing['tier'];
  readonly core: boolean;
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

function statedOf(found: Found): StatedRelationRow {
  const row = found as unknown as StatedRow;
  return {
    memory: standingOf(found),
    relation: {
      from: row.from_id,
      name: row.name,
      to: row.to_id,
      weight: row.weight,
      confidence: row.confidence,
      ...(row.since === null ? {} : { validFrom: row.since }),
      ...(row.until === null ? {} : { validUntil: row.until }),
    },
  };
}

function standingOf(found: Found): Standing {
  const row = found as unknown as StandingRow;
  return {
    id: row.id,
    ordinal: row.ordinal,
    scope: row.scope,
    type: row.type,
    title: row.title ?? undefined,
    kind: row.kind ?? undefined,
    tier: row.tier,
    core: row.core,
    createdAt: row.created_at,
    validFrom: row.valid_from ?? undefined,
    validUntil: row.valid_until ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    invalidatedAt: row.invalidated_at ?? undefined,
    consolidatedAt: row.consolidated_at ?? undefined,
  };
}

import { mergedLinks } from '../../store/links.ts';
import type { Link, Made, Neighbours } from '../../store/store.ts';
import type { Found, Moment } from './moment.ts';
import { type Sql, sql, wantedTexts } from './sql.ts';

export const LINK_COLUMNS = sql`a_id, b_id, link.kind, link.weight, link.at`;

/** Reads the stored links of these memories, each once. With `among`, only links with both ends in `ids`. */
export async function readLinks(
  moment: Moment,
  ids: readonly string[],
  among: boolean,
): Promise<readonly Link[]> {
  const { database, id } = moment.place;
  const { link } = database.tables;
  const { links: known } = moment.known;
  if (among && known && ids.every((each) => known.among.has(each))) {
    const wanted = new Set(ids);
    const both = known.rows.map(linkOf).filter((each) => each.ids.every((end) => wanted.has(end)));
    return mergedLinks(both, []);
  }
  const from = sql`SELECT ${LINK_COLUMNS} FROM ${link} AS link WHERE link.space_id = ${id}::uuid`;
  const ends = wantedTexts(ids);
  if (among) {
    const found = await moment.rows(sql`${from} AND a_id IN ${ends} AND b_id IN ${ends}`);
    return mergedLinks(found.map(linkOf), []);
  }
  // A caller that reads links is likely to read the neighbours in sessions next, so both are read at once.
  const alone = ids.filter((each) => !moment.known.neighbours.has(each));
  const [found = [], beside = []] = await moment.read(
    sql`${from} AND a_id IN ${ends} UNION ALL ${from} AND b_id IN ${ends} AND a_id NOT IN ${ends}`,
    ...(alone.length > 0 ? [neighboursQuery(moment, alone)] : []),
  );
  takeNeighbours(moment, alone, beside);
  return mergedLinks(found.map(linkOf), []);
}

export function linkOf(row: Found): Link {
  const { a_id, b_id, kind, weight, at } = row as {
    a_id: string;
    b_id: string;
    kind: Link['kind'];
    weight: number;
    at: number;
  };
  return { ids: [a_id, b_id], kind, weight, at };
}

/** See `StoreReader.neighbours`. */
export async function readNeighbours(
  moment: Moment,
  ids: readonly string[],
): Promise<readonly (Neighbours | undefined)[]> {
  const { neighbours } = moment.known;
  const missing = ids.filter((each) => !neighbours.has(each));
  if (missing.length > 0)
    takeNeighbours(moment, missing, await moment.rows(neighboursQuery(moment, missing)));
  return ids.map((each) => neighbours.get(each));
}

/**
 * Returns the query for {@link takeNeighbours}. It selects two neighbours on each side, because a caller is likely to read the
 * neighbours of the neighbours next.
 */
export function neighboursQuery({ place }: Moment, ids: readonly string[]): Sql {
  const { memory } = place.database.tables;
  const beside = (side: '<' | '>') => {
    const order = side === '<' ? sql`DESC` : sql`ASC`;
    return sql`(SELECT json_agg(json_build_object('key', key, 'id', id, 'createdAt', created_at)) FROM (
      SELECT other.key, other.id, other.created_at FROM ${memory} AS other
      WHERE other.space_id = ${place.id}::uuid AND other.born_in = memory.born_in
        AND (other.created_at, other.ordinal) ${side === '<' ? sql`<` : sql`>`} (memory.created_at, memory.ordinal)
      ORDER BY other.created_at ${order}, other.ordinal ${order} LIMIT 2) AS two)`;
  };
  return sql`SELECT memory.id, memory.created_at, ${beside('<')} AS before, ${beside('>')} AS after
    FROM ${memory} AS memory
    WHERE memory.space_id = ${place.id}::uuid AND memory.id IN ${wantedTexts(ids)} AND memory.born_in IS NOT NULL`;
}

/** Stores the neighbours of these memories, and those of the neighbours, in `moment.known`. */
export function takeNeighbours(moment: Moment, ids: readonly string[], found: readonly Found[]): void {
  const { neighbours, keys } = moment.known;
  const made = ({ id, createdAt }: Made): Made => ({ id, createdAt });
  const set = (each: Made, before: Made | undefined, after: Made | undefined) =>
    neighbours.set(each.id, {
      memory: made(each),
      before: before && made(before),
      after: after && made(after),
    });
  for (const row of found as readonly unknown[] as readonly BesideRow[]) {
    const self = { id: row.id, createdAt: row.created_at };
    const [before, beforeThat] = row.before ?? [];
    const [after, afterThat] = row.after ?? [];
    set(self, before, after);
    if (before) set(before, beforeThat, self);
    if (after) set(after, self, afterThat);
    for (const each of [before, after]) if (each) keys.set(each.id, each.key);
  }
  for (const id of ids) if (!neighbours.has(id)) neighbours.set(id, undefined);
}

interface BesideRow {
  readonly id: string;
  readonly created_at: number;
  /** The nearest first. */
  readonly before: readonly Beside[] | null;
  readonly after: readonly Beside[] | null;
}

interface Beside extends Made {
  readonly key: number;
}

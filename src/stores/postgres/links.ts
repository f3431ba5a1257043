import { mergedLinks } from '../../store/links.ts';
import type { Link, Made, Neighbours } from '../../store/store.ts';
import type { Found, Moment } from './moment.ts';
import { sql, wantedTexts } from './sql.ts';

export const LINK_COLUMNS = sql`a_id, b_id, link.kind, link.weight, link.at`;

/** The stored links of these memories, each once; with `among`, those both of whose ends are among them. */
export async function readLinks(
  moment: Moment,
  ids: readonly string[],
  among: boolean,
): Promise<readonly Link[]> {
  const { database, id } = moment.place;
  const { link } = database.tables;
  const from = sql`SELECT ${LINK_COLUMNS} FROM ${link} AS link WHERE link.space_id = ${id}::uuid`;
  const ends = wantedTexts(ids);
  const found = among
    ? await moment.rows(sql`${from} AND a_id IN ${ends} AND b_id IN ${ends}`)
    : await moment.rows(
        sql`${from} AND a_id IN ${ends} UNION ALL ${from} AND b_id IN ${ends} AND a_id NOT IN ${ends}`,
      );
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
  const { database, id } = moment.place;
  const { memory } = database.tables;
  const beside = (side: '<' | '>') => {
    const order = side === '<' ? sql`DESC` : sql`ASC`;
    return sql`(SELECT json_build_object('id', other.id, 'createdAt', other.created_at) FROM ${memory} AS other
      WHERE other.space_id = ${id}::uuid AND other.born_in = memory.born_in
        AND (other.created_at, other.ordinal) ${side === '<' ? sql`<` : sql`>`} (memory.created_at, memory.ordinal)
      ORDER BY other.created_at ${order}, other.ordinal ${order} LIMIT 1)`;
  };
  const found = await moment.rows<{
    id: string;
    created_at: number;
    before: Made | null;
    after: Made | null;
  }>(sql`SELECT memory.id, memory.created_at, ${beside('<')} AS before, ${beside('>')} AS after
    FROM ${memory} AS memory
    WHERE memory.space_id = ${id}::uuid AND memory.id IN ${wantedTexts(ids)} AND memory.born_in IS NOT NULL`);
  const members = new Map(found.map((member) => [member.id, member]));
  return ids.map((each) => {
    const member = members.get(each);
    if (!member) return undefined;
    const { before, after, created_at: createdAt } = member;
    return { memory: { id: each, createdAt }, before: before ?? undefined, after: after ?? undefined };
  });
}

import { mergedLinks, orderedEnds, SEQUENCE_WEIGHT, sequenceLink } from '../../store/links.ts';
import type { Link, LinkKind } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { sessionNeighbours } from './links.ts';

/**
 * The links that a process has looked at, kept until they change: walks meet the same memories again and again.
 * What it holds is a copy of the file; the resident index, which follows the logs, says what to look at anew.
 */
export interface LinkCache {
  /** See `SpaceReader.links`. To be called inside a read transaction, after a refresh. */
  read(connection: Connection, ids: readonly string[], minimum: number): readonly Link[];
  /** The links of these memories have changed. */
  invalidate(ids: Iterable<string>): void;
  clear(): void;
}

interface Member {
  readonly id: string;
  readonly row: number;
  readonly session: string | null;
  readonly createdAt: number;
  readonly ordinal: number;
  readonly links: Link[];
}

/** Memories at most whose links are kept. */
const CAPACITY = 50_000;

const findMembers = `SELECT id, row, born_in AS session, created_at AS createdAt, ordinal FROM memory
  WHERE id IN (SELECT value FROM json_each(?))`;

const linksFrom = (own: 'a_row' | 'b_row', other: 'a_row' | 'b_row') =>
  `SELECT link.${own} AS row, memory.id AS other, link.kind, link.weight, link.at
   FROM (SELECT value AS row FROM json_each(?1)) AS wanted
   JOIN link ${own === 'b_row' ? 'INDEXED BY link_other_end' : ''} ON link.${own} = wanted.row
   JOIN memory ON memory.row = link.${other}`;
const findLinks = `${linksFrom('a_row', 'b_row')} UNION ALL ${linksFrom('b_row', 'a_row')}`;

export function createLinkCache(): LinkCache {
  const members = new Map<string, Member>();
  const load = (connection: Connection, ids: readonly string[]) => {
    if (ids.length === 0) return;
    if (members.size + ids.length > CAPACITY) members.clear();
    const found = connection.all(findMembers, JSON.stringify(ids)) as Omit<Member, 'links'>[];
    const byRow = new Map(found.map((each) => [each.row, { ...each, links: [] as Link[] }]));
    const rows = connection.all(findLinks, JSON.stringify([...byRow.keys()])) as {
      row: number;
      other: string;
      kind: LinkKind;
      weight: number;
      at: number;
    }[];
    for (const { row, other, kind, weight, at } of rows) {
      const member = byRow.get(row);
      member?.links.push({ ids: orderedEnds([member.id, other]), kind, weight, at });
    }
    for (const member of byRow.values()) members.set(member.id, member);
  };
  return {
    read(connection, ids, minimum) {
      load(
        connection,
        ids.filter((id) => !members.has(id)),
      );
      const stored: Link[] = [];
      const derived: Link[] = [];
      for (const id of ids) {
        const member = members.get(id);
        if (!member) continue;
        for (const link of member.links) if (link.weight >= minimum) stored.push(link);
        if (member.session === null || SEQUENCE_WEIGHT < minimum) continue;
        for (const neighbour of sessionNeighbours(connection, { ...member, session: member.session })) {
          derived.push(sequenceLink(member, neighbour));
        }
      }
      return mergedLinks(stored, derived);
    },
    invalidate(ids) {
      for (const id of ids) members.delete(id);
    },
    clear: () => members.clear(),
  };
}

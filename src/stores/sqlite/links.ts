import { damagedRow } from '../../store/damage.ts';
import { missingMemory } from '../../store/faults.ts';
import { checkedLink, linkKey, mergedLinks, orderedEnds } from '../../store/links.ts';
import type { Link, LinkChange, LinkKind, Made, Neighbours } from '../../store/store.ts';
import { checksumOf } from './checksum.ts';
import type { Connection } from './connection.ts';
import { real } from './driver.ts';

interface LinkRow {
  readonly kind: LinkKind;
  readonly weight: number;
  readonly at: number;
}

interface SessionRow {
  readonly id: string;
  readonly session: string;
  readonly createdAt: number;
  readonly ordinal: number;
}

const findMembers = `SELECT id, born_in AS session, created_at AS createdAt, ordinal FROM memory
  WHERE id IN (SELECT value FROM json_each(?)) AND born_in IS NOT NULL`;

const linksFrom = (own: 'a_row' | 'b_row', other: 'a_row' | 'b_row') =>
  `SELECT own.id AS a, other.id AS b, link.kind, link.weight, link.at
   FROM memory AS own
   JOIN link ${own === 'b_row' ? 'INDEXED BY link_other_end' : ''} ON link.${own} = own.row
   JOIN memory AS other ON other.row = link.${other}
   WHERE own.id IN (SELECT value FROM json_each(?1))`;
const storedLinks = `${linksFrom('a_row', 'b_row')} UNION ALL ${linksFrom('b_row', 'a_row')}`;

const linksAmong = `SELECT link.a_row AS a, link.b_row AS b, link.kind, link.weight, link.at
  FROM (SELECT value AS row FROM json_each(?1)) AS wanted
  JOIN link ON link.a_row = wanted.row AND link.b_row IN (SELECT value FROM json_each(?1))`;

const sessionNeighbour = (side: '<' | '>') =>
  `SELECT id, created_at AS createdAt FROM memory INDEXED BY memory_born_in
   WHERE born_in = ? AND (created_at, ordinal) ${side} (?, ?)
   ORDER BY created_at ${side === '<' ? 'DESC' : 'ASC'}, ordinal ${side === '<' ? 'DESC' : 'ASC'} LIMIT 1`;
const earlier = sessionNeighbour('<');
const later = sessionNeighbour('>');

/** The stored links of these memories, each once. To be called inside a transaction. */
export function readLinks(connection: Connection, ids: readonly string[]): readonly Link[] {
  // As lists, because memories that recalls often return together have hundreds of links.
  const rows = connection.lists(storedLinks, JSON.stringify(ids)) as [
    string,
    string,
    LinkKind,
    number,
    number,
  ][];
  return mergedLinks(
    rows.map(([a, b, kind, weight, at]): Link => {
      if (a === b) throw damagedRow({ table: 'link', row: a }, 'both its ends are one memory');
      return { ids: orderedEnds([a, b]), kind, weight, at };
    }),
    [],
  );
}

/** See `StoreReader.neighbours`. To be called inside a transaction. */
export function readNeighbours(
  connection: Connection,
  ids: readonly string[],
): readonly (Neighbours | undefined)[] {
  const found = connection.all(findMembers, JSON.stringify(ids)) as SessionRow[];
  const members = new Map(found.map((member) => [member.id, member]));
  return ids.map((id) => {
    const member = members.get(id);
    if (!member) return undefined;
    const [before, after] = [earlier, later].map(
      (side) => connection.get(side, member.session, member.createdAt, member.ordinal) as Made | undefined,
    );
    return { memory: { id, createdAt: member.createdAt }, before, after };
  });
}

/** The stored links between these memories. To be called inside a transaction. */
export function readLinksAmong(connection: Connection, ids: readonly string[]): readonly Link[] {
  const idOfRow = new Map<number, string>();
  for (const id of ids) {
    const row = rowOf(connection, id);
    if (row !== undefined) idOfRow.set(row, id);
  }
  const found = connection.all(linksAmong, JSON.stringify([...idOfRow.keys()])) as {
    a: number;
    b: number;
    kind: LinkKind;
    weight: number;
    at: number;
  }[];
  const links = found.map(({ a, b, kind, weight, at }): Link => {
    return { ids: orderedEnds([idOfRow.get(a) as string, idOfRow.get(b) as string]), kind, weight, at };
  });
  return mergedLinks(links, []);
}

export interface AppliedLink {
  /** The row of the first of the two ends. */
  readonly row: number;
  readonly change: LinkChange;
}

/** Sets a link and returns its previous value. Throws `not_found` if an end is missing, `invalid_argument`. */
export function setLink(connection: Connection, given: Link): AppliedLink {
  const link = checkedLink(given);
  const [first, second] = link.ids.map((id) => {
    const row = rowOf(connection, id);
    if (row === undefined) throw missingMemory(id);
    return row;
  }) as [number, number];
  return setLinkOf(connection, [first, second], link);
}

function setLinkOf(
  connection: Connection,
  [first, second]: readonly [number, number],
  link: Link,
): AppliedLink {
  const [a, b] = orderedRows(first, second);
  const before = connection.get(
    'SELECT weight, at FROM link WHERE a_row = ? AND b_row = ? AND kind = ?',
    a,
    b,
    link.kind,
  ) as { weight: number; at: number } | undefined;
  upsert(connection, a, b, link);
  return { row: first, change: { link: { ids: link.ids, kind: link.kind }, before } };
}

/** Sets links and returns their previous values. Skips links with a missing end. */
export function setPossibleLinks(connection: Connection, links: readonly Link[]): readonly LinkChange[] {
  const changes: LinkChange[] = [];
  const rows = new Map<string, number | undefined>();
  const known = (id: string) => {
    if (!rows.has(id)) rows.set(id, rowOf(connection, id));
    return rows.get(id);
  };
  for (const given of links) {
    const link = checkedLink(given);
    const [first, second] = link.ids.map(known);
    if (first === undefined || second === undefined) continue;
    changes.push(setLinkOf(connection, [first, second], link).change);
  }
  return changes;
}

/** Removes the stored links of two memories, of these kinds or of all, and returns their previous values. */
export function removeLinks(
  connection: Connection,
  ids: readonly [string, string],
  kinds: readonly LinkKind[] | undefined,
): readonly AppliedLink[] {
  const ends = orderedEnds(ids);
  const [first, second] = ends.map((id) => rowOf(connection, id));
  if (first === undefined || second === undefined) return [];
  const [a, b] = orderedRows(first, second);
  const found = connection.all(
    'SELECT kind, weight, at FROM link WHERE a_row = ? AND b_row = ? ORDER BY kind',
    a,
    b,
  ) as LinkRow[];
  return found
    .filter(({ kind }) => kinds?.includes(kind) ?? true)
    .map(({ kind, weight, at }) => {
      connection.run('DELETE FROM link WHERE a_row = ? AND b_row = ? AND kind = ?', a, b, kind);
      return { row: first, change: { link: { ids: ends, kind }, before: { weight, at } } };
    });
}

/** The stored links of a memory, as they are. */
export function attachedLinks(connection: Connection, row: number): readonly AppliedLink[] {
  const found = connection.all(
    `SELECT a.id AS a, b.id AS b, a.row AS a_row, b.row AS b_row, link.kind, link.weight, link.at FROM link
     JOIN memory AS a ON a.row = a_row JOIN memory AS b ON b.row = b_row WHERE a_row = ?1 OR b_row = ?1`,
    row,
  ) as (LinkRow & {
    readonly a: string;
    readonly b: string;
    readonly a_row: number;
    readonly b_row: number;
  })[];
  return found
    .map(({ a, b, a_row, b_row, kind, weight, at }) => {
      const ids = orderedEnds([a, b]);
      return { row: ids[0] === a ? a_row : b_row, change: { link: { ids, kind }, before: { weight, at } } };
    })
    .sort((x, y) => (linkKey(x.change.link) < linkKey(y.change.link) ? -1 : 1));
}

function upsert(connection: Connection, a: number, b: number, { kind, weight, at }: Link): void {
  connection.run(
    `INSERT INTO link (a_row, b_row, kind, weight, at, checksum) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET weight = excluded.weight, at = excluded.at, checksum = excluded.checksum`,
    a,
    b,
    kind,
    real(weight),
    at,
    // A weight bound as text is stored as a number, so a trigger computes the checksum of that number.
    real(weight) === weight ? checksumOf([a, b, kind, weight, at]) : null,
  );
}

/** The order in which the rows of a pair are stored. */
export function orderedRows(a: number, b: number): [number, number] {
  return a < b ? [a, b] : [b, a];
}

export function rowOf(connection: Connection, id: string): number | undefined {
  const found = connection.get('SELECT row FROM memory WHERE id = ?', id) as { row: number } | undefined;
  return found?.row;
}

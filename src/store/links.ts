import { invalidArgument, number } from '../domain/check.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import type { Link, LinkKind } from './store.ts';

/** The weight of the link between neighbours in a session. */
export const SEQUENCE_WEIGHT = 0.5;

/** Returns a link as it is stored. Throws `invalid_argument` for a memory linked with itself and for an invalid weight. */
export function checkedLink(link: Link): Link {
  return { ...link, ids: orderedEnds(link.ids), weight: number(link.weight, 'weight', 0, 1) };
}

/** Returns the two ends in code-unit order. Throws `invalid_argument` if they are the same memory. */
export function orderedEnds([a, b]: readonly [string, string]): readonly [string, string] {
  if (a === b) throw invalidArgument('ids', `memory ${JSON.stringify(a)} cannot be linked with itself`);
  return a < b ? [a, b] : [b, a];
}

/** The unique key of a link. */
export function linkKey({ ids, kind }: Pick<Link, 'ids' | 'kind'>): string {
  // No id holds a NUL.
  return `${ids[0]}\0${ids[1]}\0${kind}`;
}

/** The link between two neighbours in a session. */
export function sequenceLink(
  a: Pick<MemoryRecord, 'id' | 'createdAt'>,
  b: Pick<MemoryRecord, 'id' | 'createdAt'>,
): Link {
  return {
    ids: orderedEnds([a.id, b.id]),
    kind: 'sequence' satisfies LinkKind,
    weight: SEQUENCE_WEIGHT,
    at: Math.max(a.createdAt, b.createdAt),
  };
}

/** Merges stored and derived links, each once, sorted by ends and kind. A stored link replaces a derived one. */
export function mergedLinks(stored: Iterable<Link>, derived: Iterable<Link>): readonly Link[] {
  const links = [...derived, ...stored].sort(compareLinks);
  // The sort is stable, so the last of equal links is the one stored last.
  return links.filter((link, at) => at + 1 === links.length || compareLinks(link, links[at + 1]!) !== 0);
}

function compareLinks(a: Link, b: Link): number {
  return (
    compareCodeUnits(a.ids[0], b.ids[0]) ||
    compareCodeUnits(a.ids[1], b.ids[1]) ||
    compareCodeUnits(a.kind, b.kind)
  );
}

function compareCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

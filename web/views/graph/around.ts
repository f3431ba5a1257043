import type { Neighbourhood } from '../../../src/index.ts';

export interface GraphNode {
  readonly id: string;
  /** Its title, or else the beginning of its content. */
  readonly label: string;
  readonly type: string;
  /** The distance from the central node in edges; 0 for the central node itself. */
  readonly depth: number;
}

export interface GraphEdge {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  /** The name of a relation, or the kind of a link. */
  readonly name: string;
  /** Links have no direction. */
  readonly isRelation: boolean;
  readonly weight: number;
}

/** The kinds of edges in the order of their colours: relations, then the kinds of links. */
export const EDGE_KINDS = [
  'relation',
  'stated',
  'co-retrieval',
  'sequence',
  'birth',
  'consolidation',
] as const;

export function colourAt({ isRelation, name }: GraphEdge): number {
  return isRelation ? 0 : Math.max(0, EDGE_KINDS.indexOf(name as (typeof EDGE_KINDS)[number]));
}

/** Converts a neighbourhood to nodes and edges, nearest nodes and strongest edges first. */
export function graphOf({ entity, neighbours, relations, links = [] }: Neighbourhood) {
  const { id, title, content, type } = entity;
  const nodes: readonly GraphNode[] = [
    { id, label: title ?? content, type, depth: 0 },
    ...neighbours.map((each) => ({
      id: each.id,
      label: each.name ?? each.text ?? each.id,
      type: each.type,
      depth: each.depth,
    })),
  ];
  const edges: readonly GraphEdge[] = [
    ...relations.map(({ id: key, from, to, name, weight }) => ({
      key,
      from,
      to,
      name,
      weight,
      isRelation: true,
    })),
    ...links.map(({ ids: [from, to], kind, weight }) => ({
      key: `link ${kind} ${JSON.stringify([from, to])}`,
      from,
      to,
      name: kind,
      weight,
      isRelation: false,
    })),
  ];
  return { nodes, edges: edges.toSorted((a, b) => b.weight - a.weight) };
}

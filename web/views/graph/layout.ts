import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from 'd3-force';
import type { GraphEdge, GraphNode } from './around.ts';

export interface Place {
  readonly x: number;
  readonly y: number;
}

/** A line from the rim of one node to that of another, curved if several join the same two nodes. */
export interface Line extends Place {
  readonly path: string;
  /** The point and the two corners of its arrow. */
  readonly arrow: string;
  /** The rotation of text along it, in degrees, never upside down. */
  readonly turn: number;
}

interface Spot extends SimulationNodeDatum {
  readonly id: string;
}

const RING = 150;
const ROOM = 40;
/** The number of layout steps over all nodes together: with fewer nodes, each gets more. */
const STEPS = 60_000;
const BEND = 28;
const ARROW = 9;

/**
 * Lays out the nodes by forces along the edges, with the central node at 0, 0. The same graph gives the same places.
 */
export function layOut(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): ReadonlyMap<string, Place> {
  const rings = new Map<number, number>();
  for (const { depth } of nodes) rings.set(depth, (rings.get(depth) ?? 0) + 1);
  const seen = new Map<number, number>();
  const spots = nodes.map(({ id, depth }): Spot => {
    const at = seen.get(depth) ?? 0;
    seen.set(depth, at + 1);
    const angle = (2 * Math.PI * at) / (rings.get(depth) ?? 1) + depth;
    const away = depth * RING;
    return {
      id,
      x: away * Math.cos(angle),
      y: away * Math.sin(angle),
      ...(depth === 0 ? { fx: 0, fy: 0 } : {}),
    };
  });
  forceSimulation(spots)
    .force(
      'edges',
      forceLink<Spot, { source: string; target: string }>(
        edges.map(({ from, to }) => ({ source: from, target: to })),
      )
        .id(({ id }) => id)
        .distance(RING),
    )
    .force('apart', forceManyBody().strength(-900).distanceMax(1200))
    .force('room', forceCollide(ROOM))
    // Canvases are wider than high.
    .force('x', forceX(0).strength(0.03))
    .force('y', forceY(0).strength(0.06))
    .stop()
    .tick(Math.max(1, Math.min(300, Math.ceil(STEPS / nodes.length))));
  return new Map(spots.map(({ id, x = 0, y = 0 }) => [id, { x, y }]));
}

/** Returns the curvature of each edge, so that no edge hides another between the same two nodes. */
export function bends(edges: readonly GraphEdge[]): readonly number[] {
  const between = ({ from, to }: GraphEdge) => JSON.stringify([from, to].sort());
  const all = new Map<string, number>();
  for (const edge of edges) all.set(between(edge), (all.get(between(edge)) ?? 0) + 1);
  const drawn = new Map<string, number>();
  return edges.map((edge) => {
    const pair = between(edge);
    const at = drawn.get(pair) ?? 0;
    drawn.set(pair, at + 1);
    const aside = (at - ((all.get(pair) ?? 1) - 1) / 2) * BEND;
    return edge.from < edge.to ? aside : -aside;
  });
}

export function lineBetween(from: Place, to: Place, radius: number, bend: number, width: number): Line {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const control = {
    x: (from.x + to.x) / 2 - (dy / length) * bend * 2,
    y: (from.y + to.y) / 2 + (dx / length) * bend * 2,
  };
  // The direction of arrival, from the control point of the curve.
  const [ax, ay] = [to.x - control.x, to.y - control.y];
  const arrival = Math.hypot(ax, ay) || 1;
  const [ux, uy] = [ax / arrival, ay / arrival];
  const tip = { x: to.x - ux * radius, y: to.y - uy * radius };
  const size = ARROW + width;
  const back = { x: tip.x - ux * size, y: tip.y - uy * size };
  const half = size * 0.4;
  const angle = (Math.atan2(dy, dx) * 180) / Math.PI;
  return {
    path: `M${from.x} ${from.y}Q${control.x} ${control.y} ${to.x} ${to.y}`,
    arrow: `${tip.x},${tip.y} ${back.x - uy * half},${back.y + ux * half} ${back.x + uy * half},${back.y - ux * half}`,
    x: (from.x + to.x) / 4 + control.x / 2,
    y: (from.y + to.y) / 4 + control.y / 2,
    turn: angle > 90 ? angle - 180 : angle < -90 ? angle + 180 : angle,
  };
}

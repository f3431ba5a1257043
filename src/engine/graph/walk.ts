import { wholeNumber } from '../../domain/check.ts';
import { clip } from '../../domain/clip.ts';
import type { Link, SpaceReader } from '../../store/store.ts';
import { type Dependencies, limitOf } from '../dependencies.ts';
import { presentWeight } from '../recall/expand.ts';
import { asKnown } from '../recall/past.ts';
import { shown } from '../recall/shown.ts';
import { walkingReader } from './kept.ts';
import { lookOf, meantBy, relationNames } from './resolve.ts';
import type {
  GraphPath,
  Neighbour,
  Neighbourhood,
  NeighbourLink,
  NeighboursOptions,
  PathsOptions,
} from './types.ts';
import { type Edge, edgesOf, type GraphLook, shownRelation, visibleAmong } from './view.ts';

/** Most characters of the content of a neighbour. */
const TEXT_CHARACTERS = 200;

/** Returns the neighbourhood of a memory, given by id or by the name of an entity. Throws `not_found`, `invalid_argument`. */
export function neighbours(
  engine: Dependencies,
  entity: string,
  options: NeighboursOptions = {},
): Promise<Neighbourhood> {
  return asKnown(engine, options, (engineAsOf, rest) => neighboursAsOf(engineAsOf, entity, rest));
}

async function neighboursAsOf(
  engine: Dependencies,
  entity: string,
  options: NeighboursOptions,
): Promise<Neighbourhood> {
  const depth = wholeNumber(options.depth ?? 1, 'depth', 1, 3);
  const limit = limitOf(options.limit, 1000, 10_000);
  const names = relationNames(options.relations);
  const withLinks = options.links ?? false;
  const withTexts = options.texts ?? false;
  const look = await lookOf(engine, options);
  const { space } = engine;
  return space.snapshot(async (snapshot) => {
    const reader = await walkingReader(space, snapshot);
    const start = await meantBy(reader, entity, 'entity', look, space.name);
    const depths = new Map([[start.id, 0]]);
    const edges = new Map<string, Edge>();
    const links = new Map<string, Link>();
    let frontier: readonly string[] = [start.id];
    for (let step = 1; step <= depth && frontier.length > 0; step++) {
      const reached = new Set<string>();
      for (const edge of await edgesOf(reader, frontier, look, names)) {
        edges.set(edge.id, edge);
        for (const end of [edge.from, edge.to]) if (!depths.has(end)) reached.add(end);
      }
      for (const link of withLinks ? await linksAmong(reader, frontier, look) : []) {
        links.set(JSON.stringify([link.kind, ...link.ids]), link);
        for (const end of link.ids) if (!depths.has(end)) reached.add(end);
      }
      frontier = [...reached].sort();
      for (const id of frontier) depths.set(id, step);
    }
    depths.delete(start.id);
    const near = [...depths].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1)).slice(0, limit);
    const kept = new Set([start.id, ...near.map(([id]) => id)]);
    const nearIds = near.map(([id]) => id);
    const found = await reader.standing(nearIds);
    const records = withTexts ? await reader.get(nearIds) : [];
    return {
      entity: await shown({ space, reader }, start, look.now, look.filter),
      neighbours: near.flatMap(([id, away], at): readonly Neighbour[] => {
        const { title, kind, type } = found[at] ?? {};
        if (type === undefined) return [];
        const text = records[at]?.content;
        return [
          {
            id,
            ...(title === undefined ? {} : { name: title }),
            ...(kind === undefined ? {} : { kind }),
            type,
            depth: away,
            ...(text === undefined ? {} : { text: clip(text, TEXT_CHARACTERS) }),
          },
        ];
      }),
      relations: [...edges.values()]
        .filter(({ from, to }) => kept.has(from) && kept.has(to))
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .map(shownRelation),
      ...(withLinks ? { links: shownLinks(links.values(), kept, look) } : {}),
      ...(near.length < depths.size ? { truncated: true as const } : {}),
    };
  });
}

/** Returns the links of these memories whose ends are visible. */
async function linksAmong(
  reader: SpaceReader,
  ids: readonly string[],
  look: GraphLook,
): Promise<readonly Link[]> {
  const links = await reader.links(ids);
  const ends = await reader.standing([...new Set(links.flatMap((link) => link.ids))]);
  const present = ends.filter((each) => each !== undefined);
  const visible = new Set((await visibleAmong(reader, present, look)).map(({ id }) => id));
  const known = new Set(ids);
  return links.filter((link) => link.ids.every((id) => known.has(id) || visible.has(id)));
}

/** Returns the links between kept memories, strongest first, then by their ids. */
function shownLinks(
  links: Iterable<Link>,
  kept: ReadonlySet<string>,
  { now }: GraphLook,
): readonly NeighbourLink[] {
  return [...links]
    .filter(({ ids }) => ids.every((id) => kept.has(id)))
    .map((link) => ({ ids: link.ids, kind: link.kind, weight: presentWeight(link, now) }))
    .sort((a, b) => b.weight - a.weight || (`${a.ids}` < `${b.ids}` ? -1 : 1));
}

/**
 * Finds the shortest paths between two memories along relations, in either direction, passing no memory twice. Ordered
 * by the ids that they pass. Throws `not_found`, `invalid_argument`.
 */
export function paths(
  engine: Dependencies,
  from: string,
  to: string,
  options: PathsOptions = {},
): Promise<readonly GraphPath[]> {
  return asKnown(engine, options, (engineAsOf, rest) => pathsAsOf(engineAsOf, from, to, rest));
}

async function pathsAsOf(
  engine: Dependencies,
  from: string,
  to: string,
  options: PathsOptions,
): Promise<readonly GraphPath[]> {
  const maxLength = wholeNumber(options.maxLength ?? 4, 'maxLength', 1, 6);
  const limit = limitOf(options.limit, 5, 100);
  const names = relationNames(options.relations);
  const look = await lookOf(engine, options);
  const { space } = engine;
  return space.snapshot(async (snapshot) => {
    const reader = await walkingReader(space, snapshot);
    const a = await meantBy(reader, from, 'from', look, space.name);
    const b = await meantBy(reader, to, 'to', look, space.name);
    if (a.id === b.id) return [{ ids: [a.id], relations: [] }];
    return shortest(reader, a.id, b.id, { look, names, maxLength, limit });
  });
}

interface Search {
  readonly look: GraphLook;
  readonly names: ReadonlySet<string> | undefined;
  readonly maxLength: number;
  readonly limit: number;
}

/** One side of the bidirectional search. */
interface Side {
  readonly distance: Map<string, number>;
  frontier: readonly string[];
}

/** Finds all shortest paths by a bidirectional breadth-first search that always extends the smaller frontier. */
async function shortest(
  reader: SpaceReader,
  a: string,
  b: string,
  { look, names, maxLength, limit }: Search,
): Promise<readonly GraphPath[]> {
  const near = new Map<string, Map<string, Edge[]>>();
  const sides: readonly [Side, Side] = [
    { distance: new Map([[a, 0]]), frontier: [a] },
    { distance: new Map([[b, 0]]), frontier: [b] },
  ];
  for (let length = 1; length <= maxLength; length++) {
    const [side, other] =
      sides[0].frontier.length <= sides[1].frontier.length ? sides : ([sides[1], sides[0]] as const);
    if (side.frontier.length === 0) return [];
    const reached = new Set<string>();
    for (const edge of await edgesOf(reader, side.frontier, look, names)) {
      join(near, edge);
      for (const end of [edge.from, edge.to]) if (!side.distance.has(end)) reached.add(end);
    }
    const step = (side.distance.get(side.frontier[0] as string) as number) + 1;
    side.frontier = [...reached];
    for (const id of reached) side.distance.set(id, step);
    if (side.frontier.some((id) => other.distance.has(id)))
      return spelledOut(near, sides[0].distance, sides[1].distance, a, b, length, limit);
  }
  return [];
}

function join(near: Map<string, Map<string, Edge[]>>, edge: Edge): void {
  for (const [one, other] of [
    [edge.from, edge.to],
    [edge.to, edge.from],
  ] as const) {
    const around = near.get(one) ?? new Map<string, Edge[]>();
    const between = around.get(other) ?? [];
    if (!between.some(({ id }) => id === edge.id)) between.push(edge);
    near.set(one, around.set(other, between));
  }
}

/** Lists the paths of the shortest length, ordered by the ids that they pass, then by their relations. */
function spelledOut(
  near: ReadonlyMap<string, ReadonlyMap<string, readonly Edge[]>>,
  fromA: ReadonlyMap<string, number>,
  fromB: ReadonlyMap<string, number>,
  a: string,
  b: string,
  length: number,
  limit: number,
): readonly GraphPath[] {
  const found: GraphPath[] = [];
  const walk = (ids: readonly string[], edges: readonly Edge[]): void => {
    const last = ids[ids.length - 1] as string;
    if (last === b) {
      found.push({ ids, relations: edges.map(shownRelation) });
      return;
    }
    const done = ids.length;
    const around = [...(near.get(last) ?? [])].sort(([x], [y]) => (x < y ? -1 : 1));
    for (const [next, between] of around) {
      // On a shortest path the distances from both ends add up.
      const left = fromB.get(next);
      if (left === undefined ? fromA.get(next) !== done : left !== length - done) continue;
      for (const edge of between.toSorted((x, y) => (x.id < y.id ? -1 : 1))) {
        if (found.length >= limit) return;
        if (!ids.includes(next)) walk([...ids, next], [...edges, edge]);
      }
    }
  };
  walk([a], []);
  return found;
}

import type { Instant } from '../../domain/time.ts';
import { fadedWeight } from '../../scoring/association.ts';
import type { Link, LinkKind, SpaceReader } from '../../store/store.ts';

/** Kinds of links that do not fade. */
const lasting: ReadonlySet<LinkKind> = new Set(['sequence', 'consolidation', 'stated']);

export interface ExpansionSettings {
  /** Links whose present weight is lower are not followed. */
  readonly linkThreshold: number;
  /** Paths whose product of weights is lower are not followed. */
  readonly pathThreshold: number;
  /** Whether to follow a second link, and to look for chains between direct hits. */
  readonly secondHop: boolean;
  /** Whether neighbours in a session count as linked. */
  readonly sequence: boolean;
}

/** A memory that is reached by at most two links, with the best such path. */
export interface Reached {
  readonly id: string;
  /** The ids from the direct hit to this memory, both included. */
  readonly path: readonly string[];
  /** The product of the present weights of its links. */
  readonly weight: number;
}

/** A path of links between two direct hits. */
export interface EvidenceChain {
  readonly ids: readonly string[];
  readonly weight: number;
}

export interface Expansion {
  /** Memories that are best reached by one link. */
  readonly first: readonly Reached[];
  /** Direct hits that are reached from other direct hits. */
  readonly among: readonly Reached[];
  /** Memories that are best reached by two links. */
  readonly further: readonly Reached[];
  readonly chains: readonly EvidenceChain[];
}

/** Where links are read. Memories that the recall may not see do not exist here. */
export interface LinkedSpace extends Pick<SpaceReader, 'links'> {
  /** Returns the memories that the recall may see. */
  visible(ids: readonly string[]): Promise<readonly string[]>;
}

/** The number of direct hits between which chains are searched, the most links in a chain, and the most chains. */
const BRIDGED_HITS = 3;
const BRIDGE_LINKS = 3;
const MOST_BRIDGES = 3;

/** Tolerance for the rounding of products of weights. */
const ROUNDING = 1e-12;

/** Returns the weight of a link now: links of fading kinds lose weight with time. */
export function presentWeight(link: Link, now: Instant): number {
  return lasting.has(link.kind) ? link.weight : fadedWeight(link.weight, link.at, now);
}

/**
 * Follows the links of the direct hits (`direct`, best first) as of `now`. No path passes an invisible memory.
 * `mayEnter` says whether the end of a path could enter the answer; if not, no longer path through it can either, and
 * it is not followed.
 */
export async function expandLinks(
  space: LinkedSpace,
  direct: readonly string[],
  settings: ExpansionSettings,
  now: Instant,
  mayEnter: (reached: Reached) => boolean = () => true,
): Promise<Expansion> {
  const { linkThreshold, pathThreshold, secondHop, sequence } = settings;
  const graph: Graph = new Map();
  const seen = new Map(direct.map((id) => [id, true]));
  const follow = async (ids: readonly string[], weakest: number) => {
    const links = (await space.links(ids, weakest, sequence))
      .filter(({ kind }) => sequence || kind !== 'sequence')
      .map((link) => ({ ids: link.ids, weight: presentWeight(link, now) }))
      .filter(({ weight }) => weight >= linkThreshold);
    const unknown = [...new Set(links.flatMap(({ ids }) => ids))].filter((id) => !seen.has(id));
    const visible = new Set(unknown.length === 0 ? [] : await space.visible(unknown));
    for (const id of unknown) seen.set(id, visible.has(id));
    addLinks(
      graph,
      links.filter(({ ids }) => ids.every((id) => seen.get(id))),
    );
  };
  await follow(direct, linkThreshold);
  const found = new Set(direct);
  const strengths = new Map<string, number>();
  for (const id of direct) {
    for (const [other, weight] of graph.get(id) ?? []) {
      if (!found.has(other) && weight >= pathThreshold)
        strengths.set(other, Math.max(weight, strengths.get(other) ?? 0));
    }
  }
  const paths = () => bestPaths(direct, graph, secondHop ? 2 : 1, pathThreshold);
  if (secondHop && strengths.size > 0) {
    // Even a path through the strongest neighbour must reach the threshold: weaker second links are useless.
    const strongest = strongestOf(strengths);
    const weakest = Math.max(linkThreshold, pathThreshold / Math.max(strongest, ROUNDING) - ROUNDING);
    const leadsIn = (id: string) =>
      [...(graph.get(id) ?? [])].some(
        ([from, weight]) => found.has(from) && mayEnter({ id, path: [from, id], weight }),
      );
    const leading = [...strengths.keys()].filter(leadsIn);
    const useful = new Set([...leading, ...betweenBridged(direct, graph, pathThreshold)]);
    if (useful.size > 0) await follow([...useful], weakest);
    // The heaviest path to a memory counts, even if it starts at a hit that is too weak to bring anything in by itself.
    const entering =
      leading.length === 0 ? [] : paths().filter((each) => !found.has(each.id) && mayEnter(each));
    const least = entering.reduce((found, { weight }) => Math.min(found, weight), Infinity);
    const heavier = [...strengths].filter(([id, weight]) => !useful.has(id) && weight >= least);
    if (heavier.length > 0) {
      await follow(
        heavier.map(([id]) => id),
        weakest,
      );
    }
  }
  const reached = paths();
  const others = reached.filter(({ id }) => !found.has(id));
  return {
    first: others.filter(({ path }) => path.length === 2),
    among: reached.filter(({ id }) => found.has(id)),
    further: others.filter(({ path }) => path.length > 2),
    chains: secondHop ? chainsBetween(direct, graph, pathThreshold) : [],
  };
}

/** Present weights by both ends; of several links between two memories, the strongest. */
type Graph = Map<string, Map<string, number>>;

function addLinks(graph: Graph, links: readonly { readonly ids: Link['ids']; readonly weight: number }[]) {
  for (const { ids, weight } of links) {
    const [a, b] = ids;
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const neighbours = graph.get(from) ?? new Map<string, number>();
      graph.set(from, neighbours.set(to, Math.max(weight, neighbours.get(to) ?? 0)));
    }
  }
}

/**
 * Finds every memory within `most` links of a start, other starts included, by the best product of weights. Ties go to
 * the path with fewer links, then to the first start.
 */
function bestPaths(
  starts: readonly string[],
  graph: Graph,
  most: 1 | 2,
  threshold: number,
): readonly Reached[] {
  const best = new Map<string, BestPath>();
  const take = (id: string, start: string, by: string | undefined, weight: number) => {
    const known = best.get(id);
    // Most paths are replaced by better ones, so results are only built for those that remain.
    if (!known) best.set(id, { start, by, weight });
    else if (weight > known.weight || (weight === known.weight && !by && known.by)) {
      Object.assign(known, { start, by, weight } satisfies BestPath);
    }
  };
  for (const start of starts) {
    for (const [id, weight] of graph.get(start) ?? []) {
      if (weight < threshold) continue;
      take(id, start, undefined, weight);
      if (most === 1) continue;
      for (const [other, each] of graph.get(id) ?? []) {
        if (weight * each >= threshold && other !== start) take(other, start, id, weight * each);
      }
    }
  }
  return Array.from(best, ([id, { start, by, weight }]) => {
    return { id, path: by === undefined ? [start, id] : [start, by, id], weight };
  });
}

interface BestPath {
  start: string;
  /** The memory between start and end; `undefined` for a path of one link. */
  by: string | undefined;
  weight: number;
}

/** Returns the pairs of the first direct hits. */
function bridgedPairs(direct: readonly string[]): readonly (readonly [from: string, to: string])[] {
  const ends = direct.slice(0, BRIDGED_HITS);
  return ends.flatMap((from, at) => ends.slice(at + 1).map((to) => [from, to] as const));
}

/**
 * Returns the memories whose links must be read to find chains of three links that are stronger than the known shorter
 * ones. The links of either middle memory contain the link between the two, so the smaller side is read.
 */
function betweenBridged(direct: readonly string[], graph: Graph, threshold: number): readonly string[] {
  const known = new Set(direct);
  return bridgedPairs(direct).flatMap(([from, to]) => {
    const shorter = bestChain(from, to, graph, threshold, 2)?.weight ?? 0;
    const around = (end: string, strongest: number) =>
      [...(graph.get(end) ?? [])].flatMap(([id, each]) => {
        const most = each * strongest;
        return !known.has(id) && most >= threshold && most > shorter ? [id] : [];
      });
    const before = around(from, strongestOf(graph.get(to)));
    const after = around(to, strongestOf(graph.get(from)));
    return before.length < after.length ? before : after;
  });
}

/** A loop, because `Math.max(...)` cannot take as many arguments as a memory may have links. */
function strongestOf(links: ReadonlyMap<string, number> | undefined): number {
  let strongest = 0;
  for (const weight of links?.values() ?? []) strongest = Math.max(strongest, weight);
  return strongest;
}

/**
 * Finds the strongest chains of at most three links between the first direct hits. Every memory on one is a single link
 * from an end, so it is among those reached.
 */
function chainsBetween(direct: readonly string[], graph: Graph, threshold: number): readonly EvidenceChain[] {
  return bridgedPairs(direct)
    .flatMap(([from, to]) => bestChain(from, to, graph, threshold) ?? [])
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_BRIDGES);
}

/** Finds the strongest chain between two memories. Ties go to the one with fewer links, then to the first. */
function bestChain(
  from: string,
  to: string,
  graph: Graph,
  threshold: number,
  most: 2 | typeof BRIDGE_LINKS = BRIDGE_LINKS,
): EvidenceChain | undefined {
  const starting = graph.get(from);
  const ending = graph.get(to);
  if (!starting || !ending) return undefined;
  let best: EvidenceChain = { ids: [], weight: 0 };
  const isBetter = (weight: number) => weight >= threshold && weight > best.weight;
  const take = (weight: number, ...between: readonly string[]) => {
    if (isBetter(weight)) best = { ids: [from, ...between, to], weight };
  };
  take(starting.get(to) ?? 0);
  for (const [id, weight] of starting) take(weight * (ending.get(id) ?? 0), id);
  const strongest = strongestOf(ending);
  for (const [first, weight] of most === 2 ? [] : starting) {
    if (!isBetter(weight * strongest)) continue;
    // A chain that passes `from` or `to` in the middle contains their direct link, which is at least as strong.
    for (const [second, each] of graph.get(first) ?? [])
      take(weight * each * (ending.get(second) ?? 0), first, second);
  }
  return best.weight > 0 ? best : undefined;
}

import type { Instant } from '../model/time.ts';
import { fadedWeight } from '../scoring/association.ts';
import type { Link, LinkKind, SpaceReader } from '../store/store.ts';

/** Kinds of links that say what belongs together for good; the others fade. */
const lasting: ReadonlySet<LinkKind> = new Set(['sequence', 'consolidation', 'stated']);

export interface ExpansionSettings {
  /** Links weaker than this at present are not followed. */
  readonly linkThreshold: number;
  /** Nor are paths whose weights multiply to less. */
  readonly pathThreshold: number;
  /** Whether neighbours of neighbours and bridges are looked for. */
  readonly secondHop: boolean;
}

/** A memory that links lead to, from the direct hit that it is best reached from. */
export interface Reached {
  readonly id: string;
  /** The ids from the direct hit to this memory, both included. */
  readonly path: readonly string[];
  /** The product of the present weights of its links. */
  readonly weight: number;
}

/** A path between two direct hits: what they have to do with each other. */
export interface EvidenceChain {
  readonly ids: readonly string[];
  readonly weight: number;
}

export interface Expansion {
  /** Neighbours of direct hits. */
  readonly first: readonly Reached[];
  /** Direct hits that are neighbours of other direct hits, with the best path between them. */
  readonly among: readonly Reached[];
  /** What only a second link or a bridge leads to. */
  readonly further: readonly Reached[];
  readonly chains: readonly EvidenceChain[];
}

/** Direct hits between which bridges are looked for, links of a bridge, and bridges at most. */
const BRIDGED_HITS = 3;
const BRIDGE_LINKS = 3;
const MOST_BRIDGES = 3;

/** Products of weights are rounded. */
const ROUNDING = 1e-12;

/** The present weight of a link: what fades has faded, computed anew at every reading. */
export function presentWeight(link: Link, now: Instant): number {
  return lasting.has(link.kind) ? link.weight : fadedWeight(link.weight, link.at, now);
}

/** Follows the links of the direct hits, best first in `direct`, as of `now`. */
export async function expandLinks(
  reader: Pick<SpaceReader, 'links'>,
  direct: readonly string[],
  settings: ExpansionSettings,
  now: Instant,
): Promise<Expansion> {
  const found = new Set(direct);
  const graph: Graph = new Map();
  addLinks(graph, await reader.links(direct, settings.linkThreshold), settings.linkThreshold, now);
  const starts = direct.map((id): Reached => ({ id, path: [id], weight: 1 }));
  const first = bestPaths(starts, graph, (id) => !found.has(id), settings.pathThreshold);
  const among = bestPaths(starts, graph, (id) => found.has(id), settings.pathThreshold);
  if (!settings.secondHop || first.length === 0) {
    return { first, among, further: [], chains: chainsBetween(direct, graph, settings.pathThreshold) };
  }
  // A path through the strongest of them must still reach the threshold: weaker links lead nowhere.
  const strongest = Math.max(...first.map(({ weight }) => weight));
  const weakest = Math.max(settings.linkThreshold, settings.pathThreshold / strongest - ROUNDING);
  addLinks(
    graph,
    await reader.links(
      first.map(({ id }) => id),
      weakest,
    ),
    settings.linkThreshold,
    now,
  );
  const chains = chainsBetween(direct, graph, settings.pathThreshold);
  // The first hop was found in order to be gone on from: only what lies beyond it is new here.
  const known = new Set([...found, ...first.map(({ id }) => id)]);
  const second = bestPaths(first, graph, (id) => !known.has(id), settings.pathThreshold);
  const reached = new Set([...known, ...second.map(({ id }) => id)]);
  return { first, among, further: [...second, ...innerOf(chains, reached)], chains };
}

/** Present weights by the two ends; of several links between two memories the strongest counts. */
type Graph = Map<string, Map<string, number>>;

function addLinks(graph: Graph, links: readonly Link[], threshold: number, now: Instant): void {
  for (const link of links) {
    const weight = presentWeight(link, now);
    if (weight < threshold) continue;
    const [a, b] = link.ids;
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const neighbours = graph.get(from) ?? new Map<string, number>();
      graph.set(from, neighbours.set(to, Math.max(weight, neighbours.get(to) ?? 0)));
    }
  }
}

/** One link further from each start: each wanted memory once, by its best product of weights, from the first start. */
function bestPaths(
  starts: readonly Reached[],
  graph: Graph,
  wanted: (id: string) => boolean,
  threshold: number,
): readonly Reached[] {
  const best = new Map<string, Reached>();
  for (const start of starts) {
    for (const [id, each] of graph.get(start.id) ?? []) {
      const weight = start.weight * each;
      if (!wanted(id) || id === start.id || weight < threshold || weight <= (best.get(id)?.weight ?? 0))
        continue;
      best.set(id, { id, path: [...start.path, id], weight });
    }
  }
  return [...best.values()];
}

/** The strongest paths of at most three links between each two of the first direct hits. */
function chainsBetween(direct: readonly string[], graph: Graph, threshold: number): readonly EvidenceChain[] {
  const ends = direct.slice(0, BRIDGED_HITS);
  const chains: EvidenceChain[] = [];
  ends.forEach((from, at) => {
    for (const to of ends.slice(at + 1)) {
      const best = bestChain({ ids: [from], weight: 1 }, to, graph, threshold);
      if (best) chains.push(best);
    }
  });
  return chains.sort((a, b) => b.weight - a.weight).slice(0, MOST_BRIDGES);
}

function bestChain(
  chain: EvidenceChain,
  to: string,
  graph: Graph,
  threshold: number,
): EvidenceChain | undefined {
  if (chain.ids.length > BRIDGE_LINKS) return undefined;
  let best: EvidenceChain | undefined;
  for (const [id, each] of graph.get(chain.ids[chain.ids.length - 1] as string) ?? []) {
    const weight = chain.weight * each;
    if (weight < threshold || chain.ids.includes(id)) continue;
    const next = { ids: [...chain.ids, id], weight };
    const found = id === to ? next : bestChain(next, to, graph, threshold);
    if (found && found.weight > (best?.weight ?? 0)) best = found;
  }
  return best;
}

/** The memories inside chains that nothing else has reached. */
function innerOf(chains: readonly EvidenceChain[], reached: ReadonlySet<string>): readonly Reached[] {
  const inner = new Map<string, Reached>();
  for (const { ids, weight } of chains) {
    ids.slice(1, -1).forEach((id, at) => {
      if (!reached.has(id) && !inner.has(id)) inner.set(id, { id, path: ids.slice(0, at + 2), weight });
    });
  }
  return [...inner.values()];
}

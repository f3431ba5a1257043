import { mergedLinks } from '../../store/links.ts';
import type { Inspection, SearchRequest, Snapshot, SpaceReader } from '../../store/store.ts';
import type { LinkedSpace } from './expand.ts';
import type { AssociationSettings } from './strategy.ts';

/** What a recall reads after it has its direct hits, all of one moment. */
export interface Surroundings extends LinkedSpace, Pick<SpaceReader, 'knownPairs' | 'get'> {
  /** Scores memories as associates, in order; `undefined` for those that the recall may not see. */
  inspect(ids: readonly string[]): Promise<readonly (Inspection | undefined)[]>;
  /**
   * Scores memories as sources of propagation, whether or not the filters would return them, in order; `undefined` for
   * those that the recall may not see.
   */
  sources(ids: readonly string[]): Promise<readonly (Inspection | undefined)[]>;
}

/**
 * Reads the surroundings from a snapshot. Cold memories are included, because only links reach them. A path may pass
 * memories that the filters leave out.
 */
export function surroundingsIn(snapshot: Snapshot, request: SearchRequest): Surroundings {
  const { scopes, validAt, deep, includeExpired } = request.filter;
  const passing = { scopes, validAt, deep, includeExpired, cold: true };
  const walking = { filter: passing, now: request.now };
  const inspect = async (ids: readonly string[], filter: SearchRequest['filter']) => {
    const inspected = ids.length === 0 ? [] : await snapshot.inspect(ids, { ...request, filter });
    return inspected.map((found) => (found?.excluded === undefined ? found : undefined));
  };
  return {
    links: (ids, minimum, sequence) => snapshot.links(ids, minimum, sequence),
    knownPairs: (ids) => snapshot.knownPairs(ids),
    get: (ids) => snapshot.get(ids),
    visible: async (ids) => (ids.length === 0 ? [] : snapshot.visible(ids, walking)),
    inspect: (ids) => inspect(ids, { ...request.filter, cold: true }),
    sources: (ids) => inspect(ids, passing),
  };
}

/**
 * Reads ahead everything that `associate` may need, whichever of these memories become the direct hits. A reranker may
 * take long, and no snapshot is open meanwhile.
 */
export async function readAhead(
  from: Surroundings,
  ids: readonly string[],
  {
    linkThreshold,
    secondHop,
    sequence,
  }: Pick<AssociationSettings, 'linkThreshold' | 'secondHop' | 'sequence'>,
): Promise<Surroundings> {
  const near = await from.links(ids, linkThreshold, sequence);
  const known = new Set(ids);
  const neighbours = new Set(near.flatMap((link) => link.ids).filter((id) => !known.has(id)));
  const far = secondHop ? await from.links(await from.visible([...neighbours]), linkThreshold, sequence) : [];
  const links = mergedLinks([...near, ...far], []);
  const pairs = await from.knownPairs(ids);
  const all = new Set([...ids, ...links.flatMap((link) => link.ids), ...pairs.map(({ newer }) => newer)]);
  const reached = [...all];
  const visible = new Set(await from.visible(reached));
  const inspected = byId(reached, await from.inspect(reached));
  const records = byId(reached, await from.get(reached));
  const sources = byId(reached, await from.sources(reached));
  return {
    async links(ends, minimum = 0) {
      const wanted = new Set(ends);
      return links.filter(({ ids, weight }) => weight >= minimum && ids.some((id) => wanted.has(id)));
    },
    async knownPairs(of) {
      const wanted = new Set(of);
      return pairs.filter(({ older, newer }) => wanted.has(older) || wanted.has(newer));
    },
    visible: async (of) => of.filter((id) => visible.has(id)),
    inspect: async (of) => of.map((id) => inspected.get(id)),
    get: async (of) => of.map((id) => records.get(id)),
    sources: async (of) => of.map((id) => sources.get(id)),
  };
}

function byId<Value>(
  ids: readonly string[],
  values: readonly (Value | undefined)[],
): ReadonlyMap<string, Value | undefined> {
  return new Map(ids.map((id, at) => [id, values[at]]));
}

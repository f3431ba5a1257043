import { searchable } from '../../store/state-reader.ts';
import type { StateSnapshot } from '../../store/state-rows.ts';
import { coreOfState, type KeptSpace } from '../../store/state-space.ts';
import type { SpaceStore } from '../../store/store.ts';
import { type Ranking, withRanking } from '../../store/with-ranking.ts';
import { inspectNaively, searchNaively, visibleNaively } from '../naive-search.ts';

/** Opens a handle of a space. */
export function openKept(kept: KeptSpace, readOnly: boolean): SpaceStore {
  return withRanking(coreOfState(kept, readOnly), () => naively);
}

/** A ranking in which every search reads every memory. It keeps nothing, so `bytes` is 0. */
const naively: Ranking = {
  over: ({ of }: StateSnapshot) => ({
    search: async (request) => searchNaively(searchable(of), request),
    inspect: async (ids, request) => inspectNaively(searchable(of), ids, request),
    visible: async (ids, request) => visibleNaively(searchable(of), ids, request),
  }),
  bytes: () => 0,
};

import type { SearchRequest, Snapshot, SpaceStore } from '../store-kit.ts';

/** A space that tells `look` what each search asks for, within the moment that the search reads. */
export function observed(
  space: SpaceStore,
  look: (snapshot: Snapshot, request: SearchRequest) => Promise<void>,
): SpaceStore {
  return {
    ...space,
    snapshot: (work) =>
      space.snapshot((snapshot) =>
        work({
          ...snapshot,
          async search(request) {
            await look(snapshot, request);
            return snapshot.search(request);
          },
        }),
      ),
  };
}

import type { SearchRequest, Snapshot, SpaceStore } from '../store-kit.ts';

/** Wraps a space so that `look` is called with the request of each search and the snapshot that it reads. */
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

import type { Instant } from '../../domain/time.ts';
import type { PastSpace, SpaceStore } from '../../store/store.ts';

/** So many moments of the past are kept. */
const MOST = 4;
/** With so many memories together: each past is a copy of the space. */
const MOST_MEMORIES = 50_000;

interface Kept {
  readonly known: Instant;
  /** Of the space when it was looked back from: what was committed since may have changed what there is to see. */
  readonly version: unknown;
  readonly past: PastSpace;
}

/** Freed with the spaces that they are of: a past is in memory alone, and holds nothing that must be given back. */
const pasts = new WeakMap<SpaceStore, readonly Kept[]>();

/**
 * A moment of the past of a space. The moments that were looked at last are kept, so that one that is looked at again
 * costs nothing, until something is committed. Whoever gets one does not close it.
 */
export async function pastOf(
  space: SpaceStore,
  known: Instant,
  open: () => Promise<PastSpace>,
): Promise<PastSpace> {
  // Asked before anything is read: what is committed in between makes it another past.
  const version = await space.version();
  const present = (pasts.get(space) ?? []).filter((each) => each.version === version);
  const found = present.find((each) => each.known === known);
  const latest = found ?? { known, version, past: await open() };
  // Others may have come in between.
  const others = (pasts.get(space) ?? []).filter((each) => each.version === version && each.known !== known);
  pasts.set(space, withinLimits([latest, ...others]));
  return latest.past;
}

function withinLimits(latest: readonly Kept[]): readonly Kept[] {
  let memories = 0;
  return latest.slice(0, MOST).filter((each) => {
    memories += each.past.memories;
    return memories <= MOST_MEMORIES;
  });
}

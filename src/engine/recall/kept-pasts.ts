import type { Instant } from '../../domain/time.ts';
import type { PastSpace, SpaceStore } from '../../store/store.ts';

/** Most cached past moments per space. */
const MOST = 4;
/** Most memories in all cached pasts of a space together: each past is a copy of the space. */
const MOST_MEMORIES = 50_000;

interface Kept {
  readonly known: Instant;
  /** The version of the space from which the past was opened. Later commits may have changed what it shows. */
  readonly version: unknown;
  readonly past: PastSpace;
}

/** Pasts are freed with their space: they are held in memory only and own no other resources. */
const pasts = new WeakMap<SpaceStore, readonly Kept[]>();

/**
 * Returns a space as it was known at a past moment. The last moments are cached until something is committed. Callers
 * must not close the result.
 */
export async function pastOf(
  space: SpaceStore,
  known: Instant,
  open: () => Promise<PastSpace>,
): Promise<PastSpace> {
  // Read first: if something is committed in between, this version no longer matches.
  const version = await space.version();
  const present = (pasts.get(space) ?? []).filter((each) => each.version === version);
  const found = present.find((each) => each.known === known);
  const latest = found ?? { known, version, past: await open() };
  // Other calls may have cached pasts meanwhile.
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

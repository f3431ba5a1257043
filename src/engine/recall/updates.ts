import { evaluate } from '../../scoring/evaluate.ts';
import type { ScoredMemory, SearchRequest, SpaceReader } from '../../store/store.ts';
import type { AssociationSettings } from './strategy.ts';

/** A statement that may be an update of a direct hit. */
export interface PossibleUpdate {
  readonly newer: string;
  readonly older: string;
  readonly similarity: number;
  /** The score of the older memory, a direct hit, computed without the conflict. */
  readonly score: number;
}

/** Finds the open possible updates of direct hits. Reads nothing if no hit has a conflict. */
export async function possibleUpdates(
  reader: Pick<SpaceReader, 'knownPairs'>,
  direct: readonly Pick<ScoredMemory, 'memory' | 'signals'>[],
  { profile, now }: Pick<SearchRequest, 'profile' | 'now'>,
  { mode, updateRise }: AssociationSettings,
): Promise<readonly PossibleUpdate[]> {
  if (mode !== 'propagated' || updateRise === 0) return [];
  const scoreOf = new Map(
    direct
      .filter(({ signals }) => (signals.conflict ?? 0) > 0)
      .map(({ memory, signals }) => [memory.id, evaluate(profile.root, { ...signals, conflict: 0 }, now)]),
  );
  if (scoreOf.size === 0) return [];
  const pairs = await reader.knownPairs([...scoreOf.keys()]);
  return pairs.flatMap(({ older, newer, kind, similarity, resolution }) => {
    const score = scoreOf.get(older);
    const waits = kind === 'update' && resolution === undefined;
    return waits && score !== undefined ? [{ newer, older, similarity, score }] : [];
  });
}

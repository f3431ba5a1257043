import { invalidArgument, number } from '../../domain/check.ts';
import type { Calibration } from '../../providers/embedder.ts';
import { propagatedAssociation, updateAssociation, valueAlone } from '../../scoring/association.ts';
import { evaluate } from '../../scoring/evaluate.ts';
import { type ResolvedProfile, withFloor } from '../../scoring/profile.ts';
import type { Signals } from '../../scoring/signals.ts';
import type { Inspection, SearchRequest } from '../../store/store.ts';
import type { RecallOptions } from '../types.ts';
import type { Reached } from './expand.ts';
import type { AssociationSettings, Strategy } from './strategy.ts';
import type { PossibleUpdate } from './updates.ts';

/** Adds the floor of relevance that a recall asks for to its formula. Throws `invalid_argument`. */
export function withRelevance(
  { name, relevance }: Pick<Strategy, 'name' | 'relevance'>,
  resolved: ResolvedProfile,
  minRelevance: RecallOptions['minRelevance'],
  calibration: Calibration | undefined,
): ResolvedProfile {
  if (minRelevance === undefined) return resolved;
  const isAuto = minRelevance === 'auto';
  const atLeast = isAuto ? (calibration?.minRelevance ?? 0) : number(minRelevance, 'minRelevance', 0, 1);
  // At 0 everything is relevant enough, whatever the measure.
  if (atLeast === 0) return resolved;
  if (relevance !== undefined) return withFloor(resolved, relevance, atLeast);
  if (isAuto) return resolved;
  throw invalidArgument(
    'minRelevance',
    `strategy ${name} has no measure of relevance alone, as hybrid has in its part "match"; use minScore, a floor of the whole score`,
  );
}

/** The relevance of associates: their own, or what they inherit along links and updates. The best counts. */
export interface AssociateMatches {
  readonly of: ReadonlyMap<string, number>;
  linked(reached: Reached, signals: Signals): void;
  updating(update: PossibleUpdate, signals: Signals): void;
  suffices(id: string): boolean;
}

/** Makes the collector of relevance, which propagates like scores; `undefined` without a floor of relevance. */
export function associateMatches(
  { profile: { floor }, now }: Pick<SearchRequest, 'profile' | 'now'>,
  { propagation, updateRise }: AssociationSettings,
  starts: readonly Pick<Inspection, 'id' | 'signals'>[],
): AssociateMatches | undefined {
  if (!floor) return undefined;
  const matchOf = (signals: Signals) => evaluate(floor.node, signals, now);
  const sources = new Map(starts.map(({ id, signals }) => [id, matchOf(signals)]));
  const best = new Map<string, number>();
  const note = (id: string, match: number) => best.set(id, Math.max(match, best.get(id) ?? match));
  const sourceOf = (id: string | undefined) => (id === undefined ? 0 : (sources.get(id) ?? 0));
  return {
    of: best,
    linked({ id, path, weight }, signals) {
      const source = { propagation, pathWeight: weight, score: sourceOf(path[0]), outer: valueAlone(1) };
      note(id, propagatedAssociation(valueAlone(matchOf(signals)), source).value);
    },
    updating({ newer, older, similarity }, signals) {
      const source = { older: sourceOf(older), rise: updateRise, similarity };
      note(newer, updateAssociation(valueAlone(matchOf(signals)), source).value);
    },
    suffices: (id) => (best.get(id) ?? 0) >= floor.atLeast,
  };
}

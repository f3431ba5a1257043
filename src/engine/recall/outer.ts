import { TRANSIENT_TYPES } from '../../domain/memory.ts';
import type { Expression, Node } from '../../scoring/operators/index.ts';
import { type Profile, type ResolvedProfile, resolveProfile } from '../../scoring/profile.ts';

/** How a recall includes what no longer holds. */
export interface DeepOptions {
  readonly deep: boolean;
  readonly includeExpired: boolean;
  /** The factor for outdated memories in a deep recall. Default is 0.5. */
  readonly penalty: number;
  /** Milliseconds from `asOf.valid` to the time of the recall; 0 if they are the same. */
  readonly since: number;
}

export const DEEP_PENALTY = 0.5;

/**
 * Adds the factors of a deep recall to a formula: score × factors for what is outdated. `outer` are the factors alone.
 * Without `deep` the formula stays as it is and `outer` is 1.
 */
export function withOuterFactors(
  profile: Profile,
  options: DeepOptions,
  bind: (profile: Profile) => ResolvedProfile,
): { readonly resolved: ResolvedProfile; readonly outer: Node } {
  const outerOf = (score: Expression) =>
    resolveProfile({ ...profile, parameters: {}, parts: {}, require: [], score }).root;
  const factor = outerFactor(options);
  if (!options.deep) {
    none ??= outerOf(factor);
    return { resolved: bind(profile), outer: none };
  }
  const outer = outerOf(factor);
  return { resolved: bind({ ...profile, score: { op: 'product', of: [profile.score, factor] } }), outer };
}

/** The `outer` of a recall that is not deep: the same for all profiles. */
let none: Node | undefined;

function outerFactor({ deep, includeExpired, penalty, since }: DeepOptions): Expression {
  if (!deep) return 1;
  const replaced: Expression = {
    op: 'when',
    if: { attribute: 'superseded', is: 'true' },
    then: penalty,
    else: { op: 'when', if: { passed: 'consolidatedAt' }, then: penalty, else: 1 },
  };
  if (!includeExpired) return replaced;
  // At `validUntil` itself a memory is still valid.
  const hasEnded = { passed: 'validUntil', by: since + 1 } as const;
  const ended: Expression = {
    op: 'table',
    by: 'type',
    cases: Object.fromEntries(
      TRANSIENT_TYPES.map((type) => [type, { op: 'when', if: hasEnded, then: penalty, else: 1 }]),
    ),
    otherwise: 1,
  };
  return { op: 'product', of: [replaced, ended] };
}

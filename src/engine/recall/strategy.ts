import type { Calibration } from '../../providers/embedder.ts';
import { signalsRead } from '../../scoring/evaluate.ts';
import {
  checkOverrides,
  type ParameterOverrides,
  type Profile,
  type ResolvedProfile,
  resolveProfile,
} from '../../scoring/profile.ts';
import type { ExpansionSettings } from './expand.ts';

/** A named way to recall: the formula, the number of hits, how links are followed, and what use writes. */
export interface Strategy {
  readonly name: string;
  readonly profile: Profile;
  /** The default number of hits. */
  readonly limit: number;
  /** What a recall writes after its answer is fixed. */
  readonly effect: 'none' | 'reinforce' | 'count';
  /** How it fills a context. */
  readonly context: ContextDefaults;
  /** `undefined`: links are not followed. */
  readonly association: AssociationSettings | undefined;
  /** The part of its formula that measures only how well a memory matches the query. A floor of relevance applies to it. */
  readonly relevance: string | undefined;
}

/** The defaults for a context built from a strategy's hits, and what that writes. */
export interface ContextDefaults {
  readonly minScore: number;
  /** `undefined`: as many as fit. */
  readonly maxItems: number | undefined;
  readonly effect: 'none' | 'reinforce' | 'count' | 'touch';
}

/** How links bring in further memories. */
export interface AssociationSettings extends ExpansionSettings {
  /**
   * `direct`: an associate scores its own score × the weight of its path. `propagated`: or, if that is more, a share of
   * the direct hit's score.
   */
  readonly mode: 'direct' | 'propagated';
  /** λ: the share of a direct hit's score that a link of weight 1 propagates, never more than all of it. Default is 1.5. */
  readonly propagation: number;
  /**
   * With `propagated`: how far a possible update may rise from its own score towards that of the older statement, times
   * their similarity. 0: not at all. Default is 1.25.
   */
  readonly updateRise: number;
  /** Associates that score less are left out. Default is 0.1. */
  readonly minimum: number;
  /**
   * The weight, 0–1, of relations and mentions as links from entities that the query names. 0: they are not followed.
   * Default is 0.
   */
  readonly graph: number;
}

export const ASSOCIATION: AssociationSettings = {
  mode: 'direct',
  propagation: 1.5,
  updateRise: 1.25,
  minimum: 0.1,
  graph: 0,
  linkThreshold: 0.3,
  pathThreshold: 0.3,
  secondHop: true,
  sequence: true,
};

const limits: Readonly<Record<string, number>> = { balanced: 20, scoped: 5 };
const effects: Readonly<Record<string, Strategy['effect']>> = {
  retention: 'reinforce',
  'five-factor': 'count',
};
const contexts: Readonly<Record<string, ContextDefaults>> = {
  balanced: { minScore: 0.1, maxItems: 20, effect: 'touch' },
};
const associations: Readonly<Record<string, AssociationSettings>> = {
  retention: ASSOCIATION,
  // No `sequence` links: the words of neighbours are part of its formula already.
  hybrid: { ...ASSOCIATION, mode: 'propagated', sequence: false },
};

const relevances: Readonly<Record<string, string>> = { hybrid: 'match' };

/** Returns the strategy of a profile. A profile that extends a built-in one behaves like that. */
export function strategyOf(profile: Profile): Strategy {
  const origin = profile.lineage[0] ?? profile.name;
  return {
    name: profile.name,
    profile,
    limit: limits[origin] ?? 10,
    effect: effects[origin] ?? 'none',
    context: contexts[origin] ?? { minScore: 0, maxItems: undefined, effect: effects[origin] ?? 'none' },
    association: associations[origin],
    relevance: relevances[origin],
  };
}

/** Resolves the parameters of a strategy for one call: the caller's, then the calibration of the embedder, then the defaults. */
export function resolveStrategy(
  profile: Profile,
  parameters: ParameterOverrides | undefined,
  calibration: Calibration | undefined,
): ResolvedProfile {
  if (parameters !== undefined) checkOverrides(parameters);
  if (parameters !== undefined)
    return resolveProfile(profile, { ...calibrated(profile, calibration), ...parameters });
  const known = plain.get(profile);
  if (known && known.calibration === calibration) return known.resolved;
  const resolved = resolveProfile(profile, calibrated(profile, calibration));
  plain.set(profile, { calibration, resolved });
  return resolved;
}

/** Resolved profiles of recalls without parameters, which is most of them. */
const plain = new WeakMap<
  Profile,
  { readonly calibration: Calibration | undefined; readonly resolved: ResolvedProfile }
>();

/** Returns which signals of the query a formula reads. */
export function querySignals(resolved: ResolvedProfile): {
  readonly similarity: boolean;
  readonly lexical: boolean;
  readonly author: boolean;
  readonly date: boolean;
} {
  const names = signalsRead(resolved);
  return {
    similarity: names.has('similarity'),
    lexical: names.has('lexical') || names.has('contextLexical') || names.has('sessionLexical'),
    author: names.has('authorNamed'),
    date: names.has('dateMatch'),
  };
}

/** Whether a formula reads the query at all. `ambient`, for one, does not. */
export function takesQuery(resolved: ResolvedProfile): boolean {
  return Object.values(querySignals(resolved)).includes(true);
}

function calibrated(profile: Profile, calibration: Calibration | undefined): ParameterOverrides {
  if (!calibration) return {};
  const values = {
    'calibration.floor': calibration.floor,
    'calibration.span': calibration.ceiling - calibration.floor,
  };
  return Object.fromEntries(
    Object.entries(profile.parameters).flatMap(([name, parameter]) =>
      parameter.kind === 'number' && parameter.from !== undefined ? [[name, values[parameter.from]]] : [],
    ),
  );
}

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

/** A named way to recall: which formula ranks, how many memories it returns, what links add, what it leaves behind. */
export interface Strategy {
  readonly name: string;
  readonly profile: Profile;
  /** How many memories a recall returns unless it says otherwise. */
  readonly limit: number;
  /** What a recall writes after its answer is fixed. */
  readonly effect: 'none' | 'reinforce' | 'count';
  /** How it fills a context. */
  readonly context: ContextDefaults;
  /** `undefined`: links are not followed. */
  readonly association: AssociationSettings | undefined;
  /** The part of its formula that says how well a memory matches the query, whatever else counts; what a floor of relevance is of. */
  readonly relevance: string | undefined;
}

/** What a context takes of a strategy's hits unless it says otherwise, and what that writes. */
export interface ContextDefaults {
  readonly minScore: number;
  /** `undefined`: as many as fit. */
  readonly maxItems: number | undefined;
  readonly effect: 'none' | 'reinforce' | 'count' | 'touch';
}

/** How links bring further memories in. */
export interface AssociationSettings extends ExpansionSettings {
  /** `direct`: an associate's own score × the weight of its path. `propagated`: or a share of the direct hit's, if that is more. */
  readonly mode: 'direct' | 'propagated';
  /** λ: the share of a direct hit's score that a link of weight 1 passes on. Default is 1.5; never more than all of it. */
  readonly propagation: number;
  /**
   * With `propagated`: by how much, times the similarity of the two, a possible update may rise above its own score
   * towards that of the older statement. 0: not at all.
   */
  readonly updateRise: number;
  /** An associate that scores less is left out. */
  readonly minimum: number;
  /**
   * The weight, 0–1, of relations and mentions as links from the entities that the query names. 0: they are not followed.
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
  // The words of neighbours are part of its formula.
  hybrid: { ...ASSOCIATION, mode: 'propagated', sequence: false },
};

const relevances: Readonly<Record<string, string>> = { hybrid: 'match' };

/** The strategy of a profile. One that extends a built-in profile recalls as that does. */
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

/** Fixes the parameters of a strategy for one call; what the embedder knows fills in what the caller leaves open. */
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

/** Of most recalls, which set no parameter. */
const plain = new WeakMap<
  Profile,
  { readonly calibration: Calibration | undefined; readonly resolved: ResolvedProfile }
>();

/** Which signals of a query a formula reads: without any of them it takes no query. */
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

/** Whether a formula reads the query at all. What does not, `ambient` for one, ranks without. */
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

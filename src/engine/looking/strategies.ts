import { formulaText } from '../../scoring/formula.ts';
import type { ParameterDefinition, Profile } from '../../scoring/profile.ts';
import type { Dependencies } from '../dependencies.ts';
import { resolveStrategy, strategyOf, takesQuery } from '../recall/strategy.ts';

/** A way to recall, as this memory would use it. */
export interface StrategyDescription {
  readonly name: string;
  readonly description: string;
  /** Where its formula comes from. */
  readonly source?: string | undefined;
  /** Whether it ranks by a query; `ambient`, for one, ranks without. */
  readonly takesQuery: boolean;
  /** How many memories it returns unless the recall says otherwise. */
  readonly limit: number;
  /** What a recall by it writes: nothing, that memories were used, or how often. */
  readonly effect: 'none' | 'reinforce' | 'count';
  /** Whether links of its hits bring memories in. */
  readonly associates: boolean;
  /** Whether it takes a floor of relevance (`minRelevance`). */
  readonly takesFloor: boolean;
  /** As people write formulas. */
  readonly formula: string;
  /** The formula as data, inheritance resolved: what `score` of `salience/scoring` takes. */
  readonly profile: Profile;
  readonly parameters: readonly StrategyParameter[];
}

/** A parameter that a recall may set. */
export interface StrategyParameter {
  readonly name: string;
  readonly kind: ParameterDefinition['kind'];
  /** What it is unless a recall says otherwise: what the embedder in use measures included. */
  readonly default: number | string | boolean;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly choices?: readonly string[] | undefined;
  readonly description?: string | undefined;
}

/** The strategies that a recall may name, those of the user included. */
export async function strategies({
  profiles,
  embedder,
}: Dependencies): Promise<readonly StrategyDescription[]> {
  return [...profiles.values()].map((profileOf) => {
    const profile = profileOf();
    const { name, limit, effect, association, relevance } = strategyOf(profile);
    const resolved = resolveStrategy(profile, undefined, embedder?.calibration);
    return {
      name,
      description: profile.description,
      ...(profile.source === undefined ? {} : { source: profile.source }),
      takesQuery: takesQuery(resolved),
      limit,
      effect,
      associates: association !== undefined,
      takesFloor: relevance !== undefined,
      formula: formulaText(profile),
      profile,
      parameters: Object.entries(profile.parameters).map(([parameter, definition]) =>
        describe(parameter, definition, resolved.parameters[parameter] ?? definition.default),
      ),
    };
  });
}

function describe(
  name: string,
  definition: ParameterDefinition,
  value: StrategyParameter['default'],
): StrategyParameter {
  const { kind, description } = definition;
  return {
    name,
    kind,
    default: value,
    ...(definition.kind === 'number' && definition.min !== undefined ? { min: definition.min } : {}),
    ...(definition.kind === 'number' && definition.max !== undefined ? { max: definition.max } : {}),
    ...(definition.kind === 'choice' ? { choices: definition.choices } : {}),
    ...(description === undefined ? {} : { description }),
  };
}

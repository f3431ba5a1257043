import { formulaText } from '../../scoring/formula.ts';
import type { ParameterDefinition, Profile } from '../../scoring/profile.ts';
import type { Dependencies } from '../dependencies.ts';
import { resolveStrategy, strategyOf, takesQuery } from '../recall/strategy.ts';

/** A strategy, as this engine uses it. */
export interface StrategyDescription {
  readonly name: string;
  readonly description: string;
  /** The origin of its formula. */
  readonly source?: string | undefined;
  /** Whether it ranks by a query. `ambient`, for one, does not. */
  readonly takesQuery: boolean;
  /** The default number of hits. */
  readonly limit: number;
  /** What a recall writes: nothing, a use that reinforces memories, or a count of the use. */
  readonly effect: 'none' | 'reinforce' | 'count';
  /** Whether links of its hits bring memories in. */
  readonly associates: boolean;
  /** Whether it takes a floor of relevance (`minRelevance`). */
  readonly takesFloor: boolean;
  /** The formula in readable notation. */
  readonly formula: string;
  /** The formula as data, inheritance resolved: what `score` of `salience/scoring` takes. */
  readonly profile: Profile;
  readonly parameters: readonly StrategyParameter[];
}

/** A parameter that a recall may set. */
export interface StrategyParameter {
  readonly name: string;
  readonly kind: ParameterDefinition['kind'];
  /** The default, with the calibration of the current embedder applied. */
  readonly default: number | string | boolean;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly choices?: readonly string[] | undefined;
  readonly description?: string | undefined;
}

/** Lists all strategies, including custom ones. */
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

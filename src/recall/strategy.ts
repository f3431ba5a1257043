import { SalienceError } from '../model/errors.ts';
import type { Calibration } from '../providers/embedder.ts';
import { namesOfCondition, namesRead } from '../scoring/evaluate.ts';
import { type BoundProfile, bindProfile, type ParameterOverrides, type Profile } from '../scoring/profile.ts';

/** A named way to recall: which formula ranks, and how many memories it returns. */
export interface Strategy {
  readonly name: string;
  readonly profile: Profile;
  /** How many memories a recall returns unless it says otherwise. */
  readonly limit: number;
}

const limits: Readonly<Record<string, number>> = { balanced: 20, scoped: 5 };

export function strategyOf(profile: Profile): Strategy {
  return {
    name: profile.name,
    profile,
    limit: limits[profile.name] ?? limits[profile.lineage[0] ?? ''] ?? 10,
  };
}

/** Fixes the parameters of a strategy for one call; what the embedder knows fills in what the caller leaves open. */
export function bindStrategy(
  strategy: Strategy,
  parameters: ParameterOverrides | undefined,
  calibration: Calibration | undefined,
): BoundProfile {
  return bindProfile(strategy.profile, { ...calibrated(strategy.profile, calibration), ...parameters });
}

/** Which signals of a query a formula reads: without any of them it takes no query. */
export function querySignals(bound: BoundProfile): {
  readonly similarity: boolean;
  readonly lexical: boolean;
} {
  const names = new Set([...namesRead(bound.root), ...bound.require.flatMap(namesOfCondition)]);
  return { similarity: names.has('similarity'), lexical: names.has('lexical') };
}

export function unknownStrategy(name: unknown, known: readonly string[]): SalienceError {
  return new SalienceError(
    'unknown_strategy',
    `there is no strategy ${JSON.stringify(name)}; there are ${known.join(', ')}`,
    { details: { strategy: name } },
  );
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

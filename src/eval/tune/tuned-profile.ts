import { onlyKeys } from '../../domain/options.ts';
import { formatInstant, type Instant } from '../../domain/time.ts';
import type { HeldOut } from '../../fit/fit.ts';
import { flatten, type ProfileDefinition } from '../../scoring/profile.ts';
import type { TuneResult } from './tune.ts';

export interface TunedProfileOptions {
  /**
   * The definition of the tuned profile if it is not a built-in one. The result then repeats it instead of extending
   * it.
   */
  readonly definition?: ProfileDefinition | undefined;
  /** The version of the package. */
  readonly version: string;
  readonly now: Instant;
}

/**
 * Returns a profile with the tuned parameters, named after the original profile. Its `source` states the data it was
 * tuned on and the gain.
 *
 * @example
 * ```ts
 * import { builtinProfile } from 'salience/scoring';
 * await using engine = await createEvaluationEngine();
 * const datasets = [await readDataset('./questions.jsonl')];
 * const result = await tune({ datasets, profile: builtinProfile('hybrid') }, engine);
 * if (result.problems.length === 0) {
 *   console.log(JSON.stringify(tunedProfile(result, { version: '0.1.0', now: Date.now() })));
 * }
 * ```
 */
export function tunedProfile(result: TuneResult, options: TunedProfileOptions): ProfileDefinition {
  onlyKeys(options, ['definition', 'version', 'now'], 'tunedProfile');
  const { definition, version, now } = options;
  const { profile, parameters } = result;
  const set = Object.fromEntries(parameters.map(({ name, after }) => [name, after]));
  const about = {
    name: `${profile.slice(0, 58).replace(/-+$/, '')}-tuned`,
    description: `The profile ${profile} with tuned parameters.`,
    source: provenanceOf(result, version, now),
  };
  if (!definition) return { ...about, extends: profile, set };
  // Flattened, because a nested group may set a tuned parameter, and the same name twice would be refused.
  return { ...definition, ...about, set: { ...flatten(definition.set ?? {}), ...set } };
}

function provenanceOf(result: TuneResult, version: string, now: Instant): string {
  const { profile, objective, balance, seed, questions, spaces, datasets, heldOut, placebo } = result;
  const sets = datasets.map(({ name, sha256 }) => `${name} (sha256 ${sha256.slice(0, 16)})`).join(', ');
  return [
    `Tuned from ${profile} by salience ${version} on ${formatInstant(now).slice(0, 10)}`,
    `Data: ${sets}; ${questions} questions in ${spaces} spaces, balanced by ${balance}; seed ${seed}`,
    `Held out ${objective}: ${gainText(heldOut[objective])}; placebo: ${gainText(placebo)}`,
  ].join('. ');
}

/**
 * Formats a gain as text, with its intervals.
 *
 * @example
 * ```ts
 * gainText({ before: 0.5, after: 0.6, difference: 0.1, certain: false }); // 0.5000 → 0.6000, +0.1000
 * ```
 */
export function gainText({ before, after, difference, interval, spaces }: HeldOut): string {
  const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(4)}`;
  const range = (each: { readonly low: number; readonly high: number }) =>
    `[${signed(each.low)}, ${signed(each.high)}]`;
  return [
    `${before.toFixed(4)} → ${after.toFixed(4)}, ${signed(difference)}`,
    ...(interval ? [` ${range(interval)}`] : []),
    ...(spaces ? [`, drawing whole spaces ${range(spaces)}`] : []),
  ].join('');
}

import { invalidArgument } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { CLOCK_NAMES } from '../domain/fields.ts';
import { isPlain, keysOf, onlyKeys, unknown } from '../domain/options.ts';
import { type Instant, parseInstant } from '../domain/time.ts';
import { conditionHolds, namesOfCondition } from './condition.ts';
import { clocksRead, evaluate, namesRead } from './evaluate.ts';
import { type Explanation, explainNode } from './explain.ts';
import type { Node } from './operators/index.ts';
import {
  checkProfile,
  isProfile,
  type ParameterOverrides,
  type Profile,
  type ProfileDefinition,
  type ResolvedProfile,
  resolveProfile,
} from './profile.ts';
import { type BuiltinProfileName, builtinProfile, findBuiltinProfile } from './profiles/index.ts';
import { ATTRIBUTE_NAMES, isAttributeName, isFlag, SIGNAL_NAMES, SIGNALS, type Signals } from './signals.ts';

/**
 * Signals as callers write them: times as ISO 8601 text, `Date` or milliseconds. Absent signals take their defaults.
 */
export type SignalInput = {
  readonly [Name in keyof Signals]?: Name extends (typeof CLOCK_NAMES)[number]
    ? Instant | string | Date | undefined
    : Signals[Name];
} & { readonly sessions?: number | readonly string[] | undefined };

export interface ScoreOptions {
  /** The moment at which ages are computed. Required if the profile reads ages. */
  readonly now?: Instant | string | Date | undefined;
  readonly parameters?: ParameterOverrides | undefined;
}

const optionKeys = keysOf<ScoreOptions>()({ now: true, parameters: true });

/** A profile, or the name of a built-in one. */
export type ProfileReference = Profile | string;

/**
 * Checks a profile written in TypeScript or read from JSON; it may extend a built-in profile, or one that `lookup`
 * finds. Throws `invalid_profile` naming the path of the fault.
 *
 * @example
 * ```ts
 * const profile = defineProfile({
 *   name: 'important-first',
 *   description: 'Importance, and a little similarity.',
 *   score: {
 *     op: 'mean',
 *     terms: [
 *       { weight: 0.8, of: { op: 'signal', name: 'importance' } },
 *       { weight: 0.2, of: { op: 'signal', name: 'similarity' } },
 *     ],
 *   },
 * });
 * score(profile, { importance: 1, similarity: 0.5 }); // 0.9
 * ```
 */
export function defineProfile(
  definition: ProfileDefinition,
  lookup: (name: string) => Profile | undefined = findBuiltinProfile,
): Profile {
  return checkProfile(definition, lookup);
}

/**
 * Reads a profile from JSON text. Throws `invalid_profile`.
 *
 * @example
 * ```ts
 * const json = '{ "name": "plain", "description": "Similarity.", "score": { "op": "signal", "name": "similarity" } }';
 * score(parseProfile(json), { similarity: 0.5 }); // 0.5
 * ```
 */
export function parseProfile(json: string): Profile {
  try {
    return defineProfile(JSON.parse(json) as ProfileDefinition);
  } catch (cause) {
    if (SalienceError.isInstance(cause)) throw cause;
    throw new SalienceError('invalid_profile', `this is not valid JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/**
 * Computes the score of one memory by one formula, a number in [0, 1]. Throws `invalid_argument`, `invalid_time`,
 * `invalid_parameter`, `invalid_profile` if the score could leave [0, 1] with these parameters, `missing_signal`,
 * `non_finite_score`, `unknown_strategy`.
 *
 * @example
 * ```ts
 * const note = { similarity: 0.92, scope: 'project:shop', updatedAt: '2026-04-15T00:00:00Z' };
 * score('scoped', note, { now: '2026-04-20T00:00:00Z', parameters: { decayRate: 0.01 } });
 * ```
 */
export function score(profile: ProfileReference, signals: SignalInput, options: ScoreOptions = {}): number {
  const { resolved, read, now } = prepare(profile, signals, options);
  return evaluate(resolved.root, read, now);
}

/**
 * Explains a {@link score}: returns it as the tree of values that it was computed from. The value of the root equals
 * the score to the bit.
 *
 * @example
 * ```ts
 * const note = { similarity: 0.92, scope: 'project:shop', updatedAt: '2026-04-15T00:00:00Z' };
 * const tree = explain('scoped', note, { now: '2026-04-20T00:00:00Z' });
 * console.log(tree.value, formatExplanation(tree, 'text'));
 * ```
 */
export function explain(
  profile: ProfileReference,
  signals: SignalInput,
  options: ScoreOptions = {},
): Explanation {
  const { resolved, read, now } = prepare(profile, signals, options);
  return explainNode(resolved.root, read, now);
}

/**
 * The values of a profile's named parts.
 *
 * @example
 * ```ts
 * const parts = features(
 *   'balanced',
 *   { similarity: 0.8, importance: 0.9, createdAt: '2026-04-06T00:00:00Z' },
 *   { now: '2026-04-20T00:00:00Z' },
 * );
 * console.log(Object.entries(parts));
 * ```
 */
export function features(
  profile: ProfileReference,
  signals: SignalInput,
  options: ScoreOptions = {},
): Readonly<Record<string, number>> {
  const { resolved, read, now } = prepare(profile, signals, options);
  return featuresOf(resolved, read, now);
}

/** Returns the value of one named part of a built-in profile. */
export function partValue(
  profile: BuiltinProfileName,
  part: string,
  signals: SignalInput,
  options: ScoreOptions = {},
): number {
  const { resolved, read, now } = prepare(profile, signals, options);
  return evaluate(resolved.parts[part] as Node, read, now);
}

/** Returns the values of the named parts of a resolved profile. A part that needs an unknown age is left out. */
export function featuresOf(
  resolved: ResolvedProfile,
  signals: Signals,
  now: Instant,
): Readonly<Record<string, number>> {
  const found: [string, number][] = [];
  for (const name of Object.keys(resolved.parts)) {
    const value = valueIfKnown(resolved.parts[name]!, signals, now);
    if (value !== undefined) found.push([name, value]);
  }
  return Object.fromEntries(found);
}

function valueIfKnown(part: Node, signals: Signals, now: Instant): number | undefined {
  try {
    return evaluate(part, signals, now);
  } catch (error) {
    if (SalienceError.isInstance(error) && error.code === 'missing_signal') return undefined;
    throw error;
  }
}

/**
 * Returns the index of the first requirement that a memory does not meet; the number of requirements if only the floor
 * is not met; `undefined` if all are met.
 */
export function failedRequirement(
  resolved: ResolvedProfile,
  signals: Signals,
  now: Instant,
): number | undefined {
  const { require, floor } = resolved;
  const failed = require.findIndex((condition) => !conditionHolds(condition, signals, now));
  if (failed >= 0) return failed;
  return floor && evaluate(floor.node, signals, now) < floor.atLeast ? require.length : undefined;
}

/**
 * Returns the names that affect ranking: those that the formula, its requirements and the floor read, but not those of
 * other parts.
 */
export function signalsRanked({ root, require, floor }: ResolvedProfile): ReadonlySet<string> {
  let names = rankedBy.get(root);
  if (!names) {
    names = new Set([...namesRead(root), ...require.flatMap(namesOfCondition)]);
    rankedBy.set(root, names);
  }
  return floor ? new Set([...names, ...namesRead(floor.node)]) : names;
}

/** Each root belongs to one profile. */
const rankedBy = new WeakMap<Node, ReadonlySet<string>>();

/** Checks signals and converts them to the form that formulas read. Throws `invalid_argument`, `invalid_time`. */
export function readSignals(input: SignalInput): Signals {
  if (!isPlain(input))
    throw invalidArgument('signals', `expected an object of signals, not ${describe(input)}`);
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || value === null) continue;
    if ((CLOCK_NAMES as readonly string[]).includes(name)) read[name] = readInstant(value as string, name);
    else if ((SIGNAL_NAMES as readonly string[]).includes(name)) read[name] = readNumber(name, value);
    else if (isAttributeName(name)) read[name] = isFlag(name) ? readFlag(name, value) : readText(name, value);
    else if (name === 'sessions')
      read['sessionCount'] = Array.isArray(value) ? value.length : readNumber('sessionCount', value);
    else throw unknownSignal(name);
  }
  return read as Signals;
}

function prepare(reference: ProfileReference, signals: SignalInput, options: ScoreOptions) {
  onlyKeys(options, optionKeys, 'options');
  const profile = profileOf(reference);
  const resolved = resolveProfile(profile, options.parameters);
  const read = readSignals(signals);
  if (options.now !== undefined) return { resolved, read, now: readInstant(options.now, 'now') };
  // Without `now` no age is known, and a clock that the caller gave must not silently count as unknown.
  const clock = [resolved.root, ...Object.values(resolved.parts)]
    .flatMap((node) => [...clocksRead(node)])
    .find((name) => read[name] !== undefined);
  if (clock === undefined) return { resolved, read, now: Number.NaN };
  throw new SalienceError(
    'invalid_argument',
    `now: profile ${JSON.stringify(profile.name)} looks at the age of ${clock}; give the moment that ages are counted to`,
    { details: { field: 'now' } },
  );
}

function profileOf(reference: ProfileReference): Profile {
  if (typeof reference === 'string') return builtinProfile(reference);
  if (isProfile(reference)) return reference;
  throw invalidArgument(
    'profile',
    `expected a profile that defineProfile or parseProfile returned, or the name of a built-in one, not ${describe(reference)}`,
  );
}

/** The furthest instant that a `Date` can hold. */
const furthestInstant = 8.64e15;

export function readInstant(value: Instant | string | Date, field: string): Instant {
  if (typeof value !== 'number') return parseInstant(value, field);
  if (Math.abs(value) <= furthestInstant) return value;
  throw new SalienceError('invalid_time', `${field}: ${value} is not a time`, { details: { field } });
}

function readNumber(name: string, value: unknown): number {
  const [low, high] = SIGNALS[name as keyof typeof SIGNALS].range;
  if (typeof value === 'number' && value >= low && value <= high && Number.isFinite(value)) return value;
  throw new SalienceError(
    'invalid_argument',
    `signal ${name}: ${describe(value)} must be a number ${high === Infinity ? `of at least ${low}` : `from ${low} to ${high}`}`,
    { details: { field: name } },
  );
}

function readText(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new SalienceError('invalid_argument', `signal ${name}: expected a string`, {
    details: { field: name },
  });
}

function readFlag(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new SalienceError('invalid_argument', `signal ${name}: expected true or false`, {
    details: { field: name },
  });
}

function unknownSignal(name: string): SalienceError {
  const known = [...SIGNAL_NAMES, ...CLOCK_NAMES, ...ATTRIBUTE_NAMES];
  return new SalienceError('invalid_argument', unknown('signal', name, known), {
    details: { field: name },
  });
}

import { invalidArgument } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { frozenCopy } from '../domain/frozen.ts';
import { isPlain, unknown } from '../domain/options.ts';
import type { Condition } from './condition.ts';
import { invalidProfile } from './faults.ts';
import type { Expression, Node } from './operators/index.ts';
import { checkScoreRange } from './range.ts';
import { type ResolvedFormulas, resolveFormulas } from './resolve.ts';
import { sha256 } from './sha256.ts';

export type ParameterValue = number | string | boolean;

/** A typed setting of a profile that any call may override. */
export type ParameterDefinition =
  | {
      readonly kind: 'number';
      readonly default: number;
      readonly min?: number | undefined;
      readonly max?: number | undefined;
      /** The embedder's calibration sets it, unless the caller does. */
      readonly from?: 'calibration.floor' | 'calibration.span' | undefined;
      readonly description?: string | undefined;
    }
  | {
      readonly kind: 'choice';
      readonly default: string;
      readonly choices: readonly string[];
      readonly description?: string | undefined;
    }
  | { readonly kind: 'flag'; readonly default: boolean; readonly description?: string | undefined };

const CALIBRATED = ['calibration.floor', 'calibration.span'] as const;

/**
 * Values for parameters. Groups may be nested: `{ weights: { semantic: 0.6 } }` sets `weights.semantic`
 * and leaves the rest of the group as it is.
 */
export type ParameterOverrides = {
  readonly [name: string]: ParameterValue | { readonly [name: string]: ParameterValue };
};

/** A scoring formula as plain data, as its author writes it: JSON or TypeScript. */
export interface ProfileDefinition {
  readonly name: string;
  readonly description: string;
  /** Where the formula comes from. */
  readonly source?: string | undefined;
  /** The name of a profile to start from. */
  readonly extends?: string | undefined;
  readonly parameters?: { readonly [name: string]: ParameterDefinition } | undefined;
  /** New defaults of inherited parameters. */
  readonly set?: ParameterOverrides | undefined;
  /**
   * Named formulas, returned with every hit and usable by `ref`. The name of an inherited part is refused here; see
   * `replace`.
   */
  readonly parts?: { readonly [name: string]: Expression } | undefined;
  /** New formulas for inherited parts. */
  readonly replace?: { readonly [name: string]: Expression } | undefined;
  /** The formula, with a value in [0, 1]. Required unless inherited. */
  readonly score?: Expression | undefined;
  /** Conditions that a memory must meet to be scored at all. They are added to the inherited ones. */
  readonly require?: readonly Condition[] | undefined;
}

/** A checked profile with its inheritance resolved. It is frozen. */
export interface Profile {
  readonly name: string;
  readonly description: string;
  readonly source: string | undefined;
  readonly lineage: readonly string[];
  readonly parameters: { readonly [name: string]: ParameterDefinition };
  readonly parts: { readonly [name: string]: Expression };
  readonly score: Expression;
  readonly require: readonly Condition[];
}

/** Whether a value is a checked profile. A definition that was not checked has no lineage. */
export function isProfile(value: unknown): value is Profile {
  const profile: Partial<Profile> = isPlain(value) ? value : {};
  const { lineage, parameters, parts, score } = profile;
  return (
    Array.isArray(lineage) &&
    isPlain(parameters) &&
    isPlain(parts) &&
    (typeof score === 'number' || isPlain(score)) &&
    Array.isArray(profile.require)
  );
}

/** Throws `invalid_argument` for a value that is not a checked profile. */
export function onlyProfile(value: unknown): void {
  if (isProfile(value)) return;
  throw invalidArgument(
    'profile',
    `expected a profile that defineProfile, parseProfile or builtinProfile returned, not ${describe(value)}`,
  );
}

/** A profile with fixed parameters: this is what is evaluated, explained and compiled. */
export interface ResolvedProfile extends ResolvedFormulas {
  readonly name: string;
  readonly parameters: { readonly [name: string]: ParameterValue };
  /** SHA-256 over the formula and its parameters: two scores are comparable only when theirs are equal. */
  readonly hash: string;
  /**
   * A requirement of one recall, in addition to those of the profile. It changes no score, and so is not part of the
   * hash.
   */
  readonly floor?: Floor | undefined;
}

/** A memory is scored only if the value of this part is at least `atLeast`. */
export interface Floor {
  readonly part: string;
  readonly node: Node;
  readonly atLeast: number;
}

const profileKeys = [
  'name',
  'description',
  'source',
  'extends',
  'parameters',
  'set',
  'parts',
  'replace',
  'score',
  'require',
] as const;

const parameterKeys: Readonly<Record<ParameterDefinition['kind'], readonly string[]>> = {
  number: ['kind', 'default', 'min', 'max', 'from', 'description'],
  choice: ['kind', 'default', 'choices', 'description'],
  flag: ['kind', 'default', 'description'],
};

export type ProfileLookup = (name: string) => Profile | undefined;

/**
 * Checks a profile and resolves what it extends. Throws `invalid_profile` with the path of the fault. `lookup` finds
 * the profile that `extends` names. A profile that was already checked is returned as it is.
 */
export function checkProfile(definition: ProfileDefinition, lookup: ProfileLookup): Profile {
  if (isChecked(definition)) return definition;
  checkShape(definition);
  const parent = definition.extends === undefined ? undefined : lookup(definition.extends);
  if (definition.extends !== undefined && parent === undefined) {
    throw invalidProfile(
      definition.name,
      'extends',
      `unknown profile ${describe(definition.extends)}: extend a built-in one, or one that the lookup finds`,
    );
  }
  const parameters = mergeParameters(definition, parent);
  const parts = mergeParts(definition, parent);
  const score = definition.score === undefined ? parent?.score : definition.score;
  if (score === undefined) throw invalidProfile(definition.name, 'score', 'expected a formula');
  const profile: Profile = {
    name: definition.name,
    description: definition.description,
    source: definition.source ?? parent?.source,
    lineage: parent ? [...parent.lineage, definition.name] : [definition.name],
    parameters,
    parts,
    score,
    require: [...(parent?.require ?? []), ...(definition.require ?? [])],
  };
  const resolved = resolveProfile(profile);
  // Frozen, so that a caller who keeps the object cannot change later scores.
  const kept = frozenCopy(profile);
  checked.add(kept);
  unchanged.set(kept, resolved);
  recent.set(kept, recent.get(profile) ?? new Map());
  return kept;
}

/**
 * Fixes the parameters of a profile. Throws `invalid_parameter` for an unknown name or a value outside its type
 * or range, and `invalid_profile` when the score could then leave [0, 1].
 */
export function resolveProfile(profile: Profile, overrides?: ParameterOverrides): ResolvedProfile {
  const plain = overrides === undefined ? unchanged.get(profile) : undefined;
  if (plain) return plain;
  const parameters = resolveParameters(profile, overrides === undefined ? {} : overrides);
  const key = canonicalJson(parameters);
  const known = recent.get(profile)?.get(key);
  if (known) return known;
  const resolved = resolveAnew(profile, parameters);
  if (overrides === undefined) unchanged.set(profile, resolved);
  // Most recalls repeat the parameters of the last one. Only 16 are kept, so that a parameter sweep does not fill the
  // memory.
  recent.set(profile, new Map([[key, resolved], ...[...(recent.get(profile) ?? [])].slice(0, 15)]));
  return resolved;
}

/** Returns the same profile with a floor: only memories whose value of `part` is at least `atLeast` are scored. */
export function withFloor(resolved: ResolvedProfile, part: string, atLeast: number): ResolvedProfile {
  const node = resolved.parts[part];
  if (!node)
    throw invalidProfile(resolved.name, `parts.${part}`, unknown('part', part, Object.keys(resolved.parts)));
  return { ...resolved, floor: { part, node, atLeast } };
}

/** Profiles made by `checkProfile`. They include what they extend, and are frozen. */
const checked = new WeakSet<object>();

function isChecked(definition: ProfileDefinition): definition is Profile {
  return checked.has(definition);
}

/** Each profile resolved with its own defaults. */
const unchanged = new WeakMap<Profile, ResolvedProfile>();
const recent = new WeakMap<Profile, ReadonlyMap<string, ResolvedProfile>>();

function resolveAnew(profile: Profile, parameters: ResolvedProfile['parameters']): ResolvedProfile {
  const formulas = resolveFormulas(profile, parameters);
  const root = checkScoreRange(formulas.root, formulas.parts, profile.name);
  const formula = {
    name: profile.name,
    score: profile.score,
    parts: profile.parts,
    require: profile.require,
  };
  return {
    name: profile.name,
    parameters,
    root,
    parts: formulas.parts,
    require: formulas.require,
    hash: sha256(canonicalJson({ formula, parameters })),
  };
}

function checkShape(definition: ProfileDefinition): void {
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) {
    throw invalidProfile('?', '(root)', 'a profile is an object with name, description and score');
  }
  const name = typeof definition.name === 'string' ? definition.name : '?';
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name)) {
    throw invalidProfile(
      name,
      'name',
      'write 1–64 lower-case letters, digits and hyphens, and no hyphen first',
    );
  }
  if (typeof definition.description !== 'string' || definition.description.trim() === '') {
    throw invalidProfile(name, 'description', 'say in a sentence what the profile is for');
  }
  if (definition.source !== undefined && typeof definition.source !== 'string') {
    throw invalidProfile(name, 'source', 'expected a string');
  }
  for (const key of Object.keys(definition)) {
    if (!(profileKeys as readonly string[]).includes(key)) {
      throw invalidProfile(name, key, unknown('key', key, profileKeys));
    }
  }
  for (const key of ['parameters', 'set', 'parts', 'replace'] as const) {
    const value = definition[key];
    if (value !== undefined && (typeof value !== 'object' || value === null || Array.isArray(value))) {
      throw invalidProfile(name, key, 'expected an object');
    }
  }
  if (definition.require !== undefined && !Array.isArray(definition.require)) {
    throw invalidProfile(name, 'require', 'expected a list of conditions');
  }
}

function mergeParameters(definition: ProfileDefinition, parent: Profile | undefined): Profile['parameters'] {
  const merged: Record<string, ParameterDefinition> = emptyRecord(parent?.parameters);
  for (const [key, parameter] of Object.entries(definition.parameters ?? {})) {
    const path = `parameters.${key}`;
    if (Object.hasOwn(merged, key)) {
      throw invalidProfile(definition.name, path, 'it is inherited; give it a new default under "set"');
    }
    checkParameterDefinition(definition.name, path, parameter);
    merged[key] = parameter;
  }
  const twice = (key: string) =>
    invalidProfile(definition.name, `set.${key}`, 'it is set twice, to different values; keep one of them');
  for (const [key, value] of Object.entries(flatten(definition.set ?? {}, twice))) {
    const inherited = Object.hasOwn(merged, key) ? merged[key] : undefined;
    if (!inherited)
      throw invalidProfile(definition.name, `set.${key}`, unknown('parameter', key, Object.keys(merged)));
    const problem = parameterProblem(inherited, value);
    if (problem) throw invalidProfile(definition.name, `set.${key}`, problem);
    const kept = { ...inherited, default: value } as ParameterDefinition;
    // The calibration must not overwrite what an author has set.
    if (kept.kind === 'number') delete (kept as { from?: unknown }).from;
    merged[key] = kept;
  }
  return merged;
}

function mergeParts(definition: ProfileDefinition, parent: Profile | undefined): Profile['parts'] {
  const merged: Record<string, Expression> = emptyRecord(parent?.parts);
  for (const [key, part] of Object.entries(definition.parts ?? {})) {
    if (Object.hasOwn(merged, key)) {
      throw invalidProfile(
        definition.name,
        `parts.${key}`,
        'it is inherited; put it under "replace" to change it',
      );
    }
    merged[key] = part;
  }
  for (const [key, part] of Object.entries(definition.replace ?? {})) {
    if (!Object.hasOwn(merged, key)) {
      throw invalidProfile(
        definition.name,
        `replace.${key}`,
        unknown('inherited part', key, Object.keys(merged)),
      );
    }
    merged[key] = part;
  }
  return merged;
}

function checkParameterDefinition(profile: string, path: string, parameter: ParameterDefinition): void {
  if (!['number', 'choice', 'flag'].includes(parameter?.kind)) {
    throw invalidProfile(profile, `${path}.kind`, 'write "number", "choice" or "flag"');
  }
  if (parameter.kind === 'choice' && !isListOfTexts(parameter.choices)) {
    throw invalidProfile(profile, `${path}.choices`, 'expected a list of strings');
  }
  const allowed = parameterKeys[parameter.kind];
  for (const [key, value] of Object.entries(parameter)) {
    if (!allowed.includes(key)) {
      throw invalidProfile(profile, `${path}.${key}`, unknown('key', key, allowed));
    }
    if ((key === 'min' || key === 'max') && value !== undefined && !Number.isFinite(value)) {
      throw invalidProfile(
        profile,
        `${path}.${key}`,
        `${typeof value === 'string' ? value : describe(value)} is not a finite number`,
      );
    }
    if (key === 'description' && value !== undefined && typeof value !== 'string') {
      throw invalidProfile(profile, `${path}.description`, 'expected a string');
    }
    if (key === 'from' && value !== undefined && !(CALIBRATED as readonly unknown[]).includes(value)) {
      throw invalidProfile(profile, `${path}.from`, unknown('value', value, CALIBRATED));
    }
  }
  const problem = parameterProblem(parameter, parameter.default);
  if (problem) throw invalidProfile(profile, `${path}.default`, problem);
}

function resolveParameters(profile: Profile, overrides: ParameterOverrides): Record<string, ParameterValue> {
  const values = Object.fromEntries(
    Object.entries(profile.parameters).map(([name, parameter]) => [
      name,
      parameter.default as ParameterValue,
    ]),
  );
  for (const [name, value] of Object.entries(flatten(overrides))) {
    const parameter = Object.hasOwn(profile.parameters, name) ? profile.parameters[name] : undefined;
    if (!parameter) {
      const known = Object.keys(profile.parameters);
      throw new SalienceError(
        'invalid_parameter',
        known.length > 0
          ? `profile ${JSON.stringify(profile.name)}: ${unknown('parameter', name, known)}`
          : `profile ${JSON.stringify(profile.name)} has no parameters; extend it under a new name to change its numbers`,
        { details: { profile: profile.name, parameter: name } },
      );
    }
    const problem = parameterProblem(parameter, value);
    if (problem) {
      throw new SalienceError(
        'invalid_parameter',
        `parameter ${name} of profile ${profile.name}: ${problem}`,
        {
          details: { profile: profile.name, parameter: name },
        },
      );
    }
    values[name] = value;
  }
  return values;
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** Sums and products of larger numbers would no longer be finite. */
const LARGEST = 1e50;

function parameterProblem(parameter: ParameterDefinition, value: ParameterValue): string | undefined {
  switch (parameter.kind) {
    case 'flag':
      return typeof value === 'boolean' ? undefined : `${describe(value)} is not true or false`;
    case 'choice':
      return parameter.choices.includes(value as string)
        ? undefined
        : `${describe(value)} is not one of ${parameter.choices.join(', ')}`;
    case 'number': {
      if (typeof value !== 'number' || !Number.isFinite(value))
        return `${String(value)} is not a finite number`;
      const { min = -LARGEST, max = LARGEST } = parameter;
      return value >= min && value <= max ? undefined : `${value} is not within ${min} and ${max}`;
    }
  }
}

/** Throws `invalid_parameter` unless `overrides` is an object. */
export function checkOverrides(overrides: unknown): void {
  if (!isPlain(overrides))
    throw new SalienceError('invalid_parameter', 'parameters are an object of names and values');
}

/**
 * Flattens groups of parameters to dotted names. If a name is set in both forms, the later value wins; with `twice`,
 * that function makes an error if the values differ.
 */
export function flatten(
  overrides: ParameterOverrides,
  twice?: (name: string) => SalienceError,
): Record<string, ParameterValue> {
  checkOverrides(overrides);
  const flat: Record<string, ParameterValue> = emptyRecord();
  const put = (name: string, value: ParameterValue | undefined) => {
    if (value === undefined) return;
    if (twice && Object.hasOwn(flat, name) && flat[name] !== value) throw twice(name);
    flat[name] = value;
  };
  for (const [name, value] of Object.entries(overrides)) {
    if (isPlain(value)) {
      for (const [inner, innerValue] of Object.entries(value)) put(`${name}.${inner}`, innerValue);
    } else {
      put(name, value);
    }
  }
  return flat;
}

/** Creates a record without a prototype, in which `__proto__` is a name like any other. */
function emptyRecord<Value>(from: { readonly [name: string]: Value } = {}): Record<string, Value> {
  return Object.assign(Object.create(null) as Record<string, Value>, from);
}

/** JSON with sorted keys: equal data gives equal text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

import { SalienceError } from '../../domain/errors.ts';
import { deepFreeze } from '../../domain/frozen.ts';
import { unknown } from '../../domain/options.ts';
import { checkProfile, type Profile, type ProfileDefinition } from '../profile.ts';
import { ambient } from './ambient.ts';
import { balanced } from './balanced.ts';
import { codingAgent, news, personalAssistant, researchNotes, supportDesk } from './balanced-presets.ts';
import { bm25, vector } from './baselines.ts';
import { fiveFactor } from './five-factor.ts';
import { hybrid } from './hybrid.ts';
import { lexical } from './lexical.ts';
import { retention } from './retention.ts';
import { scoped } from './scoped.ts';

const definitions = {
  lexical,
  ambient,
  retention,
  balanced,
  'personal-assistant': personalAssistant,
  'support-desk': supportDesk,
  'coding-agent': codingAgent,
  'research-notes': researchNotes,
  news,
  'five-factor': fiveFactor,
  scoped,
  hybrid,
  bm25,
  vector,
} as const satisfies Record<string, ProfileDefinition>;

export type BuiltinProfileName = keyof typeof definitions;
export const BUILTIN_PROFILE_NAMES = Object.keys(definitions) as readonly BuiltinProfileName[];

const resolved = new Map<string, Profile>();

/** A profile that comes with the engine, or `undefined`. */
export function findBuiltinProfile(name: string): Profile | undefined {
  const known = resolved.get(name);
  if (known || typeof name !== 'string' || !Object.hasOwn(definitions, name)) return known;
  const profile = checkProfile(definitions[name as BuiltinProfileName], findBuiltinProfile);
  resolved.set(name, profile);
  return profile;
}

/**
 * A profile that comes with the engine. Throws `unknown_strategy`, listing what there is.
 *
 * @example
 * ```ts
 * const { description, parameters } = builtinProfile('hybrid');
 * ```
 */
export function builtinProfile(name: string): Profile {
  const profile = findBuiltinProfile(name);
  if (profile) return profile;
  throw new SalienceError('unknown_strategy', unknown('strategy', name, BUILTIN_PROFILE_NAMES), {
    details: { strategy: name },
  });
}

/**
 * The definition of a built-in profile as its author wrote it. It cannot be changed: copy it.
 *
 * @example
 * ```ts
 * const mine = defineProfile({ ...builtinDefinition('balanced'), name: 'mine', description: 'My own copy.' });
 * ```
 */
export function builtinDefinition(name: BuiltinProfileName): ProfileDefinition {
  return deepFreeze(definitions[name]);
}

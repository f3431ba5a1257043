/// <reference lib="esnext.disposable" preserve="true" />

import { texts } from '../domain/check.ts';
import { onlyKeys } from '../domain/options.ts';
import { openSpaces, type SpacesOptions } from '../index.ts';
import { SPACES_OPTIONS } from '../spaces.ts';
import { type MemFunctions, memFunctions } from './facade.ts';

/** Options of `openSpaces`. The `user_id` of each call is the space. */
export interface MemOptions extends SpacesOptions {
  /** Types that `mem_save` accepts besides profile, preference, decision, discovery and pattern. */
  readonly types?: readonly string[] | undefined;
}

export interface Mem extends MemFunctions, AsyncDisposable {
  close(): Promise<void>;
}

/**
 * Opens the observations of many users in one place. A user's space is opened by the first call that names the user,
 * and closed when it is unused and too many others are open. Throws `invalid_argument` for an unknown option, and if
 * `types` is not a list of names.
 *
 * @example
 * ```ts
 * import { openMem } from 'salience/mem';
 * await using mem = openMem({ path: './memory', types: ['bug'] });
 * await mem.mem_save({ user_id: 'alice', type: 'bug', title: 'Login', content: 'Safari loses the session cookie' });
 * ```
 */
export function openMem(given: MemOptions): Mem {
  onlyKeys(given, [...SPACES_OPTIONS, 'types'], 'openMem');
  const { types, ...options } = given;
  if (types !== undefined) texts(types, 'types', Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  const { get, close } = openSpaces(options);
  return { ...memFunctions(get, types), close, [Symbol.asyncDispose]: close };
}

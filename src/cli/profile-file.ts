import { readFile } from 'node:fs/promises';
import { filePath } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import type { ProfileDefinition } from '../scoring/index.ts';
import { findBuiltinProfile } from '../scoring/profiles/index.ts';

/** Returns the file with the user's own formula: that of `--profile`, or a `--strategy` that is a file. */
export function profileFile(options: {
  readonly strategy?: string | undefined;
  readonly profile?: string | undefined;
}): string | undefined {
  return options.profile ?? (isProfileFile(options.strategy) ? options.strategy : undefined);
}

/** Whether a strategy is a path: the name of a formula has no dot and no slash. */
export function isProfileFile(strategy: string | undefined): boolean {
  return strategy !== undefined && /[./\\]/.test(strategy);
}

/** Returns advice if a missing file has the name of a built-in formula. */
function adviceOnBuiltin(path: string): string | undefined {
  const name = path.replace(/\.json$/i, '');
  if (!findBuiltinProfile(name)) return undefined;
  return name === path
    ? `a file is expected here; for the built-in formula of that name give --strategy ${name}`
    : `the name of the built-in formula is ${name}, without .json`;
}

/**
 * Reads a profile from a JSON file without checking it. Throws `invalid_argument` for an empty path, `unreadable_file`,
 * `invalid_profile`.
 */
export async function readDefinition(path: string): Promise<ProfileDefinition> {
  let json: string;
  filePath(path, 'profile');
  try {
    json = await readFile(path, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const builtin = code === 'ENOENT' ? adviceOnBuiltin(path) : undefined;
    throw new SalienceError(
      'unreadable_file',
      `${path} cannot be read (${message}); ${builtin ?? 'check that it exists and that you may read it'}`,
      { details: { file: path }, cause },
    );
  }
  try {
    return JSON.parse(json.replace(/^\uFEFF/, '')) as ProfileDefinition;
  } catch (cause) {
    throw new SalienceError('invalid_profile', `${path} is not valid JSON: ${(cause as Error).message}`, {
      details: { file: path },
      cause,
    });
  }
}

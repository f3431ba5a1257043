import { SalienceError } from '../domain/errors.ts';

/** The error of a profile that cannot be used, naming the place in it. */
export function invalidProfile(profile: string, path: string, problem: string): SalienceError {
  return new SalienceError('invalid_profile', `profile ${JSON.stringify(profile)}, at ${path}: ${problem}`, {
    details: { profile, path },
  });
}

/** Returns the error for a profile whose name is already that of a built-in strategy. */
export function takenName(name: string): SalienceError {
  return new SalienceError(
    'invalid_profile',
    `there is a strategy ${JSON.stringify(name)} already: give the profile another name`,
  );
}

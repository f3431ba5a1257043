import { describe } from './describe.ts';
import { SalienceError } from './errors.ts';

/**
 * Checks a space's name: 1–200 characters, no control characters, no empty, `.` or `..` part between slashes.
 * Returns it unchanged. Throws `invalid_space_name`.
 */
export function parseSpaceName(name: string): string {
  const valid =
    typeof name === 'string' &&
    name.length >= 1 &&
    name.length <= 200 &&
    name.isWellFormed() &&
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    !/[\u0000-\u001f\u007f-\u009f]/.test(name) &&
    name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (valid) return name;
  throw new SalienceError(
    'invalid_space_name',
    `space ${describe(name)} is not a valid name: use 1–200 characters, no control characters, and no empty, "." or ".." part between slashes, for example "alice" or "acme/alice"`,
    { details: { space: name } },
  );
}

/**
 * The name of this package on npm, to be set with its first release. Until then a package of that name could be
 * somebody else's, and nothing may tell a machine to fetch and run it.
 */
const NAME_ON_NPM: string | undefined = undefined;

/** Returns the arguments with which npx starts exactly `version`; `undefined` while the package is not published. */
export function npxArguments(
  version: string,
  name: string | undefined = NAME_ON_NPM,
): readonly string[] | undefined {
  return name === undefined ? undefined : ['-y', `${name}@${version}`];
}

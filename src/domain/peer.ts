import { SalienceError } from './errors.ts';

/** Loads packages that are installed only where they are wanted. Throws `unsupported`, naming what to install. */
export async function loadPeer<Module>(
  load: () => Promise<Module>,
  packages: readonly [string, ...string[]],
  subpath: string,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    // `import` and `require` have codes of their own. Something else may be missing inside of a package.
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    const missing = isMissing ? packages.find((name) => message.includes(`'${name}'`)) : undefined;
    if (missing === undefined) throw withoutNativeCode(cause, packages, subpath) ?? cause;
    throw new SalienceError(
      'unsupported',
      `${subpath} needs the package ${missing}, which is not installed: npm install ${packages.join(' ')}`,
      { details: { package: missing }, cause },
    );
  }
}

/** What the system has against the native code of a package, which is no fault of anybody's program. */
function withoutNativeCode(
  cause: unknown,
  packages: readonly string[],
  subpath: string,
): SalienceError | undefined {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'ERR_DLOPEN_DISABLED') {
    return new SalienceError(
      'unsupported',
      `${subpath} needs native code, which may not be loaded under --permission of Node.js; allow it with --allow-addons`,
      { cause },
    );
  }
  // The second is what node-gyp-build says of a platform that a package has nothing for.
  if (code !== 'ERR_DLOPEN_FAILED' && !/^No native build was found/.test(message)) return undefined;
  return new SalienceError(
    'unsupported',
    `${subpath} needs the native code of ${packages.join(' or ')}, which cannot be loaded on this system (${message.split('\n', 1)[0]}); install it here anew: npm install ${packages.join(' ')}`,
    { cause },
  );
}

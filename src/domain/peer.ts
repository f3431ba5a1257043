import { SalienceError } from './errors.ts';

/** Loads optional packages. Throws `unsupported`, with the command that installs them, if one is missing. */
export async function loadPeer<Module>(
  load: () => Promise<Module>,
  packages: readonly [string, ...string[]],
  subpath: string,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    // `import` and `require` use different codes. The missing module may also be another one, inside a package.
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

/** The error if the system cannot load the native code of a package; `undefined` for any other cause. */
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
  // The message is that of node-gyp-build for a platform without a prebuilt binary.
  if (code !== 'ERR_DLOPEN_FAILED' && !/^No native build was found/.test(message)) return undefined;
  return new SalienceError(
    'unsupported',
    `${subpath} needs the native code of ${packages.join(' or ')}, which cannot be loaded on this system (${message.split('\n', 1)[0]}); install it here anew: npm install ${packages.join(' ')}`,
    { cause },
  );
}

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
    if (missing === undefined) throw cause;
    throw new SalienceError(
      'unsupported',
      `${subpath} needs the package ${missing}, which is not installed: npm install ${packages.join(' ')}`,
      { details: { package: missing }, cause },
    );
  }
}

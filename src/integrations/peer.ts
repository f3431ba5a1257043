import { SalienceError } from '../domain/errors.ts';

/** Loads a package that is installed only where it is wanted. Throws `unsupported`, naming what to install. */
export async function loadPeer<Module>(
  load: () => Promise<Module>,
  name: string,
  subpath: string,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    // Something else may be missing inside of it.
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${name}'`)) throw cause;
    throw new SalienceError(
      'unsupported',
      `${subpath} needs the package ${name}, which is not installed: npm install ${name}`,
      { details: { package: name }, cause },
    );
  }
}

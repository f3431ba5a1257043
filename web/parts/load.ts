import { serverBack } from '../api.ts';

/** The key in the tab's storage, before a part's name, that says the page was reloaded because that part was missing. */
const RELOADED = 'salience-inspector-reloaded-';

/**
 * Loads a module of the page. If the server is unreachable, waits until it is back. If a newer server no longer has the
 * file, reloads the page, once for each part: others may load, and the reloading must still end.
 */
export async function loadPart<Part>(name: string, load: () => Promise<Part>): Promise<Part> {
  const reloaded = RELOADED + name;
  const part = await load().catch(async () => {
    await serverBack();
    return load().catch((error: unknown) => {
      if (sessionStorage.getItem(reloaded) === null) {
        sessionStorage.setItem(reloaded, 'yes');
        location.reload();
      }
      throw new Error(
        'This part of the page could not be loaded. If it fails again, see whether a proxy or an extension of the browser blocks it.',
        { cause: error },
      );
    });
  });
  sessionStorage.removeItem(reloaded);
  return part;
}

import { serverBack } from '../api.ts';

/** The key in the tab's storage that says the page was reloaded because a module was missing. */
const RELOADED = 'salience-inspector-reloaded';

/**
 * Loads a module of the page. If the server is unreachable, waits until it is back. If a newer server no longer has the
 * file, reloads the page once.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  const part = await load().catch(async () => {
    await serverBack();
    return load().catch((error: unknown) => {
      if (sessionStorage.getItem(RELOADED) === null) {
        sessionStorage.setItem(RELOADED, 'yes');
        location.reload();
      }
      throw error;
    });
  });
  sessionStorage.removeItem(RELOADED);
  return part;
}

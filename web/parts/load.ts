import { serverBack } from '../api.ts';

/** In the storage of the tab, while the page was loaded anew for a part of it. */
const RELOADED = 'salience-inspector-reloaded';

/**
 * Loads a part of the page. One that does not come while the server is gone comes when it is back; and where a newer server
 * has other files, the page is loaded anew, once.
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

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfAborted } from '../domain/errors.ts';
import { unreadablePath } from './lines.ts';

/** Folders with generated files. Folders whose name starts with a dot are ignored too. */
const IGNORED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', 'dist']);

export interface WalkOptions {
  /** The extensions to find, in lower case with the dot, for example `['.md']`. The case of file names is ignored. */
  readonly extensions: readonly string[];
  readonly signal?: AbortSignal | undefined;
  /** Called for each symbolic link to a folder, or with a wanted name, that is not followed. */
  readonly onLink?: ((path: string) => void) | undefined;
}

/**
 * Lists the files below `directory` as relative paths with `/`, in code-unit order. Ignores `node_modules`, `dist` and
 * folders whose name starts with a dot. Does not follow symbolic links, so that it reads nothing outside the folder and
 * lists no file twice. Throws `unreadable_file`, `aborted`.
 */
export async function walkFiles(directory: string, options: WalkOptions): Promise<readonly string[]> {
  const found: string[] = [];
  const isWanted = (name: string) =>
    options.extensions.some((extension) => name.toLowerCase().endsWith(extension));
  const isLeftOut = (name: string) => name.startsWith('.') || IGNORED_FOLDERS.has(name);
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    throwIfAborted(options.signal);
    for (const entry of await listFolder(join(directory, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!isLeftOut(entry.name)) folders.push(path);
      } else if (entry.isFile()) {
        if (isWanted(entry.name)) found.push(path);
      } else if (options.onLink && entry.isSymbolicLink()) {
        const isFolder = await leadsToFolder(join(directory, path));
        if (isFolder ? !isLeftOut(entry.name) : isWanted(entry.name)) options.onLink(path);
      }
    }
  }
  return found.sort();
}

async function leadsToFolder(link: string): Promise<boolean> {
  try {
    return (await stat(link)).isDirectory();
  } catch {
    return false;
  }
}

async function listFolder(path: string) {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (cause) {
    throw unreadablePath(path, cause);
  }
}

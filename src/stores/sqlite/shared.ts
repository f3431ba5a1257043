import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SalienceError } from '../../domain/errors.ts';
import { giveName, replaceFile } from '../../domain/give-name.ts';
import { makeDirectory } from '../../domain/make-directory.ts';
import { waitForNames } from '../../domain/wait-for-disk.ts';
import type { SharedTexts } from '../../store/store.ts';
import { translateFileError } from './faults.ts';

/** See `Store.shared`: a file each, in `shared/KIND/` beside the spaces, for all processes of the machine. */
export function sharedFiles(root: string): SharedTexts {
  const folderOf = (kind: string) => join(root, 'shared', kind);
  // An id may be too long for a file name, or not be a valid one.
  const fileOf = (kind: string, id: string) =>
    join(folderOf(kind), `${createHash('sha256').update(id).digest('hex')}.json`);
  const read = async (file: string): Promise<Stored | undefined> => {
    const json = await readFile(file, 'utf8').catch(unlessMissing(file));
    return json === undefined ? undefined : storedIn(json, file);
  };
  /** Writes a text atomically: nobody reads half of it. */
  const write = async (kind: string, id: string, text: string, publish: typeof giveName) => {
    const file = fileOf(kind, id);
    const whole = `${file}.${randomBytes(8).toString('hex')}`;
    const failed = (error: unknown) => {
      throw translateFileError(error, file);
    };
    try {
      makeDirectory(folderOf(kind));
    } catch (error) {
      failed(error);
    }
    try {
      // Sync before the file gets its name: otherwise a power cut could leave an empty file of that name.
      await writeFile(whole, JSON.stringify({ id, text } satisfies Stored), {
        mode: 0o600,
        flush: true,
      }).catch(failed);
      await publish(whole, file).catch((error) => {
        if (error.code === 'EEXIST') throw alreadyThere(kind, id);
        failed(error);
      });
    } finally {
      await rm(whole, { force: true }).catch(failed);
    }
  };
  return {
    get: async (kind, id) => (await read(fileOf(kind, id)))?.text,
    // Gives the complete file a second name, so that of two concurrent calls one fails.
    add: (kind, id, text) => write(kind, id, text, giveName),
    put: (kind, id, text) => write(kind, id, text, replaceFile),
    async remove(kind, id) {
      const file = fileOf(kind, id);
      const removed = await rm(file).then(() => true, unlessMissing(file));
      if (removed) await waitForNames(folderOf(kind));
      return removed ?? false;
    },
    async ids(kind) {
      const folder = folderOf(kind);
      const files = (await readdir(folder).catch(unlessMissing(folder))) ?? [];
      const stored = await Promise.all(
        files
          .filter((file) => file.endsWith('.json'))
          // Skips damaged files here; `get` reports them.
          .map((file) => read(join(folder, file)).catch(unlessDamaged)),
      );
      return stored.flatMap((each) => (each ? [each.id] : []));
    },
  };
}

/** The same for a store in memory, which no other process sees. */
export function sharedInMemory(): SharedTexts {
  const kinds = new Map<string, Map<string, string>>();
  const textsOf = (kind: string) => {
    const texts = kinds.get(kind) ?? new Map<string, string>();
    kinds.set(kind, texts);
    return texts;
  };
  return {
    get: async (kind, id) => textsOf(kind).get(id),
    async add(kind, id, text) {
      if (textsOf(kind).has(id)) throw alreadyThere(kind, id);
      textsOf(kind).set(id, text);
    },
    async put(kind, id, text) {
      textsOf(kind).set(id, text);
    },
    remove: async (kind, id) => textsOf(kind).delete(id),
    ids: async (kind) => [...textsOf(kind).keys()],
  };
}

interface Stored {
  readonly id: string;
  readonly text: string;
}

function alreadyThere(kind: string, id: string): SalienceError {
  return new SalienceError('already_exists', `${kind} ${JSON.stringify(id)} exists already; use another id`);
}

function storedIn(json: string, file: string): Stored {
  try {
    const { id, text } = JSON.parse(json) as Stored;
    if (typeof id === 'string' && typeof text === 'string') return { id, text };
  } catch {}
  throw new SalienceError('store_corrupt', `${file} is damaged; delete it, and make what it held anew`, {
    details: { path: file },
  });
}

function unlessMissing(path: string): (error: unknown) => undefined {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw translateFileError(error, path);
    return undefined;
  };
}

function unlessDamaged(error: unknown): undefined {
  if (!SalienceError.isInstance(error) || error.code !== 'store_corrupt') throw error;
  return undefined;
}

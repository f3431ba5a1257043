import { createHash, randomBytes } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SalienceError } from '../../domain/errors.ts';
import type { SharedTexts } from '../../store/store.ts';

/** See `Store.shared`: a file each, in `shared/KIND/` beside the spaces, for all processes of the machine. */
export function sharedFiles(root: string): SharedTexts {
  const folderOf = (kind: string) => join(root, 'shared', kind);
  // An id may be longer than a file's name, or no name at all.
  const fileOf = (kind: string, id: string) =>
    join(folderOf(kind), `${createHash('sha256').update(id).digest('hex')}.json`);
  const read = async (file: string): Promise<Stored | undefined> => {
    const json = await readFile(file, 'utf8').catch(unlessMissing);
    return json === undefined ? undefined : (JSON.parse(json) as Stored);
  };
  /** Nobody reads half of it. */
  const write = async (kind: string, id: string, text: string, publish: typeof link) => {
    const file = fileOf(kind, id);
    const whole = `${file}.${randomBytes(8).toString('hex')}`;
    await mkdir(folderOf(kind), { recursive: true });
    try {
      await writeFile(whole, JSON.stringify({ id, text } satisfies Stored), { mode: 0o600 });
      await publish(whole, file);
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? alreadyThere(kind, id) : error;
    } finally {
      await rm(whole, { force: true });
    }
  };
  return {
    get: async (kind, id) => (await read(fileOf(kind, id)))?.text,
    // A second name for what is whole already: of two that add at once one fails.
    add: (kind, id, text) => write(kind, id, text, link),
    put: (kind, id, text) => write(kind, id, text, rename),
    async remove(kind, id) {
      const removed = await rm(fileOf(kind, id)).then(() => true, unlessMissing);
      return removed ?? false;
    },
    async ids(kind) {
      const files = (await readdir(folderOf(kind)).catch(unlessMissing)) ?? [];
      const stored = await Promise.all(
        files.filter((file) => file.endsWith('.json')).map((file) => read(join(folderOf(kind), file))),
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

function unlessMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  return undefined;
}

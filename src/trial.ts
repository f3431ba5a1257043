import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeLeftBehind, temporaryPrefix } from './domain/left-behind.ts';
import { type OpenOptions, openMemory } from './open.ts';
import type { EmbedderChoice } from './providers/choose.ts';
import { copySpace } from './store/copy-space.ts';
import type { Store } from './store/store.ts';
import { fileNameOf } from './stores/sqlite/files.ts';

const TRYING = 'salience-trying-';

type Opening = Omit<OpenOptions, 'space'>;

export interface TrialOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after each page of a space that is copied from a database, with the rows done and their approximate total. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** Copies of spaces in a temporary directory. Disposing it deletes them. */
export interface Trial extends AsyncDisposable {
  /** How to open the copies. No text is sent to an embedding server or a language model. */
  readonly opening: Opening;
}

/**
 * Copies those of `spaces` that exist, so that a write can be tried: it does to the copies exactly what it would do to the
 * spaces themselves. Opening one that does not exist creates an empty one, as a write would.
 */
export async function copyForTrial(
  { path = '', store, embedder, languageModel: _, ...rest }: Opening,
  spaces: readonly string[],
  options: TrialOptions = {},
): Promise<Trial> {
  removeLeftBehind(tmpdir(), TRYING);
  const directory = await mkdtemp(join(tmpdir(), temporaryPrefix(TRYING)));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    await (store ? copyRows(store, directory, spaces, options) : copyFiles(path, directory, spaces, options));
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    opening: { ...rest, path: directory, embedder: withoutServer(embedder) },
    [Symbol.asyncDispose]: remove,
  };
}

/** Copies whole files, which takes a small part of the time that it takes to copy each row and to compare checksums. */
async function copyFiles(
  path: string,
  directory: string,
  spaces: readonly string[],
  { signal }: TrialOptions,
): Promise<void> {
  for (const space of spaces) {
    const name = fileNameOf(space);
    if (!existsSync(join(path, name))) continue;
    await using memory = await openMemory({ path, space, readOnly: true, embedder: 'none' });
    await memory.backup(join(directory, name), { signal });
  }
}

async function copyRows(
  from: Store,
  directory: string,
  spaces: readonly string[],
  { signal, progress = () => undefined }: TrialOptions,
): Promise<void> {
  const there = new Set(await from.listSpaces());
  const { createSqliteStore } = await loadSqlite();
  await using to = createSqliteStore({ directory });
  for (const space of spaces.filter((each) => there.has(each))) {
    await using source = await from.copying!.from(space);
    await using target = await to.copying!.into(space);
    await copySpace(source, target, { signal, progress });
  }
}

// A separate function, because the compiler does not rewrite the file extension of an import in a function with `using`.
const loadSqlite = () => import('./stores/sqlite/index.ts');

/** Returns an embedder of the same model that knows nothing: no outcome depends on vectors, and a server's may cost money. */
function withoutServer(embedder: EmbedderChoice | undefined): EmbedderChoice | undefined {
  if (embedder === undefined || typeof embedder === 'string') return embedder;
  return { ...embedder, embed: async (texts) => texts.map(() => undefined) };
}

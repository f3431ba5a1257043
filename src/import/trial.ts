import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeLeftBehind, temporaryPrefix } from '../domain/left-behind.ts';
import { copySpaces, type EmbedderChoice, type OpenOptions } from '../index.ts';

const TRYING = 'salience-trying-';

export interface TrialOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after each page with the rows of a space that were copied, and their approximate total. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** Copies of spaces in a temporary directory. Disposing it deletes them. */
export interface Trial extends AsyncDisposable {
  /** How to open the copies. No text is sent to an embedding server or a language model. */
  readonly opening: Omit<OpenOptions, 'space'>;
}

/**
 * Copies `spaces` of the store in `opening`, so that an import can be tried: into the copies it does exactly what it would do
 * to the spaces themselves. Opening a space that is not among them creates an empty one, as an import would.
 */
export async function copyForTrial(
  { path, store, embedder, languageModel: _, ...rest }: Omit<OpenOptions, 'space'>,
  spaces: readonly string[],
  { signal, progress }: TrialOptions = {},
): Promise<Trial> {
  removeLeftBehind(tmpdir(), TRYING);
  const directory = await mkdtemp(join(tmpdir(), temporaryPrefix(TRYING)));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    if (spaces.length > 0) {
      await copySpaces({
        from: store ?? path!,
        to: directory,
        spaces,
        signal,
        progress: (_, done, total) => progress?.(done, total),
      });
    }
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    opening: { ...rest, path: directory, embedder: withoutServer(embedder) },
    [Symbol.asyncDispose]: remove,
  };
}

/** Returns an embedder of the same model that knows nothing: no outcome depends on vectors, and a server's may cost money. */
function withoutServer(embedder: EmbedderChoice | undefined): EmbedderChoice | undefined {
  if (embedder === undefined || typeof embedder === 'string') return embedder;
  return { ...embedder, embed: async (texts) => texts.map(() => undefined) };
}

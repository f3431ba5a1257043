import { existsSync, lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { invalidArgument } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import {
  type EmbedderChoice,
  type MemoryEngine,
  type OpenOptions,
  openAiCompatibleEmbedder,
  openAiCompatibleModel,
  openMemory,
} from '../index.ts';
import type { Store } from '../store/store.ts';
import { fileNameOf, isSameDirectory } from '../stores/sqlite/files.ts';
import type { Context } from './context.ts';
import type { CommonOptions } from './options.ts';

const HERE = '.salience';
const OPENAI = 'https://api.openai.com/v1';

/**
 * Returns the directory of the store: `path`, else `./.salience` if it exists, else `~/.salience`. A broken link counts
 * as existing, so that memories do not go elsewhere when a disk is missing.
 */
export function storePath({ path }: Pick<CommonOptions, 'path'>): string {
  if (path !== undefined) return path;
  try {
    return lstatSync(HERE, { throwIfNoEntry: false }) ? HERE : join(homedir(), HERE);
  } catch (cause) {
    throw new SalienceError(
      'store_failed',
      `the working directory cannot be searched for ${HERE} (${(cause as Error).message}); change to another one, or name the store with --path`,
      { details: { path: HERE }, cause },
    );
  }
}

/**
 * Opens the shared store of SALIENCE_STORE or SALIENCE_STORE_FILE; `undefined` if memories are in files. Throws
 * `invalid_argument` for a URL on the command line, which every user of the machine can read.
 */
export async function sharedStore({ path }: Pick<CommonOptions, 'path'>): Promise<Store | undefined> {
  if (path !== undefined && isUrl(path)) {
    throw new SalienceError(
      'invalid_argument',
      '--path: a URL may hold a password, and others can read a command line; put it into the variable SALIENCE_STORE, or into a file that SALIENCE_STORE_FILE names',
      { details: { field: 'path' } },
    );
  }
  const url = await storeUrl();
  if (url === undefined) return undefined;
  if (path !== undefined && path !== '') {
    throw new SalienceError(
      'invalid_argument',
      '--path and SALIENCE_STORE name two stores: leave one of them out (SALIENCE_PATH counts as --path)',
      { details: { field: 'path' } },
    );
  }
  return openPostgres(url);
}

async function openPostgres(url: string): Promise<Store> {
  const { postgres } = await import('../stores/postgres/index.ts');
  return postgres(url, schemaOption());
}

/** Returns the schema of SALIENCE_STORE_SCHEMA as an option. */
export function schemaOption(): { readonly schema?: string } {
  const schema = process.env['SALIENCE_STORE_SCHEMA'];
  return schema === undefined || schema === '' ? {} : { schema };
}

/**
 * Opens the store that an option names: a directory, a URL without a password, or `env:NAME`, a variable that holds
 * either. Throws `invalid_argument`.
 */
export async function storeAt(given: string, option: string): Promise<Store> {
  const place = placeGiven(given, option);
  return isUrl(place) ? openPostgres(place) : openSqlite(place);
}

/** Whether two options name the same store, as far as their values tell. */
export function isSameStore(from: string, to: string): boolean {
  const [one, other] = [placeGiven(from, '--from'), placeGiven(to, '--to')];
  return isUrl(one) || isUrl(other) ? one === other : isSameDirectory(one, other);
}

/** Returns the URL of `--url`, else that of the environment. Throws `invalid_argument`. */
export async function urlGiven(given: string | undefined): Promise<string> {
  const url = given === undefined ? await storeUrl() : placeGiven(given, '--url');
  if (url !== undefined) return url;
  throw invalidArgument(
    '--url',
    'no database is named: give the URL of a PostgreSQL database, or set SALIENCE_STORE',
  );
}

/**
 * Returns the value of an option, or of the variable that it names. Throws `invalid_argument` for a URL with a
 * password.
 */
function placeGiven(given: string, option: string): string {
  const [, variable] = /^env:(.+)$/.exec(given) ?? [];
  if (variable !== undefined) {
    const value = process.env[variable];
    if (value !== undefined && value.trim() !== '') return value;
    throw invalidArgument(option, `the variable ${variable} is not set`);
  }
  if (isUrl(given) && hasPassword(given)) {
    throw invalidArgument(
      option,
      'a URL here may hold no password, since others can read a command line; put it into a variable and name that: env:SALIENCE_STORE',
    );
  }
  if (given.trim() === '')
    throw invalidArgument(option, 'it must not be empty: name a directory, or a database');
  return given;
}

function isUrl(place: string): boolean {
  return /^postgres(ql)?:/i.test(place);
}

function hasPassword(url: string): boolean {
  try {
    const { password, searchParams } = new URL(url);
    return password !== '' || searchParams.has('password');
  } catch {
    // A URL that cannot be parsed is never used.
    return false;
  }
}

async function storeUrl(): Promise<string | undefined> {
  const { SALIENCE_STORE: url, SALIENCE_STORE_FILE: file } = process.env;
  if (url !== undefined && url !== '') return url;
  if (file === undefined || file === '') return undefined;
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new SalienceError(
      'unreadable_file',
      `SALIENCE_STORE_FILE: ${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`,
      { details: { file }, cause },
    );
  }
}

/** Names the store for people. A URL is not shown, because it may contain a password. */
export function placeOf(options: Pick<CommonOptions, 'path'>): string {
  return isShared() ? 'the store of SALIENCE_STORE' : storePath(options);
}

/** Whether the environment names a shared store. */
export function isShared(): boolean {
  return Boolean(process.env['SALIENCE_STORE'] || process.env['SALIENCE_STORE_FILE']);
}

/** Opens the store that the common options name. */
export async function storeOf(options: Pick<CommonOptions, 'path'>): Promise<Store> {
  return (await sharedStore(options)) ?? openSqlite(storePath(options));
}

async function openSqlite(directory: string): Promise<Store> {
  const { createSqliteStore } = await import('../stores/sqlite/index.ts');
  return createSqliteStore({ directory });
}

/** Opens the space that the common options name. */
export async function open(
  context: Pick<Context, 'options' | 'now' | 'signal'>,
  extra: Pick<OpenOptions, 'readOnly' | 'profiles' | 'reindex' | 'language'> = {},
): Promise<MemoryEngine> {
  const { options } = context;
  try {
    return await openMemory({ ...(await openingOf(context)), space: options.space, ...extra });
  } catch (error) {
    if (!SalienceError.isInstance(error) || error.code !== 'not_found') throw error;
    // The likeliest reason is a wrong directory.
    const { message, details } = error;
    throw new SalienceError('not_found', `${message}; looked in ${placeOf(options)}`, {
      details,
      cause: error,
    });
  }
}

/**
 * Opens a space for a command that only reads, without creating a store. A file with an older schema is migrated first,
 * as the next write would do.
 */
export async function openToRead(
  context: Pick<Context, 'options' | 'now' | 'signal'>,
  extra: Pick<OpenOptions, 'profiles'> = {},
): Promise<MemoryEngine> {
  const read = () => open(context, { ...extra, readOnly: true });
  return read().catch(async (error: unknown) => {
    if (!SalienceError.isInstance(error) || error.details['version'] === undefined) throw error;
    if (error.code !== 'store_read_only') throw error;
    const { space } = context.options;
    const writing = await openMemory({ ...(await openingOf(context)), space, embedder: 'none' });
    await writing.close();
    return read();
  });
}

/** Returns how to open spaces by the common options. */
export async function openingOf(
  context: Pick<Context, 'options' | 'now' | 'signal'>,
): Promise<Omit<OpenOptions, 'space'>> {
  const { options, now } = context;
  const store = await sharedStore(options);
  return {
    ...(store ? { store } : { path: storePath(options) }),
    embedder: await embedderOf(context),
    languageModel: languageModelOf(options),
    ...(options.now === undefined ? {} : { clock: () => now }),
  };
}

/** Opens a space for a command that may write but must not create one, so that a misspelt name is an error. */
export async function openExisting(
  context: Pick<Context, 'options' | 'now' | 'signal'>,
  extra: Pick<OpenOptions, 'profiles'> = {},
): Promise<MemoryEngine> {
  const { options } = context;
  const exists = await isThere(options);
  // Opening a missing space for reading throws the error that lists the existing ones.
  return open(context, { ...extra, readOnly: !exists });
}

/** Whether the space exists. */
export async function isThere(options: Pick<CommonOptions, 'path' | 'space'>): Promise<boolean> {
  const store = await sharedStore(options);
  if (!store) return existsSync(join(storePath(options), fileNameOf(options.space)));
  try {
    return (await store.listSpaces()).includes(options.space);
  } finally {
    await store.close();
  }
}

/** Opens a space for a question whose use may be recorded. If the space cannot be written, nothing is recorded. */
export async function openToAsk(
  context: Pick<Context, 'options' | 'now' | 'signal'>,
  extra: Pick<OpenOptions, 'profiles'> & { readonly learns: boolean; readonly track: boolean },
): Promise<MemoryEngine> {
  const { learns, track, ...rest } = extra;
  const read = () => openToRead(context, rest);
  if (!learns) {
    const reading = await read();
    // The settings of the space decide whether the recall is recorded.
    if (!track || (await reading.configure()).recordRecalls === 'off') return reading;
    await reading.close();
  }
  return openExisting(context, rest).catch((error: unknown) => {
    if (SalienceError.isInstance(error) && error.code === 'store_read_only') return read();
    throw error;
  });
}

/** Creates the language model that the common options name. */
function languageModelOf({ model, modelUrl }: CommonOptions): OpenOptions['languageModel'] {
  if (model === undefined || model === '') return undefined;
  return openAiCompatibleModel({ baseUrl: modelUrl ?? OPENAI, model });
}

/** Creates the embedder that the common options name. Throws `unknown_embedder`, `embedder_failed`, `unsupported`. */
export async function embedderOf({
  options,
  signal,
}: Pick<Context, 'options' | 'signal'>): Promise<EmbedderChoice> {
  const { embedder, baseUrl } = options;
  if (embedder === 'builtin' || embedder === 'none') return embedder;
  if (embedder === 'use-lite') {
    const { useLite } = await import('../providers/use-lite.ts');
    return useLite();
  }
  const [, model, dimensions] = /^openai:(.+?)(?::(\d+))?$/s.exec(embedder) ?? [];
  if (model === undefined) {
    throw new SalienceError(
      'unknown_embedder',
      `unknown embedder ${JSON.stringify(embedder)}: use builtin, use-lite, none, or openai:MODEL with --base-url`,
      { details: { embedder } },
    );
  }
  const server = {
    baseUrl: baseUrl ?? OPENAI,
    model,
    // SALIENCE_EMBEDDER_KEY comes first. Otherwise the host decides, so that OpenAI's key never goes to another server.
    ...(process.env['SALIENCE_EMBEDDER_KEY'] ? { apiKeyEnv: 'SALIENCE_EMBEDDER_KEY' } : {}),
  };
  return openAiCompatibleEmbedder({
    ...server,
    dimensions: dimensions === undefined ? await askDimensions(server, signal) : Number(dimensions),
  });
}

/** Finds the length of a model's vectors: the server's answer to a wrong length causes an error that contains it. */
async function askDimensions(
  server: { readonly baseUrl: string; readonly model: string },
  signal: AbortSignal,
): Promise<number> {
  try {
    await openAiCompatibleEmbedder({ ...server, dimensions: 1 }).embed(['dimensions'], { signal });
    return 1;
  } catch (error) {
    const found = SalienceError.isInstance(error) ? error.details['received'] : undefined;
    if (typeof found === 'number') return found;
    throw error;
  }
}

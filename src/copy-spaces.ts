import { callback, invalidArgument, listOf, text } from './domain/check.ts';
import { ABORTED, SalienceError } from './domain/errors.ts';
import { keysOf, onlyKeys } from './domain/options.ts';
import { parseSpaceName } from './domain/space.ts';
import { onBehalf } from './store/cancelling.ts';
import { type CopyReport, copySpace } from './store/copy-space.ts';
import type { StoreCopying } from './store/copying.ts';
import type { Store } from './store/store.ts';
import { isSameDirectory } from './stores/sqlite/files.ts';

export interface CopySpacesOptions {
  /** The source: the directory of a file store, or a store such as `postgres(url)`. */
  readonly from: string | Store;
  /** The destination: a directory, or a store. */
  readonly to: string | Store;
  /** Default is every space of `from`. */
  readonly spaces?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called after each page with the rows of the space that were read, and their approximate total. */
  progress?(space: string, done: number, total: number): void;
  /** Called after each space that is complete. If a later one fails, these stay copied. */
  copied?(copy: SpaceCopy): void;
}

const optionKeys = keysOf<CopySpacesOptions>()({
  from: true,
  to: true,
  spaces: true,
  signal: true,
  progress: true,
  copied: true,
});

/** The copy of one space. */
export interface SpaceCopy extends CopyReport {
  readonly space: string;
}

/**
 * Copies spaces from one store to another with all their content: memories, vectors, the logs of writes and uses, links,
 * votes, sessions, tombstones, recorded recalls. Ids, ordinals, sequences and instants do not change, so that the copy
 * answers, looks back and undoes exactly as the original does. The spaces may be in use; each copy has the content of one
 * moment near the end. A space can be opened in `to` once it is complete. An interrupted copy keeps its rows, and the next
 * call resumes it; the error says where they are. Of several spaces, those before it stay copied: the error names the
 * others, also in `details.left`, to copy as `spaces`.
 *
 * @throws `not_found`. `already_exists`: `to` has a space of that name; of several spaces, none was copied.
 * `store_corrupt`: a space is damaged, or `from` has a file that cannot be read and no spaces are named. `store_busy`: writers
 * never paused, or another copy is in progress. `aborted`, `invalid_argument`, and the codes that begin with `store_`.
 * @example
 * ```ts
 * import { copySpaces } from 'salience';
 * const [copy] = await copySpaces({ from: './memory', to: './memory-copy', spaces: ['alice'] });
 * console.log(copy?.rows.memory, copy?.checksums.memory);
 * ```
 */
export async function copySpaces(options: CopySpacesOptions): Promise<readonly SpaceCopy[]> {
  onlyKeys(options, optionKeys, 'copySpaces');
  const { spaces, progress, copied } = options;
  if (progress !== undefined) callback(progress, 'progress');
  if (copied !== undefined) callback(copied, 'copied');
  for (const space of listOf(spaces ?? [], 'spaces')) parseSpaceName(space);
  await using from = await endOf(options.from, 'from');
  await using to = await endOf(options.to, 'to');
  if (isSameEnd(options.from, options.to) || (await isSameStore(from.copying, to.copying))) {
    throw copiedOntoItself('to');
  }
  const names = [...new Set(spaces ?? (await everySpaceOf(from)))];
  await refuseExisting(names, to.store);
  const copies: SpaceCopy[] = [];
  for (const [at, space] of names.entries()) {
    const copy = await copyOne(from, to, space, options).catch((error: unknown) => {
      throw at === 0 ? error : naming(error, names.slice(at));
    });
    copies.push(copy);
    copied?.(copy);
  }
  return copies;
}

async function copyOne(
  from: End,
  to: End,
  space: string,
  { signal, progress }: CopySpacesOptions,
): Promise<SpaceCopy> {
  await using source = await onBehalf(signal, () => from.copying.from(space));
  await using target = await to.copying.into(space);
  const report = await copySpace(source, target, {
    signal,
    progress: (done, total) => progress?.(space, done, total),
  }).catch((error: unknown) => {
    throw leaving(error, space, target.unfinished());
  });
  return { space, ...report };
}

/**
 * Refuses several spaces before any is copied if some of them exist already, such as those that an interrupted call had
 * completed. For one space, the store itself says so.
 */
async function refuseExisting(names: readonly string[], to: Store): Promise<void> {
  if (names.length < 2) return;
  const there = new Set(await to.listSpaces());
  const existing = names.filter((name) => there.has(name));
  if (existing.length === 0) return;
  const left = names.filter((name) => !there.has(name));
  const advice =
    left.length === 0
      ? 'delete them there first (salience spaces delete), or copy into another store'
      : `to copy only the others, name them: ${namesOf(left)}`;
  throw new SalienceError(
    'already_exists',
    `nothing was copied: the store to copy to has ${namesOf(existing)} already, and a copy overwrites nothing; ${advice}`,
    { details: { spaces: existing, left } },
  );
}

/** Adds to the error of a space after the first which spaces are not copied: they have to be named to continue. */
function naming(error: unknown, left: readonly string[]): unknown {
  if (!SalienceError.isInstance(error)) return error;
  const message = error.message === ABORTED ? 'copying was interrupted' : error.message;
  return new SalienceError(
    error.code,
    `${message}. The spaces before it are complete. Not copied: ${namesOf(left)}`,
    { details: { ...error.details, left }, cause: error.cause },
  );
}

/** Most names in a message. The details have all. */
const NAMED = 10;

function namesOf(spaces: readonly string[]): string {
  const named = spaces.slice(0, NAMED).map((name) => JSON.stringify(name));
  return [...named, ...(spaces.length > NAMED ? [`and ${spaces.length - NAMED} more`] : [])].join(', ');
}

/** Adds to the error of a copy what the copy leaves, with texts that nobody would look for there. */
function leaving(error: unknown, space: string, unfinished: string | undefined): unknown {
  if (!SalienceError.isInstance(error) || error.code === 'already_exists' || unfinished === undefined)
    return error;
  const message =
    error.message === ABORTED ? `the copy of space ${JSON.stringify(space)} was interrupted` : error.message;
  return new SalienceError(error.code, `${message}. ${unfinished}`, {
    details: error.details,
    cause: error.cause,
  });
}

/**
 * The error of a copy of a store onto itself. `already_exists` would be dangerous here: it advises to delete the existing
 * space, which is the only one.
 */
export function copiedOntoItself(field: string): SalienceError {
  return invalidArgument(field, 'this is the store to copy from; name another one');
}

function isSameEnd(from: string | Store, to: string | Store): boolean {
  return typeof from === 'string' && typeof to === 'string' ? isSameDirectory(from, to) : from === to;
}

/** Compares the identity of two stores: two different URLs may lead to the same database. */
async function isSameStore(from: StoreCopying, to: StoreCopying): Promise<boolean> {
  if (!from.identity || !to.identity) return false;
  const [one, other] = await Promise.all([from.identity(), to.identity()]);
  return one !== undefined && one === other;
}

/** Lists all spaces. Throws if some cannot be listed, since an incomplete copy would look complete. */
async function everySpaceOf({ store, copying }: End): Promise<readonly string[]> {
  const unlisted = (await copying.unlisted?.()) ?? [];
  if (unlisted.length === 0) return store.listSpaces();
  throw new SalienceError(
    'store_corrupt',
    `nothing was copied, as not every space can be: ${unlisted.join('; ')}. Or name the spaces to copy`,
    { details: { files: unlisted } },
  );
}

interface End extends AsyncDisposable {
  readonly store: Store;
  readonly copying: StoreCopying;
}

/** Opens one end of the copy. Disposing it closes the store unless the caller passed it in. */
async function endOf(given: string | Store, field: 'from' | 'to'): Promise<End> {
  const store = typeof given === 'string' ? await openFiles(text(given, field)) : given;
  const copying = store?.copying;
  if (!copying) {
    throw invalidArgument(
      field,
      'this store can copy no spaces: expected a directory of files, or a store such as postgres(url)',
    );
  }
  return {
    store,
    copying,
    [Symbol.asyncDispose]: async () => (typeof given === 'string' ? store.close() : undefined),
  };
}

async function openFiles(directory: string): Promise<Store> {
  const { createSqliteStore } = await import('./stores/sqlite/index.ts');
  return createSqliteStore({ directory });
}

import { setImmediate } from 'node:timers/promises';
import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import { UNCHANGED, withoutUnchanged } from '../domain/written.ts';
import type { Memory, MemoryEngine, RememberResult } from '../index.ts';
import type { ImportItem } from './item.ts';
import { idOf, inOrder, knownAs, lastSaid, type Usable } from './known.ts';
import { createImportLinks, type ImportLinks, type LinkCounts, type LinkProgress } from './links.ts';
import { aliasesWith, type Namesakes, nameKeysOf, readNamesakes } from './namesakes.ts';
import { isRefusal } from './refusal.ts';

/** Items in one transaction. */
const BATCH = 1000;

/** When this many changes are held back (see `Held`), all of them are written before the source ends. */
const MOST_HELD = 10_000;

/** The most statements that `Alike` tracks. */
const MOST_ALIKE = 10_000;

/** Counts the items of an import by outcome. */
export interface ImportCounts {
  readonly imported: number;
  /** Existed with other content or fields, and were changed. */
  readonly updated: number;
  /** Existed already. */
  readonly unchanged: number;
  /** Were invalid or refused. */
  readonly skipped: number;
  /** New links between memories; absent if there are none. */
  readonly linked?: number;
  /** Differ from a memory but are not newer; the memory was left as it is. Absent if there are none. */
  readonly differs?: number;
}

/** Whether the import wrote anything that an undo could revert. */
export function wrote({ imported, updated, linked = 0 }: ImportCounts): boolean {
  return imported + updated + linked > 0;
}

/**
 * Adds to an error of the store that says that nothing was changed, which holds only for the last write of an import, that what was
 * imported before is kept. Does nothing if nothing was, or in a trial.
 */
export function keeping(error: unknown, counts: ImportCounts, isTrial = false): unknown {
  if (!SalienceError.isInstance(error) || !error.message.includes(UNCHANGED)) return error;
  if (isTrial || !wrote(counts)) return error;
  if (error.details['written'] === true) return error;
  return new SalienceError(
    error.code,
    `${withoutUnchanged(error)}. What was imported before this is kept; import again to continue`,
    { details: { ...error.details, written: true }, cause: error.cause },
  );
}

export interface ImportOptions {
  /** Whether an item that differs from a memory and is no newer still updates it. Default is false. */
  readonly update?: boolean | undefined;
  /** Whether the space is a copy that is deleted afterwards, so that no error says what is kept. Default is false. */
  readonly isTrial?: boolean | undefined;
  /** Called for each memory that differs from its item and was left as it is. */
  readonly onDiffers?: ((where: string, id: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called for each item that is invalid or refused. */
  readonly onSkipped?: ((where: string, reason: string) => void) | undefined;
  /** Called after each batch, when everything counted is durable. */
  readonly onProgress?: ((counts: ImportCounts) => void) | undefined;
  /** Called for each thing that a memory has no field for, with a plural noun such as `attachments`. */
  readonly onLeftOut?: ((what: string) => void) | undefined;
  /** Collects the links of several sources; the caller writes them. By default the links of this source are written. */
  readonly links?: ImportLinks | undefined;
}

/**
 * Remembers the items of a source in batches. An item that exists already is left alone, or updated if the source
 * differs and the space has nothing newer on its topic. An item that is invalid or refused is reported and skipped.
 * After an abort or a failure of the store, the batches before it are kept, and importing again continues from there. If the
 * error would say that nothing was changed, it also says that.
 * `memory` may be a function that opens the engine: it is called only when there is something to write.
 */
export async function importItems(
  memory: MemoryEngine | (() => Promise<MemoryEngine>),
  items: AsyncIterable<ImportItem>,
  options: ImportOptions = {},
): Promise<ImportCounts> {
  const { signal, onProgress, onLeftOut, links = createImportLinks() } = options;
  const open = typeof memory === 'function' ? memory : async () => memory;
  const counts: Counts = { imported: 0, updated: 0, unchanged: 0, skipped: 0 };
  // Skipped items are reported after each batch, in source order: refusals are only known once the batch is written.
  let untold: { readonly place: number; readonly where: string; readonly reason: string }[] = [];
  const places = new Map<string, number>();
  let read = 0;
  const skip = (where: string, reason: string) => {
    counts.skipped++;
    untold.push({ place: places.get(where) ?? read, where, reason });
  };
  const tell = () => {
    const told = untold.sort((a, b) => a.place - b.place);
    untold = [];
    places.clear();
    for (const { where, reason } of told) options.onSkipped?.(where, reason);
  };
  let batch = new Map<string, Usable>();
  const named = new Set<string>();
  let namesakes: Namesakes | undefined;
  const held: Held = new Map();
  const alike: Alike = { saidBy: new Map(), changed: new Set(), latest: new Map() };
  const flush = async () => {
    // Signals such as SIGINT are handled only between turns of the event loop, which a batch alone may never yield.
    await setImmediate();
    throwIfAborted(signal);
    if (named.size > 0) namesakes ??= await readNamesakes(await open(), signal);
    if (batch.size > 0)
      await writeBatch(
        await open(),
        [...batch.values()],
        counts,
        skip,
        links,
        options,
        alike,
        namesakes,
        held,
      );
    batch = new Map();
    named.clear();
    tell();
    if (held.size >= MOST_HELD) await release();
    onProgress?.({ ...counts });
  };
  const write = async (items: readonly Usable[]) => {
    for (let start = 0; start < items.length; start += BATCH) {
      await setImmediate();
      throwIfAborted(signal);
      const some = items.slice(start, start + BATCH);
      await writeBatch(await open(), some, counts, skip, links, options, alike, namesakes);
    }
  };
  const release = async () => {
    const items = Array.from(held.values(), ({ item }) => item);
    held.clear();
    await write(items);
  };
  try {
    for await (const item of items) {
      if (item.kind === 'left-out') {
        onLeftOut?.(item.what);
        continue;
      }
      if (item.kind === 'link' || item.kind === 'entity' || item.kind === 'relation') {
        links.add(item);
        continue;
      }
      // The same id or entity twice: the later one must find the earlier one written.
      const keys = item.kind === 'statement' && item.givesNames ? nameKeysOf(item.input) : [];
      const isTwice =
        item.kind !== 'unusable' && (batch.has(idOf(item)) || keys.some((key) => named.has(key)));
      if (batch.size >= BATCH || untold.length >= BATCH || isTwice) await flush();
      for (const key of keys) named.add(key);
      places.set(item.where, ++read);
      if (item.kind === 'unusable') skip(item.where, item.reason);
      else batch.set(idOf(item), item);
    }
    await flush();
    if (held.size > 0 || alike.changed.size > 0) {
      await release();
      const unsaid = takeUnsaid(alike);
      counts.unchanged -= unsaid.length;
      await write(unsaid);
      tell();
      onProgress?.({ ...counts });
    }
  } catch (error) {
    throw keeping(error, counts, options.isTrial);
  } finally {
    tell();
  }
  if (options.links) return { ...counts };
  let current: ImportCounts = counts;
  const linking = {
    signal,
    onLeftOut,
    onProgress(progress: LinkProgress) {
      current = withLinks(counts, progress.counts);
      onProgress?.(current);
    },
  };
  const written = await links.write(open, linking).catch((error: unknown) => {
    throw keeping(error, current, options.isTrial);
  });
  return withLinks(counts, written);
}

/** Adds the counts of `written` links and entities to the counts of the items. */
export function withLinks(counts: ImportCounts, written: LinkCounts): ImportCounts {
  const linked = (counts.linked ?? 0) + written.linked;
  return {
    ...counts,
    imported: counts.imported + written.imported,
    updated: counts.updated + written.updated,
    unchanged: counts.unchanged + written.unchanged,
    ...(linked > 0 ? { linked } : {}),
  };
}

type Counts = { -readonly [Name in Exclude<keyof ImportCounts, 'linked' | 'differs'>]: number } & {
  differs?: number;
};
type Skip = (where: string, reason: string) => void;

/**
 * Statements that change a memory but are not dated after it, by the id of that memory. They are held back until the
 * source is read, and only the last one for each memory is written. Otherwise each import would replay all of them.
 */
type Held = Map<string, { readonly item: Usable; readonly said: number }>;

/**
 * `saidBy`: the statements that were deduplicated into a memory with another id, by their own ids.
 * `changed`: the ids of the memories that this import has changed or superseded since.
 * `latest`: by id, when the latest of the statements so far was said.
 */
interface Alike {
  readonly saidBy: Map<string, { readonly item: Usable; readonly id: string }>;
  readonly changed: Set<string>;
  readonly latest: Map<string, number>;
}

function noteAlike({ saidBy }: Alike, item: Usable, id: string): void {
  // Statements over the limit are restored by the next import.
  if (saidBy.size < MOST_ALIKE) saidBy.set(idOf(item), { item, id });
}

function noteChanged({ saidBy, changed }: Alike, id: string): void {
  if (saidBy.size > 0) changed.add(id);
}

/** Returns the statements whose memory has been changed or superseded since, and so need their own. Clears `alike`. */
function takeUnsaid({ saidBy, changed }: Alike): readonly Usable[] {
  const unsaid = [...saidBy.values()].flatMap(({ item, id }) => (changed.has(id) ? [item] : []));
  saidBy.clear();
  changed.clear();
  return unsaid;
}

/** Whether the source said something later under the same id before. Notes when this item was said. */
function isEarlier(item: Usable, { latest }: Alike): boolean {
  const said = lastSaid(item);
  if (said === undefined) return false;
  const before = latest.get(idOf(item));
  if (before !== undefined && said < before) return true;
  latest.set(idOf(item), said);
  return false;
}

/** Whether `said` is dated after the memory. A second import then finds the memory as new as the item, or newer. */
function isAfter(said: number, { updatedAt }: Memory): boolean {
  return said !== Number.POSITIVE_INFINITY && said > Date.parse(updatedAt);
}

/**
 * Writes a batch. If `held` is given, statements that change a memory and are not dated after it are put there instead.
 */
async function writeBatch(
  memory: MemoryEngine,
  items: readonly Usable[],
  counts: Counts,
  skip: Skip,
  links: ImportLinks,
  options: ImportOptions,
  alike: Alike,
  namesakes: Namesakes | undefined,
  held?: Held,
): Promise<void> {
  const { signal } = options;
  const fresh: Usable[] = [];
  const restated = new Set<Usable>();
  const { ordered, last } = inOrder(items);
  for (const item of ordered) {
    // A later item with the same id replaces what the source said before.
    alike.saidBy.delete(idOf(item));
    // `update` takes what is older than the memory, but not what is older than the same source says elsewhere.
    if (options.update && isEarlier(item, alike)) {
      counts.unchanged++;
      continue;
    }
    const looked = await attempt(item, skip, () => knownAs(memory, item, last.has(item)));
    if (!looked) continue;
    const known = looked.result;
    if (known) links.name(item, known.existing.id);
    if (!known) {
      const namesake = await namesakeOf(memory, item, namesakes);
      if (namesake) {
        links.name(item, namesake.id);
        const outcome = await attempt(item, skip, () => giveNames(memory, item, namesake, options));
        if (outcome) counts[outcome.result]++;
      } else fresh.push(item);
      continue;
    }
    const { existing, said } = known;
    const isOlder = known.differs && !options.update;
    const waiting = known.outdated || isOlder ? undefined : held?.get(existing.id);
    const isLater = waiting === undefined || said >= waiting.said;
    if (waiting && isLater) {
      held?.delete(existing.id);
      counts.unchanged++;
    }
    if (known.changes === undefined && known.invalidation === undefined) counts.unchanged++;
    else if (isOlder) {
      counts.differs = (counts.differs ?? 0) + 1;
      options.onDiffers?.(item.where, existing.id);
    } else if (held && item.kind === 'statement' && !isAfter(said, existing)) {
      if (isLater) held.set(existing.id, { item, said });
      else counts.unchanged++;
    } else if (known.byTopic) {
      // Remembered as a new statement of the topic, not updated from outside, so that it keeps its own time.
      fresh.push(item);
      restated.add(item);
    } else {
      const { changes, invalidation } = known;
      const write = async () => {
        if (changes) await memory.update(existing.id, changes, { signal });
        if (invalidation) await memory.invalidate(existing.id, invalidation.reason, { signal });
      };
      if (await attempt(item, skip, write)) {
        counts.updated++;
        noteChanged(alike, existing.id);
      }
    }
  }
  const statements = fresh.filter((item) => item.kind === 'statement');
  const records = fresh.filter((item) => item.kind === 'record');
  const said = await insert(statements, skip, (some) =>
    memory.rememberMany(
      some.map((item) => (restated.has(item) ? { ...item.input, id: undefined } : item.input)),
      { signal },
    ),
  );
  const ofOthers: (typeof said)[number][] = [];
  for (const each of said) {
    const [{ apart, input }, { id, outcome }] = each;
    if (apart === undefined || outcome !== 'deduplicated' || id === input.id) continue;
    if ((await memory.get(id))?.title !== input.title) ofOthers.push(each);
  }
  const apart = await insert(
    ofOthers.map(([item]) => item),
    skip,
    (some) =>
      memory.rememberMany(
        some.map(({ input, apart = input.content }) => ({ ...input, content: apart })),
        { signal },
      ),
  );
  const remembered = [
    ...said.filter((each) => !ofOthers.includes(each)),
    ...apart,
    ...(await insert(records, skip, (some) =>
      memory.importMemories(
        some.map((item) => item.memory),
        { signal },
      ),
    )),
  ];
  // If the space has the same text or the same topic already, the result has the id of that memory.
  for (const [item, { id, outcome }] of remembered) {
    counts[countOf[outcome]]++;
    links.name(item, id);
    if (item.kind === 'statement' && item.givesNames) namesakes?.add(id, item.input);
    if (outcome === 'updated') noteChanged(alike, id);
    for (const each of supersededBy(item)) noteChanged(alike, each);
    if (outcome === 'deduplicated' && id !== idOf(item)) noteAlike(alike, item, id);
  }
}

/** Returns the existing entity that an entity of the source only gives its names to. */
async function namesakeOf(
  memory: MemoryEngine,
  item: Usable,
  namesakes: Namesakes | undefined,
): Promise<Memory | undefined> {
  if (item.kind !== 'statement' || !item.givesNames) return undefined;
  const id = namesakes?.find(item.input);
  return id === undefined ? undefined : memory.get(id);
}

async function giveNames(
  memory: MemoryEngine,
  item: Usable,
  entity: Memory,
  { signal }: ImportOptions,
): Promise<'updated' | 'unchanged'> {
  const aliases = item.kind === 'statement' ? aliasesWith(entity, item.input) : undefined;
  if (aliases === undefined) return 'unchanged';
  await memory.update(entity.id, { aliases }, { signal });
  return 'updated';
}

const countOf = { created: 'imported', updated: 'updated', deduplicated: 'unchanged' } as const;

/**
 * Writes the items in one transaction, skipping those that the engine refuses. Returns the others with their results.
 */
async function insert<Item extends Usable>(
  items: readonly Item[],
  skip: Skip,
  write: (items: readonly Item[]) => Promise<readonly RememberResult[]>,
): Promise<readonly (readonly [Item, RememberResult])[]> {
  const left = [...items];
  while (left.length > 0) {
    try {
      const remembered = await write(left);
      return left.map((item, at) => [item, remembered[at] as RememberResult]);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const index = refusedOf(left, error);
      const refused = left[index];
      if (!refused) throw error;
      skip(refused.where, reasonOf(error));
      left.splice(index, 1);
    }
  }
  return [];
}

/** Returns the index of the item that an error is about, or -1. Errors of the store or of a token name only an id. */
function refusedOf(items: readonly Usable[], { code, details: { index, id } }: SalienceError): number {
  if (items.length === 1) return 0;
  if (typeof index === 'number') return index;
  return items.findIndex((item) => {
    if (code === 'already_exists') return idOf(item) === id;
    return code === 'not_found' && [...supersededBy(item), ...originalsOf(item)].some((each) => each === id);
  });
}

function originalsOf(item: Usable): readonly string[] {
  return item.kind === 'record' ? [item.memory.derivedFrom ?? []].flat() : [];
}

function supersededBy(item: Usable): readonly string[] {
  const { supersedes = [] } = item.kind === 'statement' ? item.input : item.memory;
  return [supersedes].flat();
}

/** Runs `work`. If the item is refused, skips it and returns `undefined`. */
async function attempt<Result>(
  item: Usable,
  skip: Skip,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result } | undefined> {
  try {
    return { result: await work() };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    skip(item.where, reasonOf(error));
    return undefined;
  }
}

/** Returns the message for a refused item. In a batch, the item's own error is the `cause`. */
function reasonOf(error: SalienceError): string {
  return SalienceError.isInstance(error.cause) ? error.cause.message : error.message;
}

import { setImmediate } from 'node:timers/promises';
import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import type { Memory, MemoryEngine, RememberResult } from '../index.ts';
import type { ImportItem } from './item.ts';
import { idOf, inOrder, knownAs, type Usable } from './known.ts';
import { createImportLinks, type ImportLinks, type LinkCounts } from './links.ts';
import { isRefusal } from './refusal.ts';

/** Items in one transaction. */
const BATCH = 1000;

/** So many changes wait for what the source says later of the same memories. */
const MOST_HELD = 10_000;

/** So many statements are remembered as said by another memory. */
const MOST_ALIKE = 10_000;

/** What became of the items of an import. */
export interface ImportCounts {
  readonly imported: number;
  /** Were there with another text. */
  readonly updated: number;
  /** Were there already. */
  readonly unchanged: number;
  /** Could not be used. */
  readonly skipped: number;
  /** Links between memories that were not there before; absent for none. */
  readonly linked?: number;
  /** Were there with something else that is as new, and were left as they are. Absent for none. */
  readonly differs?: number;
}

/** Whether anything was written that an undo could take back. */
export function wrote({ imported, updated, linked = 0 }: ImportCounts): boolean {
  return imported + updated + linked > 0;
}

export interface ImportOptions {
  /** Whether memories that differ from what is no newer take what it says. Default is false. */
  readonly update?: boolean | undefined;
  /** Called for each memory that was left as it is though the source says something else. */
  readonly onDiffers?: ((where: string, id: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called for each item that cannot be used. */
  readonly onSkipped?: ((where: string, reason: string) => void) | undefined;
  /** Called after each batch, when what it counts is durable. */
  readonly onProgress?: ((counts: ImportCounts) => void) | undefined;
  /** Called for each thing that a memory has no place for. */
  readonly onLeftOut?: ((what: string) => void) | undefined;
  /** Collects the links of several sources, for the caller to write; default is to write those of this one. */
  readonly links?: ImportLinks | undefined;
}

/**
 * Remembers the items of a source, in batches of one transaction each. What is there already is left alone, or
 * updated when the source says something else, and nothing newer is known about its topic; what cannot be used is
 * reported, and the rest goes on. An abort or a failure of the store keeps the batches before it; importing again goes
 * on where it ended. A memory that is still to be opened is opened when there is something to write into it.
 */
export async function importItems(
  memory: MemoryEngine | (() => Promise<MemoryEngine>),
  items: AsyncIterable<ImportItem>,
  options: ImportOptions = {},
): Promise<ImportCounts> {
  const { signal, onProgress, onLeftOut, links = createImportLinks() } = options;
  const open = typeof memory === 'function' ? memory : async () => memory;
  const counts: Counts = { imported: 0, updated: 0, unchanged: 0, skipped: 0 };
  // What a batch is refused is known when it is written: told at once, what cannot be read would come before it.
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
  const held: Held = new Map();
  const alike: Alike = { saidBy: new Map(), changed: new Set() };
  const flush = async () => {
    // Signals of the system are heard only between turns of the event loop, which a batch alone may not leave.
    await setImmediate();
    throwIfAborted(signal);
    if (batch.size > 0)
      await writeBatch(await open(), [...batch.values()], counts, skip, links, options, alike, held);
    batch = new Map();
    tell();
    if (held.size >= MOST_HELD) await release();
    onProgress?.({ ...counts });
  };
  const write = async (items: readonly Usable[]) => {
    for (let start = 0; start < items.length; start += BATCH) {
      await setImmediate();
      throwIfAborted(signal);
      await writeBatch(await open(), items.slice(start, start + BATCH), counts, skip, links, options, alike);
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
      // The same id twice: the later one must find the earlier one written.
      const isTwice = item.kind !== 'unusable' && batch.has(idOf(item));
      if (batch.size >= BATCH || untold.length >= BATCH || isTwice) await flush();
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
  } finally {
    tell();
  }
  if (options.links) return { ...counts };
  const written = await links.write(open, {
    signal,
    onLeftOut,
    onProgress: (progress) => onProgress?.(withLinks(counts, progress.counts)),
  });
  return withLinks(counts, written);
}

/** What became of the items of sources, and of what was collected with their links. */
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
 * What changes a memory without being dated after it, by its id, until the source is read: where the source says several such
 * things of one memory the last holds, and another import must not go through all of them again.
 */
type Held = Map<string, { readonly item: Usable; readonly said: number }>;

/** The statements that a memory of another id says word for word, by their own ids; and which memories have changed. */
interface Alike {
  readonly saidBy: Map<string, { readonly item: Usable; readonly id: string }>;
  readonly changed: Set<string>;
}

function noteAlike({ saidBy }: Alike, item: Usable, id: string): void {
  // Of more than these the next import finds what is said no longer.
  if (saidBy.size < MOST_ALIKE) saidBy.set(idOf(item), { item, id });
}

function noteChanged({ saidBy, changed }: Alike, id: string): void {
  if (saidBy.size > 0) changed.add(id);
}

/** The statements whose memory says something else by now, or is superseded: they need one of their own. */
function takeUnsaid({ saidBy, changed }: Alike): readonly Usable[] {
  const unsaid = [...saidBy.values()].flatMap(({ item, id }) => (changed.has(id) ? [item] : []));
  saidBy.clear();
  changed.clear();
  return unsaid;
}

/** Whether this was said later than what is known, so that a second import finds it older or equal. */
function isAfter(said: number, { updatedAt }: Memory): boolean {
  return said !== Number.POSITIVE_INFINITY && said > Date.parse(updatedAt);
}

/** With `held` statements that change a memory are put there, and not written. */
async function writeBatch(
  memory: MemoryEngine,
  items: readonly Usable[],
  counts: Counts,
  skip: Skip,
  links: ImportLinks,
  options: ImportOptions,
  alike: Alike,
  held?: Held,
): Promise<void> {
  const { signal } = options;
  const fresh: Usable[] = [];
  const restated = new Set<Usable>();
  const { ordered, last } = inOrder(items);
  for (const item of ordered) {
    // The source says something else of it now.
    alike.saidBy.delete(idOf(item));
    const looked = await attempt(item, skip, () => knownAs(memory, item, last.has(item)));
    if (!looked) continue;
    const known = looked.result;
    if (known) links.name(item, known.existing.id);
    if (!known) {
      fresh.push(item);
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
      // Said again, and not changed from outside, it keeps its own time.
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
  // What the space knows word for word, or by its topic, has another id there.
  for (const [item, { id, outcome }] of remembered) {
    counts[countOf[outcome]]++;
    links.name(item, id);
    if (outcome === 'updated') noteChanged(alike, id);
    for (const each of supersededBy(item)) noteChanged(alike, each);
    if (outcome === 'deduplicated' && id !== idOf(item)) noteAlike(alike, item, id);
  }
}

const countOf = { created: 'imported', updated: 'updated', deduplicated: 'unchanged' } as const;

/** Writes the items as one transaction, without those that the engine refuses. Returns the others, and what became of them. */
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

/** Which of the items an error is about; -1 for none. What the store or a token refuses is named by its id alone. */
function refusedOf(items: readonly Usable[], { code, details: { index, id } }: SalienceError): number {
  if (items.length === 1) return 0;
  if (typeof index === 'number') return index;
  return items.findIndex((item) => {
    if (code === 'already_exists') return idOf(item) === id;
    return code === 'not_found' && supersededBy(item).some((each) => each === id);
  });
}

function supersededBy(item: Usable): readonly string[] {
  const { supersedes = [] } = item.kind === 'statement' ? item.input : item.memory;
  return [supersedes].flat();
}

/** `undefined` where the item was refused, and named. */
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

/** In a batch the error of the item itself is the cause. */
function reasonOf(error: SalienceError): string {
  return SalienceError.isInstance(error.cause) ? error.cause.message : error.message;
}

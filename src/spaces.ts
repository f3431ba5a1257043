/// <reference lib="esnext.disposable" preserve="true" />

import { setTimeout as timeout } from 'node:timers/promises';
import { number, wholeNumber } from './domain/check.ts';
import { SalienceError, throwIfAborted } from './domain/errors.ts';
import { keysOf, onlyKeys, withInherited } from './domain/options.ts';
import { parseSpaceName } from './domain/space.ts';
import { checkedClock } from './domain/time.ts';
import { VERB_NAMES, verbEntry } from './domain/verbs.ts';
import { type Activity, LONGEST_WAIT } from './engine/looking/activity.ts';
import type { MemoryEngine } from './engine/memory-engine.ts';
import type { MaintainOptions, MaintenanceReport } from './engine/upkeep/maintenance-types.ts';
import { inPlace, signalOf } from './engine/verb-options.ts';
import { type MaintainSpacesOptions, maintainSpaces, type SpacesMaintenance } from './maintain-spaces.ts';
import { type OpenOptions, openMemory, openStore } from './open.ts';
import { checkOpenOptions, OPEN_OPTIONS } from './open-options.ts';
import { stoppable, unlessAborted } from './providers/waiting.ts';
import { signalOfCaller } from './store/cancelling.ts';
import { isOtherAnalyzer } from './store/derived.ts';
import { openedReadOnly } from './store/faults.ts';
import { type Room, spaceTooLarge } from './store/room.ts';
import type { OpenSpaceOptions, SpaceStore, Store } from './store/store.ts';

export interface SpacesOptions extends Omit<OpenOptions, 'space'> {
  /**
   * The maximum number of spaces open at once. Each needs five file descriptors. Default is 100, which fits in
   * `ulimit -n 1024` with room for everything else.
   */
  readonly maxOpenSpaces?: number | undefined;
  /**
   * The estimated maximum size of all indexes in memory, in bytes. Reserved before an index is loaded. A space that alone
   * needs more is refused with `space_too_large`. Default is 1 GiB.
   */
  readonly maxResidentBytes?: number | undefined;
  /**
   * Milliseconds that a call waits while all open spaces are in use, or while another call loads the index that it needs.
   * Default is 10,000; 0 does not wait. A call stops waiting at once when its signal aborts.
   */
  readonly waitTimeout?: number | undefined;
}

/** The memories of many spaces in one process. */
export interface Spaces extends AsyncDisposable {
  /** How many spaces are open now. */
  readonly size: number;
  /** The approximate size of the indexes of the open spaces in bytes. */
  readonly residentBytes: number;
  /**
   * Returns the memory of a space. It stays usable until these `Spaces` are closed: the space may be closed while it is
   * idle, and each call opens it again if necessary. Its own `close` does nothing. This and every later call throw the
   * errors of `openMemory`, `too_many_spaces` and `space_too_large`.
   *
   * @example
   * ```ts
   * await using spaces = openSpaces({ path: './memory' });
   * const alice = await spaces.get('alice');
   * const { hits } = await alice.recall('coffee');
   * ```
   */
  get(space: string): Promise<MemoryEngine>;
  /**
   * The names of all spaces of the store, open or not.
   *
   * @example
   * ```ts
   * await using spaces = openSpaces({ path: './memory' });
   * for (const name of await spaces.list()) console.log(name);
   * ```
   */
  list(): Promise<readonly string[]>;
  /**
   * Closes a space and deletes it, with everything in it. There is no undo. Throws `not_found`, `store_busy`, `store_read_only`.
   *
   * @example
   * ```ts
   * await using spaces = openSpaces({ path: './memory' });
   * await (await spaces.get('carol')).remember('Plays the cello');
   * await spaces.delete('carol');
   * ```
   */
  delete(space: string): Promise<void>;
  /**
   * Maintains every space of the store, one after the other: see `MemoryEngine.maintain`. Any number of processes may call
   * it on one store at any time: in each period of `every`, one of them maintains each space once. A custom store needs
   * `shared` for that. A space that is deleted meanwhile is skipped, and not created again. Throws `aborted`, `closed`,
   * `store_read_only`, and the errors of listing the spaces. If a space fails, the result reports it, and the others are
   * still maintained.
   *
   * @example
   * ```ts
   * await using spaces = openSpaces({ path: './memory' });
   * const { maintained, failed } = await spaces.maintain();
   * for (const { space, error } of failed) console.error(space, error);
   * console.log(`maintained ${maintained.length} spaces`);
   * ```
   */
  maintain(options?: MaintainSpacesOptions): Promise<SpacesMaintenance>;
  /**
   * Rejects while the store cannot be used: it cannot be reached or written to, its schema does not fit, or its disk is
   * full. With `readOnly` it only lists the spaces. A custom store is checked if it has `ready`.
   *
   * @example
   * ```ts
   * await using spaces = openSpaces({ path: './memory' });
   * await spaces.ready();
   * ```
   */
  ready(): Promise<void>;
  /**
   * Closes all spaces. Later calls throw `closed`.
   *
   * @example
   * ```ts
   * const spaces = openSpaces({ path: './memory' });
   * process.once('SIGTERM', () => spaces.close());
   * ```
   */
  close(): Promise<void>;
}

/** The names of all options of `openSpaces`. */
export const SPACES_OPTIONS: readonly string[] = [
  ...OPEN_OPTIONS.filter((name) => name !== 'space'),
  'maxOpenSpaces',
  'maxResidentBytes',
  'waitTimeout',
];

const MAINTAIN_OPTIONS = keysOf<MaintainSpacesOptions>()({
  every: true,
  progress: true,
  dryRun: true,
  fade: true,
  consolidate: true,
  useModel: true,
  maxPairs: true,
  signal: true,
  now: true,
});

/** A space that is open or just being opened. */
interface Entry {
  readonly opened: Promise<{ readonly memory: MemoryEngine; readonly store: SpaceStore }>;
  /** The number of calls in progress. */
  users: number;
  bytes: number;
  /** Whether it was opened by a call that must not create the space. */
  readonly mustExist: boolean;
  /** Set once it takes no more calls: to be called when those in progress have ended. */
  idle?: (() => void) | undefined;
}

/** Milliseconds before a space that had to close is opened again for a call that waits for activity in it. */
const BETWEEN_OPENINGS = 1000;

/**
 * Opens spaces on demand. When too many are open, closes the one that was idle longest. Never closes a space in use.
 *
 * @throws `invalid_argument`: an option is unknown or out of range.
 * @example
 * ```ts
 * await using spaces = openSpaces({ path: './memory', maxOpenSpaces: 50 });
 * const alice = await spaces.get('alice');
 * await alice.remember('Prefers dark roast coffee');
 * ```
 */
export function openSpaces(options: SpacesOptions): Spaces {
  const asked = withInherited(options, SPACES_OPTIONS);
  onlyKeys(asked, SPACES_OPTIONS, 'openSpaces');
  // Copied because they are read whenever a space is opened, and the caller may change the object.
  const kept = { ...asked };
  const { maxOpenSpaces = 100, maxResidentBytes = 2 ** 30, waitTimeout = 10_000, ...opening } = kept;
  const limits = {
    spaces: wholeNumber(maxOpenSpaces, 'maxOpenSpaces', 1, 1_000_000),
    bytes: number(maxResidentBytes, 'maxResidentBytes', 0, Number.MAX_SAFE_INTEGER),
    wait: wholeNumber(waitTimeout, 'waitTimeout', 0, 3_600_000),
  };
  // Check with a placeholder name, so that invalid options fail now and not when the first space is opened.
  checkOpenOptions({ ...opening, space: 'any' });
  let store: Promise<Store> | undefined;
  /** Least recently used first. */
  const entries = new Map<string, Entry>();
  const leaving = new Map<string, Promise<void>>();
  const waiting = new Set<() => void>();
  const maintaining = new Set<Promise<unknown>>();
  let closed = false;

  /** Whether an open space cannot go on, but may after it was opened again. */
  const isOutdated = (error: unknown) =>
    (SalienceError.isInstance(error) && error.code === 'store_replaced') ||
    // Opened again, it has the new language, unless the caller named one.
    (kept.language === undefined && isOtherAnalyzer(error));
  const wake = () => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  const residentBytes = () => [...entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  const isFull = () =>
    entries.size + leaving.size >= limits.spaces || (entries.size > 0 && residentBytes() > limits.bytes);
  const oldestIdle = (except?: Entry) =>
    [...entries].find(([, entry]) => entry.users === 0 && entry !== except)?.[0];

  function theStore(): Promise<Store> {
    store ??= kept.store ? Promise.resolve(kept.store) : openStore(opening);
    return store;
  }

  function open(name: string, mustExist: boolean): Entry {
    const room: Room = {
      waitTimeout: limits.wait,
      take: (bytes) => takeRoom(name, entry, bytes),
      takeNow: (bytes) => takeNow(entry, bytes),
    };
    // Left out if false, so that the default of the store applies, which depends on `readOnly`.
    const opened = openOne(name, opening, theStore(), { room, mustExist: mustExist || undefined });
    const entry: Entry = { opened, users: 0, bytes: 0, mustExist };
    entries.set(name, entry);
    // Another call may succeed where this one failed.
    entry.opened.catch(() => {
      entries.delete(name);
      wake();
    });
    return entry;
  }

  function closeOne(name: string, { opened }: Entry, before?: Promise<void>): Promise<void> {
    entries.delete(name);
    const ended = Promise.all([opened, before])
      .then(([{ memory }]) => memory.close())
      // Acknowledged writes are on disk, and the call that caused the closing concerns another space.
      .catch(() => {})
      .finally(() => {
        if (leaving.get(name) === ended) leaving.delete(name);
        wake();
      });
    leaving.set(name, ended);
    return ended;
  }

  /**
   * Closes a space when the calls in progress have ended. Further calls wait, and open it again: if they could still
   * enter, steady use would keep it open for ever.
   */
  function retire(name: string, entry: Entry): void {
    if (entries.get(name) !== entry) return;
    const idle = new Promise<void>((resolve) => {
      entry.idle = resolve;
    });
    void closeOne(name, entry, idle);
  }

  /** Waits for room, opens the space if necessary and counts it as in use. Throws `aborted` as soon as the signal aborts. */
  async function enter(name: string, signal: AbortSignal | undefined, mustExist = false): Promise<Entry> {
    const deadline = performance.now() + limits.wait;
    for (;;) {
      if (closed) throw closedError();
      const going = leaving.get(name);
      const idle = oldestIdle();
      if (entries.has(name) || !(going || isFull())) {
        const entry = entries.get(name) ?? open(name, mustExist);
        entry.users++;
        return entry;
      }
      if (going) await unlessAborted(() => going, signal);
      else if (leaving.size > 0) await unlessAborted(() => Promise.race(leaving.values()), signal);
      else if (idle !== undefined)
        await unlessAborted(() => closeOne(idle, entries.get(idle) as Entry), signal);
      else await somebodyLeaves(deadline - performance.now(), limits, waiting, signal);
    }
  }

  /** See `Room.take`. Closes idle spaces, longest idle first, until there is room. */
  async function takeRoom(name: string, entry: Entry, bytes: number): Promise<void> {
    if (bytes > limits.bytes) throw spaceTooLarge(name, bytes, limits.bytes);
    const signal = signalOfCaller();
    const deadline = performance.now() + limits.wait;
    while (!takeNow(entry, bytes)) {
      const idle = oldestIdle(entry);
      if (idle !== undefined) void closeOne(idle, entries.get(idle) as Entry);
      else await somebodyLeaves(deadline - performance.now(), limits, waiting, signal);
    }
  }

  /** See `Room.takeNow`. */
  function takeNow(entry: Entry, bytes: number): boolean {
    if (residentBytes() - entry.bytes + bytes > limits.bytes) return false;
    entry.bytes = bytes;
    return true;
  }

  async function leave(name: string, entry: Entry): Promise<void> {
    entry.users--;
    if (entry.users === 0) entry.idle?.();
    if (entries.get(name) !== entry) return;
    const { store } = await entry.opened;
    entry.bytes = store.residentBytes();
    if (entries.get(name) !== entry) return;
    // Move to the end of the order: most recently used.
    entries.delete(name);
    entries.set(name, entry);
    while (residentBytes() > limits.bytes) {
      const idle = oldestIdle(entry);
      if (idle === undefined) break;
      void closeOne(idle, entries.get(idle) as Entry);
    }
    wake();
  }

  /** Waits for the memory of an entered space. On an error, `aborted` included, leaves the space again. */
  async function openedFor(name: string, entry: Entry, signal: AbortSignal | undefined) {
    try {
      return (await unlessAborted(() => entry.opened, signal)).memory;
    } catch (error) {
      // A space that failed to open is already removed. Do not wait for one that is still opening.
      leave(name, entry).catch(() => {});
      throw error;
    }
  }

  /** Enters a space and waits for its memory. Throws `not_found` if it must exist and does not. */
  async function enterOpened(name: string, signal: AbortSignal | undefined, mustExist = false) {
    for (;;) {
      const entry = await enter(name, signal, mustExist);
      try {
        return { entry, memory: await openedFor(name, entry, signal) };
      } catch (error) {
        const isMissing = SalienceError.isInstance(error) && error.code === 'not_found';
        // It was being opened by a call that must not create it: open it again.
        if (!(isMissing && entry.mustExist && !mustExist)) throw error;
      }
    }
  }

  async function use<Result>(
    name: string,
    work: (memory: MemoryEngine) => Promise<Result>,
    signal?: AbortSignal,
    mustExist = false,
  ): Promise<Result> {
    const { entry, memory } = await enterOpened(name, signal, mustExist);
    try {
      return await work(memory);
    } catch (error) {
      if (isOutdated(error)) retire(name, entry);
      throw error;
    } finally {
      await leave(name, entry);
    }
  }

  /** Implements `activity` so that a waiting call does not keep its space open: it may be closed, and is then opened again. */
  async function follow(name: string, ...passed: readonly unknown[]): Promise<Activity> {
    const entry = verbEntry('activity');
    const signal = signalOf(entry, passed);
    const [after, given = {}] = inPlace(entry, passed) as Parameters<MemoryEngine['activity']>;
    // If `given` is not an object, the memory itself rejects it.
    if (Object(given) !== given) return use(name, (memory) => memory.activity(after, given));
    const { wait = 0 } = given;
    wholeNumber(wait, 'wait', 0, LONGEST_WAIT);
    const found = await use(name, (memory) => memory.activity(after, { ...given, wait: 0 }), signal);
    if (found.entries.length > 0) return found;
    const end = performance.now() + wait;
    for (;;) {
      const left = Math.max(0, Math.ceil(end - performance.now()));
      if (left === 0) return found;
      const { entry, memory } = await enterOpened(name, signal);
      const following = memory.activity(found.position, { ...given, wait: left });
      following.catch(() => {});
      await leave(name, entry);
      try {
        return await following;
      } catch (error) {
        if (closed || !SalienceError.isInstance(error) || error.code !== 'closed') throw error;
      }
      // Another space needed the room. Pause, or two waiting calls would keep closing each other's space.
      const rest = Math.min(BETWEEN_OPENINGS, Math.max(0, end - performance.now()));
      await timeout(rest, undefined, { signal }).catch(() => throwIfAborted(signal));
    }
  }

  async function remove(name: string): Promise<void> {
    if (closed) throw closedError();
    if (kept.readOnly) throw openedReadOnly(name);
    const entry = entries.get(name);
    const before = entry ? closeOne(name, entry) : leaving.get(name);
    const deleting = Promise.resolve(before).then(async () => (await theStore()).deleteSpace(name));
    // Keeps the space from being opened again before it is deleted.
    const ended = deleting
      .catch(() => {})
      .finally(() => {
        if (leaving.get(name) === ended) leaving.delete(name);
        wake();
      });
    leaving.set(name, ended);
    return deleting;
  }

  async function close(): Promise<void> {
    closed = true;
    wake();
    for (const [name, entry] of [...entries]) void closeOne(name, entry);
    await Promise.all(leaving.values());
    // Running maintenance gives up its claims, so that other processes can take over.
    await Promise.allSettled(maintaining);
    if (!kept.store) await (await store?.catch(() => undefined))?.close();
  }

  /** One that was deleted since it was listed must not come back. */
  function maintainOne(name: string, options: MaintainOptions): Promise<MaintenanceReport> {
    const signal = signalOf(verbEntry('maintain'), [options]);
    return use(name, (memory) => memory.maintain(options), signal, true);
  }

  const all: Spaces = {
    get size() {
      return entries.size;
    },
    get residentBytes() {
      return residentBytes();
    },
    async get(space) {
      // Checked first, so that an invalid name closes no other space.
      checkOpenOptions({ ...opening, space });
      parseSpaceName(space);
      return use(space, async (memory) => ({
        ...whenever(memory, (work, signal) => use(space, work, signal)),
        activity: (...given) => follow(space, ...given),
      }));
    },
    async list() {
      if (closed) throw closedError();
      return (await theStore()).listSpaces();
    },
    delete: remove,
    async ready() {
      if (closed) throw closedError();
      const behind = await theStore();
      if (kept.readOnly) await behind.listSpaces();
      else await behind.ready?.();
    },
    async maintain(given = {}) {
      if (closed) throw closedError();
      const wanted = withInherited(given, MAINTAIN_OPTIONS);
      onlyKeys(wanted, MAINTAIN_OPTIONS, 'maintain');
      const own = { ...wanted };
      if (kept.readOnly) throw openedReadOnly();
      const clock = checkedClock(kept.clock ?? Date.now);
      const work = theStore().then((behind) => maintainSpaces(maintainOne, behind, clock, own));
      maintaining.add(work);
      return work.finally(() => maintaining.delete(work));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return all;
}

function closedError(): SalienceError {
  return new SalienceError('closed', 'the spaces are closed; open them again to use them');
}

async function openOne(
  name: string,
  options: Omit<OpenOptions, 'space'>,
  from: Promise<Store>,
  own: Pick<OpenSpaceOptions, 'room' | 'mustExist'>,
) {
  const store = await from;
  let opened: SpaceStore | undefined;
  const observed: Store = {
    listSpaces: () => store.listSpaces(),
    deleteSpace: (name) => store.deleteSpace(name),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
    async openSpace(space, given) {
      opened = await store.openSpace(space, { ...given, ...own });
      return opened;
    },
  };
  const memory = await openMemory({ ...options, space: name, store: observed });
  return { memory, store: opened as SpaceStore };
}

/**
 * Waits until a space is closed or no longer in use. Throws `too_many_spaces` after `timeout` milliseconds, and `aborted`
 * as soon as the signal aborts.
 */
async function somebodyLeaves(
  timeout: number,
  limits: { readonly spaces: number; readonly bytes: number },
  waiting: Set<() => void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  let wake = () => {};
  const left = new Promise<boolean>((resolve) => {
    wake = () => resolve(true);
    waiting.add(wake);
  });
  const limit = { milliseconds: Math.max(0, timeout), result: false };
  const hasLeft = await stoppable(() => left, signal, limit).finally(() => waiting.delete(wake));
  if (hasLeft) return;
  throw new SalienceError(
    'too_many_spaces',
    `all open spaces are in use, and no other can be opened (maxOpenSpaces ${limits.spaces}, maxResidentBytes ${limits.bytes}): try again when calls have ended, raise waitTimeout, or raise the limits together with "ulimit -n", at five descriptors a space`,
    { details: { maxOpenSpaces: limits.spaces, maxResidentBytes: limits.bytes } },
  );
}

/** Wraps each verb of a memory so that it runs through `use`, on the memory that is open at the time of the call. */
function whenever(
  memory: MemoryEngine,
  use: <Result>(
    work: (memory: MemoryEngine) => Promise<Result>,
    signal: AbortSignal | undefined,
  ) => Promise<Result>,
): MemoryEngine {
  type Verbs = Readonly<Record<string, (...given: readonly unknown[]) => Promise<unknown>>>;
  const verbs = VERB_NAMES.filter((name) => verbEntry(name).method === undefined).map((name) => [
    name,
    (...given: readonly unknown[]) =>
      use((open) => (open as unknown as Verbs)[name]!(...given), signalOf(verbEntry(name), given)),
  ]);
  // Closing is left to `Spaces`.
  const close = async () => {};
  return { ...memory, ...Object.fromEntries(verbs), close, [Symbol.asyncDispose]: close };
}

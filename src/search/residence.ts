import { inSlices, type Scheduler, type Slices, startSlices } from '../domain/slices.ts';
import { signalsOf } from '../scoring/signals.ts';
import type { Relations } from '../store/belief-state.ts';
import { overtaken } from '../store/moment.ts';
import { createQueue, turnWithin } from '../store/queue.ts';
import { joinedLinks } from '../store/reader.ts';
import { indexFailure, type Room, stillLoading, UNBOUNDED } from '../store/room.ts';
import type { IndexedRow, IndexRows, Position, WrittenRow } from '../store/rows.ts';
import type { OpenSpaceOptions, SpaceCore, SpaceStore, StoreSnapshot } from '../store/store.ts';
import { type RankedRows, type Ranking, withRanking } from '../store/with-ranking.ts';
import {
  conductInspection,
  conductSearch,
  conductVisibility,
  prepareSearch,
  type ResidentState,
} from './conduct.ts';
import { publishProgress } from './index-progress.ts';
import { createLinkCache, type LinkCache } from './link-cache.ts';
import { decodePages, decoding, encodePages, encoding, type PageParts, placesOfParts } from './pages.ts';
import { quantise } from './quantise.ts';
import { createRecentRows } from './recent-rows.ts';
import {
  bytesOfIndex,
  createResidentIndex,
  type IndexedMemory,
  needsCompaction,
  putMemory,
  putSignals,
  type ResidentIndex,
  removeMemory,
  signalsOfRow,
  turnOf,
} from './resident-index.ts';
import { bytesOfViews } from './view.ts';

/**
 * Adds ranking to a store: an index in memory that follows what any process writes. A store implements only the rest.
 */
export function withSearch(core: SpaceCore, { room }: Pick<OpenSpaceOptions, 'room'> = {}): SpaceStore {
  return withRanking(core, createResidence, createResidence(core.name), room);
}

/**
 * The resident index of one space in this process, and a cache of links. Both are brought up to date before each use.
 */
export interface Residence extends Ranking {
  /**
   * Returns the index as of a snapshot. Throws `overtaken` on a first attempt if the index is already ahead of the
   * snapshot. If an index is loaded whose codes another thread reads, `ahead` prepares the next search meanwhile.
   */
  refresh(rows: IndexRows, attempt?: number, room?: Room, ahead?: Ahead): Promise<Reflected>;
  /**
   * Whether the index was used since the last {@link Residence.written}: only then is it worth passing new memories to
   * it.
   */
  wantsWritten(): boolean;
  /** Passes new memories of this process, once they are committed, so that the index need not read them back. */
  written(memories: readonly NewMemory[]): void;
}

type Ahead = (state: Pick<ResidentState, 'index' | 'relations'>) => Promise<unknown>;

/** A new memory, ready to be added to the index. */
export interface NewMemory extends IndexedMemory {
  /** The sequence of the event that created it. */
  readonly sequence: number;
}

/** The index, and the last event and use that it has applied. */
export interface Reflected extends ResidentState {
  readonly position: Position;
}

/**
 * Saved pages are renewed once the log is this far ahead of them: 256 events and uses, or 5 % of all memories if that
 * is more.
 */
const MOST_EVENTS = 256;
const MOST_SHARE = 0.05;

/** From this many memories on, adding them takes long enough to report progress. */
const MANY = 1000;

/** Recalls of this process that are running now. */
let underWay = 0;

/** The expected size in the index of a memory with 20 to 60 words, until it is loaded. */
const EXPECTED_BYTES = 640;

export function createResidence(space: string, scheduler?: Scheduler): Residence {
  let held: { readonly index: ResidentIndex; readonly position: Position } | undefined;
  let version: unknown;
  let relations: Relations<number> = { successors: new Map(), newer: new Map() };
  // `undefined` is the version of no store: files of an older version have relations but no version of them yet.
  let relationsVersion: unknown;
  const links = createLinkCache();
  const recent = createRecentRows();
  // What this process wrote since the index was last brought up to date, by key.
  const fresh = new Map<number, NewMemory>();
  // Whether the index was used since `written` last kept something for it.
  let wasAsked = false;
  // Whether an index was dropped and no snapshot has reported it yet.
  let wasDropped = false;
  // Whether the saved pages cannot be read, because their layout is older or they are damaged.
  let unreadable = false;
  // Snapshots take turns, so that no other one updates the index while one ranks.
  const turns = createQueue();
  // How many of the running recalls are of this space.
  let mine = 0;
  // Recalls of this space wait for the index to load. Recalls of other spaces go first.
  const slices = () => startSlices({ scheduler, givesWay: () => underWay > mine });

  const refresh: Residence['refresh'] = async (rows, attempt = 2, room = UNBOUNDED, ahead) => {
    const now = await rows.version();
    let relationsNow: Relations<number> | undefined;
    wasAsked = true;
    if (held && version === now) return reflected(held, relations);
    let feed = held && (await rows.feed(held.position));
    if (held && !feed && attempt === 1 && (await rows.position()).sequence < held.position.sequence)
      throw overtaken(space);
    if (!held || !feed) {
      links.clear();
      recent.clear();
      // The next index takes over the room of this one.
      wasDropped ||= held !== undefined;
      held = undefined;
      const loaded = await load(space, rows, room, slices(), async (index) => {
        if (!ahead) return;
        relationsNow = await rows.relations();
        await ahead({ index, relations: relationsNow });
      });
      held = loaded;
      unreadable = loaded.unreadable;
      feed = await rows.feed(held.position);
    }
    if (!feed) throw overtaken(space);
    const { position } = feed;
    const { index } = held;
    links.forget(feed.linked);
    links.renew(feed.used);
    links.forget(feed.written.map(({ id }) => id));
    // Maintenance changes tiers by the thousand, but texts only of memories that become stubs.
    const beside = feed.written.filter(({ key, sameText }) => sameText && index.rowOfKey.has(key));
    const known = new Set(
      await refreshSignals(index, rows, [...new Set([...beside.map(({ id }) => id), ...feed.used])]),
    );
    recent.forget(feed.written.map(({ key }) => key));
    recent.forget(known);
    // A memory that was used may have been rewritten too. Its text is then read again all the same.
    const isKnown = new Set(beside.map(({ key }) => key).filter((key) => known.has(key)));
    const anew = feed.written.filter(({ key }) => !isKnown.has(key));
    const there = new Set(await putWritten(index, rows, anew, new Set(feed.used)));
    fresh.clear();
    for (const { key } of anew) {
      if (there.has(key)) continue;
      removeMemory(index, key);
      // No memory may contain its words any more, and the store may give their numbers to other words.
      index.vocabulary = undefined;
      // It is not known which memories it was linked with, so all cached links are dropped.
      links.clear();
      recent.clear();
    }
    held = { index: needsCompaction(index) ? (decodePages(encodePages(index)) ?? index) : index, position };
    if (feed.relations !== relationsVersion) relations = relationsNow ?? (await rows.relations());
    relationsVersion = feed.relations;
    version = now;
    const rebuilt = wasDropped;
    wasDropped = false;
    return reflected(held, relations, rebuilt);
  };

  return {
    refresh,
    bytes: () =>
      recent.bytes() +
      fresh.size * EXPECTED_BYTES +
      (held ? bytesOfIndex(held.index) + bytesOfViews(held.index) : 0),
    wantsWritten: () => wasAsked,
    written(memories) {
      if (memories.length === 0) return;
      wasAsked = false;
      for (const memory of memories) fresh.set(memory.key, memory);
    },
    forgotten() {
      recent.clear();
      fresh.clear();
    },
    over(rows, attempt, room) {
      underWay++;
      mine++;
      let ranked: Promise<{ readonly state: Reflected; free(): void }> | undefined;
      const state = async (ahead?: Ahead) => {
        ranked ??= inTurn(rows, attempt, room, ahead);
        return (await ranked).state;
      };
      return {
        async search(request) {
          const rest = [recent.over(rows), request, undefined, slices()] as const;
          // A view of another moment is not cached, so preparing it ahead would be for nothing.
          const ahead: Ahead | undefined =
            request.filter.validAt === undefined ? (loaded) => prepareSearch(loaded, ...rest) : undefined;
          return conductSearch(await state(ahead), ...rest);
        },
        inspect: async (ids, request) => conductInspection(await state(), recent.over(rows), ids, request),
        visible: async (ids, request) => conductVisibility(await state(), recent.over(rows), ids, request),
        // Reading links alone need not wait for the index.
        links: async (ids, minimum = 0, sequence = true) =>
          ranked
            ? linksBy((await state()) && links, rows, ids, minimum, sequence)
            : joinedLinks(await rows.storedLinks(ids), sequence ? await rows.neighbours(ids) : [], minimum),
        end() {
          underWay--;
          mine--;
          ranked?.then(({ free }) => free()).catch(() => undefined);
        },
      } satisfies RankedRows;
    },
    async save(core) {
      if (!core.savePages) return;
      try {
        const saved = await core.snapshot((rows) => savable(rows));
        if (!saved) return;
        await core.savePages(saved.parts, saved.position);
        unreadable = false;
      } catch {
        // The pages are only a cache. The store may be in use, or full; the next process then builds the index from the
        // rows.
      }
    },
  };

  /**
   * Adds written memories to the index. Memories that this process wrote, and nobody changed or used since, are added
   * directly; the rest are read from the store. Returns the keys of the memories that exist.
   */
  async function putWritten(
    index: ResidentIndex,
    rows: IndexRows,
    written: readonly WrittenRow[],
    used: ReadonlySet<string>,
  ): Promise<readonly number[]> {
    const pause = slices();
    const [there, unread]: [number[], number[]] = [[], []];
    for (const { key, id, sequence } of written) {
      const known = used.has(id) ? undefined : fresh.get(key);
      if (known && known.sequence === sequence) {
        putMemory(index, known);
        if (there.push(key) % ROWS_BETWEEN === 0) await pause();
      } else {
        unread.push(key);
      }
    }
    if (unread.length === 0) return there;
    const { length } = unread;
    const tell = length < MANY ? () => {} : (done: number) => publishProgress(space, done, length);
    tell(0);
    const read = await putRows(index, rows, unread, async (done) => {
      tell(Math.min(done, length - 1));
      await pause();
    });
    tell(length);
    return [...there, ...read];
  }

  /**
   * Waits for a turn. Returns a function that ends it; a turn of a snapshot with `apart` ends with the snapshot. Throws
   * `store_busy` if none was free within `milliseconds`.
   */
  async function turnOf({ apart }: IndexRows, milliseconds: number): Promise<() => void> {
    const wait = async () => {
      const free = await turnWithin(turns, milliseconds);
      if (!free) throw stillLoading(space, milliseconds);
      return free;
    };
    if (!apart) return wait();
    await apart.turn(turns.take, wait);
    return () => {};
  }

  /**
   * Takes a turn and returns the index as of a snapshot, with a function that ends the turn. The first call loads the
   * index; later ones find it loaded.
   */
  async function inTurn(rows: StoreSnapshot, attempt: number, room: Room, ahead?: Ahead) {
    const free = await turnOf(rows, room.waitTimeout);
    try {
      return { state: await refresh(rows, attempt, room, ahead), free };
    } catch (error) {
      free();
      throw indexFailure(space, error);
    }
  }

  /** Returns the pages to save if the saved ones are unreadable or too far behind, else `undefined`. */
  async function savable(rows: StoreSnapshot) {
    // Takes the turn within the snapshot, as recalls do. In a store that opens one snapshot at a time, the other order
    // would deadlock.
    const free = await turnOf(rows, UNBOUNDED.waitTimeout);
    try {
      const [now, saved] = [await rows.position(), await rows.pages()];
      const before = saved?.position ?? { sequence: 0, usage: 0 };
      const behind = now.sequence - before.sequence + now.usage - before.usage;
      if (!unreadable && behind < Math.max(MOST_EVENTS, (await rows.size()) * MOST_SHARE)) return undefined;
      const { index, position } = await refresh(rows);
      return { parts: await inSlices(encoding(index), slices()), position };
    } finally {
      free();
    }
  }
}

function reflected(
  { index, position }: { readonly index: ResidentIndex; readonly position: Position },
  relations: Relations<number>,
  rebuilt = false,
): Reflected {
  return { index, relations, position, sequence: position.sequence, rebuilt };
}

/**
 * Loads the index from the saved pages, or builds it from all rows. Room is taken before loading, and as the index
 * grows.
 */
async function load(
  space: string,
  rows: IndexRows,
  room: Room,
  slices: Slices,
  /** Called with the decoded index while another thread reads its codes. */
  meanwhile: (index: ResidentIndex) => Promise<void>,
): Promise<{ readonly index: ResidentIndex; readonly position: Position; readonly unreadable: boolean }> {
  const take = (bytes: number) => takeRoom(rows, room, bytes);
  const saved = await rows.pages();
  if (saved) {
    await take(saved.bytes);
    const places = placesOfParts();
    const decode = async (parts: PageParts) => {
      const index = await inSlices(decoding(parts, places), slices);
      // If this fails, so will the search, which reports why.
      if (index && places.areShared()) await meanwhile(index).catch(() => undefined);
      return index;
    };
    const index = await saved.load(slices, places.place, decode);
    if (index) {
      await take(bytesOfIndex(index));
      return { index, position: saved.position, unreadable: false };
    }
  }
  const index = createResidentIndex();
  const position = await rows.position();
  const size = await rows.size();
  let taken = size * EXPECTED_BYTES;
  await take(taken);
  publishProgress(space, 0, size);
  await putRows(index, rows, undefined, async (done) => {
    publishProgress(space, Math.min(done, size - 1), size);
    const bytes = bytesOfIndex(index);
    if (bytes > taken) {
      // Arrays grow by doubling, so this takes more than the current size.
      taken = bytes * 1.25;
      await take(taken);
    }
    await slices();
  });
  await take(bytesOfIndex(index));
  publishProgress(space, size, size);
  return { index, position, unreadable: saved !== undefined };
}

/**
 * Takes room for the index. Waits outside the snapshot where possible: spaces that must be closed for it may need what
 * the snapshot holds.
 */
async function takeRoom({ apart }: IndexRows, room: Room, bytes: number): Promise<void> {
  const take = () => room.take(bytes);
  if (!apart || !room.takeNow) await take();
  else if (!room.takeNow(bytes)) await apart.wait(take);
}

/** How many rows are added before other work may run. */
const ROWS_BETWEEN = 8;

/** Adds memories to the index, all by default. Returns the keys of those that exist. */
async function putRows(
  index: ResidentIndex,
  rows: IndexRows,
  wanted?: readonly number[],
  /** Called after every few rows with the number of rows so far. */
  between?: (done: number) => Promise<void> | undefined,
): Promise<readonly number[]> {
  const keys: number[] = [];
  for await (const batch of rows.indexed(wanted)) {
    for (const row of batch) {
      putRow(index, row);
      if (keys.push(row.key) % ROWS_BETWEEN === 0) await between?.(keys.length);
    }
  }
  return keys;
}

function putRow(index: ResidentIndex, row: IndexedRow): void {
  putMemory(index, indexedMemory(row));
}

function indexedMemory({ key, memory, termIds, termCounts, vector }: IndexedRow): IndexedMemory {
  return {
    key,
    ordinal: memory.ordinal,
    signals: signalsOf(memory),
    tags: memory.tags,
    turn: turnOf(memory),
    termIds,
    termCounts,
    vector,
  };
}

/** Prepares a memory that is being written for {@link Residence.written}, so that the slow part is done early. */
export function newMemory(row: IndexedRow, sequence: number): NewMemory {
  const { vector } = row;
  return { ...indexedMemory(row), vector: vector && quantise(vector), sequence };
}

/**
 * Updates everything but the text of memories; returns the keys of those that exist. A use does not change the text,
 * and so neither terms nor vector. Only stubs have none of these in the index, so a memory that becomes one, or was
 * one, is read again.
 */
async function refreshSignals(
  index: ResidentIndex,
  rows: IndexRows,
  ids: readonly string[],
): Promise<readonly number[]> {
  if (ids.length === 0) return [];
  const keys = (await rows.keysOf(ids)).filter((key) => key !== undefined);
  const records = await rows.records(keys);
  const anew: number[] = [];
  for (const [at, memory] of records.entries()) {
    const key = keys[at]!;
    const row = index.rowOfKey.get(key);
    const wasStub = row !== undefined && signalsOfRow(index, row).tier === 'stub';
    if (row !== undefined && wasStub === (memory.tier === 'stub')) {
      putSignals(index, key, signalsOf(memory));
    } else {
      anew.push(key);
    }
  }
  if (anew.length > 0) await putRows(index, rows, anew);
  return keys;
}

async function linksBy(
  cache: LinkCache,
  rows: StoreSnapshot,
  ids: readonly string[],
  minimum: number,
  sequence: boolean,
) {
  const { stored, beside } = await cache.read(rows, ids, sequence);
  return joinedLinks(stored, beside, minimum);
}

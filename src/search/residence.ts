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
import { conductInspection, conductSearch, conductVisibility, type ResidentState } from './conduct.ts';
import { publishProgress } from './index-progress.ts';
import { createLinkCache, type LinkCache } from './link-cache.ts';
import { decodePages, decoding, encodePages, encoding, placesOfParts } from './pages.ts';
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

/** A space that is ranked by an index in memory, which follows what any process writes: all that a store must not do itself. */
export function withSearch(core: SpaceCore, { room }: Pick<OpenSpaceOptions, 'room'> = {}): SpaceStore {
  return withRanking(core, createResidence, createResidence(core.name), room);
}

/** The index of one space in this process, and the links that were looked at: caches, brought up to date before each use. */
export interface Residence extends Ranking {
  /** The index as of a snapshot. Throws `overtaken` on a first attempt when it reflects a later moment already. */
  refresh(rows: IndexRows, attempt?: number, room?: Room): Promise<Reflected>;
  /** Whether the index was asked since {@link Residence.written}, so that what is written now is worth keeping for it. */
  wantsWritten(): boolean;
  /** New memories of this process, once they are committed: taking them in need not read them then. */
  written(memories: readonly NewMemory[]): void;
}

/** A new memory as the index takes it in. */
export interface NewMemory extends IndexedMemory {
  /** Of the event that made it. */
  readonly sequence: number;
}

/** The index, and the last event and use that it reflects. */
export interface Reflected extends ResidentState {
  readonly position: Position;
}

/** Events and uses that opening a space may have to take in one by one, at least and as a share of all memories. */
const MOST_EVENTS = 256;
const MOST_SHARE = 0.05;

/** From so many memories on, taking them in lasts long enough to report progress. */
const MANY = 1000;

/** Recalls of this process that are under way. */
let underWay = 0;

/** Of a memory in the index, until it is in there: what one of 20 to 60 words takes. */
const EXPECTED_BYTES = 640;

export function createResidence(space: string, scheduler?: Scheduler): Residence {
  let held: { readonly index: ResidentIndex; readonly position: Position } | undefined;
  let version: unknown;
  let relations: Relations<number> = { successors: new Map(), newer: new Map() };
  // Of no store: what an older version left has relations, and no version of them yet.
  let relationsVersion: unknown;
  const links = createLinkCache();
  const recent = createRecentRows();
  // What this process wrote since the index was brought up to date, by key.
  const fresh = new Map<number, NewMemory>();
  // Since something was written that was kept for it.
  let wasAsked = false;
  // An index was dropped, and no snapshot was told yet.
  let wasDropped = false;
  // The pages there are cannot be read: their layout is an older one, or they are damaged.
  let unreadable = false;
  // A snapshot ranks by what no other one brings up to date meanwhile.
  const turns = createQueue();
  // Of the recalls that are under way, those of this space.
  let mine = 0;
  // Recalls of this space wait for it to be loaded; those of others go first.
  const slices = () => startSlices({ scheduler, givesWay: () => underWay > mine });

  const refresh: Residence['refresh'] = async (rows, attempt = 2, room = UNBOUNDED) => {
    const now = await rows.version();
    wasAsked = true;
    if (held && version === now) return reflected(held, relations);
    let feed = held && (await rows.feed(held.position));
    if (held && !feed && attempt === 1 && (await rows.position()).sequence < held.position.sequence)
      throw overtaken(space);
    if (!held || !feed) {
      links.clear();
      recent.clear();
      // Its room is that of the next one.
      wasDropped ||= held !== undefined;
      held = undefined;
      const loaded = await load(space, rows, room, slices());
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
    // Maintenance changes tiers by the thousand, and texts only of what becomes a stub.
    const beside = feed.written.filter(({ key, sameText }) => sameText && index.rowOfKey.has(key));
    const known = new Set(
      await refreshSignals(index, rows, [...new Set([...beside.map(({ id }) => id), ...feed.used])]),
    );
    recent.forget(feed.written.map(({ key }) => key));
    recent.forget(known);
    // What was used may have been rewritten too: its text is taken in anew all the same.
    const isKnown = new Set(beside.map(({ key }) => key).filter((key) => known.has(key)));
    const anew = feed.written.filter(({ key }) => !isKnown.has(key));
    const there = new Set(await putWritten(index, rows, anew, new Set(feed.used)));
    fresh.clear();
    for (const { key } of anew) {
      if (there.has(key)) continue;
      removeMemory(index, key);
      // Its words may be nowhere any more, and their numbers given to others.
      index.vocabulary = undefined;
      // The memories that it was linked with are not known any more.
      links.clear();
      recent.clear();
    }
    held = { index: needsCompaction(index) ? (decodePages(encodePages(index)) ?? index) : index, position };
    if (feed.relations !== relationsVersion) relations = await rows.relations();
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
      const state = async () => {
        ranked ??= inTurn(rows, attempt, room);
        return (await ranked).state;
      };
      return {
        search: async (request) =>
          conductSearch(await state(), recent.over(rows), request, undefined, slices()),
        inspect: async (ids, request) => conductInspection(await state(), recent.over(rows), ids, request),
        visible: async (ids, request) => conductVisibility(await state(), recent.over(rows), ids, request),
        // Whoever only looks at links need not wait for an index.
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
        // It is a cache: the store is in use, or full. The next process builds the index from the rows.
      }
    },
  };

  /**
   * Takes in what was written: what this process wrote, and nobody wrote to or used since, as it is, and the rest from its
   * rows. Returns the keys of those that there are.
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

  /** A turn, until it is set free, or until the snapshot is over. Throws `store_busy` where it did not come in time. */
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

  /** The index as of a snapshot, until it is set free. One call loads it; the others find it loaded when their turn comes. */
  async function inTurn(rows: StoreSnapshot, attempt: number, room: Room) {
    const free = await turnOf(rows, room.waitTimeout);
    try {
      return { state: await refresh(rows, attempt, room), free };
    } catch (error) {
      free();
      throw indexFailure(space, error);
    }
  }

  /** What to save, when what was saved last has fallen behind, or was of no use. */
  async function savable(rows: StoreSnapshot) {
    // Within the snapshot, as recalls do: where a store reads one snapshot after the other, the other order waits for itself.
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

/** The index from the saved pages, or made of all rows. Its room is taken before it is loaded, and as it grows beyond that. */
async function load(
  space: string,
  rows: IndexRows,
  room: Room,
  slices: Slices,
): Promise<{ readonly index: ResidentIndex; readonly position: Position; readonly unreadable: boolean }> {
  const take = (bytes: number) => takeRoom(rows, room, bytes);
  const saved = await rows.pages();
  if (saved) {
    await take(saved.bytes);
    const places = placesOfParts();
    const parts = await saved.parts(slices, places.place);
    const index = parts && (await inSlices(decoding(parts, places), slices));
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
      // More than it has by now: its arrays grow by doubling.
      taken = bytes * 1.25;
      await take(taken);
    }
    await slices();
  });
  await take(bytesOfIndex(index));
  publishProgress(space, size, size);
  return { index, position, unreadable: saved !== undefined };
}

/** Whoever has to leave for it may need what a snapshot holds. */
async function takeRoom({ apart }: IndexRows, room: Room, bytes: number): Promise<void> {
  const take = () => room.take(bytes);
  if (!apart || !room.takeNow) await take();
  else if (!room.takeNow(bytes)) await apart.wait(take);
}

/** Rows that are taken in before others may go on. */
const ROWS_BETWEEN = 8;

/** Takes in memories, all by default; returns the keys of those that there are. */
async function putRows(
  index: ResidentIndex,
  rows: IndexRows,
  wanted?: readonly number[],
  /** Called after every few, with how many there were. */
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

/** What becomes of a memory that is being written, for {@link Residence.written}: whatever of it takes time. */
export function newMemory(row: IndexedRow, sequence: number): NewMemory {
  const { vector } = row;
  return { ...indexedMemory(row), vector: vector && quantise(vector), sequence };
}

/**
 * Takes in what memories are beside their text; returns the keys of those that there are. A use leaves the text alone, and with it terms
 * and vector; only a stub has none of them in the index.
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

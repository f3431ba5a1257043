import { describe, expect, it } from 'vitest';
import { atOnce, type Scheduler, startSlices } from '../domain/slices.ts';
import { resolveProfile } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile } from '../scoring/score.ts';
import type { Room } from '../store/room.ts';
import type { IndexRows, SavedPages } from '../store/rows.ts';
import { snapshotOfState } from '../store/state-rows.ts';
import { coreOfState, keepSpace } from '../store/state-space.ts';
import type { SearchRequest, SpaceCore, StoreSnapshot } from '../store/store.ts';
import { withRanking } from '../store/with-ranking.ts';
import { gate } from '../testing/gate.ts';
import { insert, searchIn, start, write } from '../testing/store-contract/harness.ts';
import { conductSearch } from './conduct.ts';
import { decoding, encodePages, placesOfParts } from './pages.ts';
import { createResidence, withSearch } from './residence.ts';

const request: SearchRequest = {
  profile: resolveProfile(builtinProfile('bm25')),
  query: { terms: ['content'] },
  filter: {},
  now: start,
  limit: 10,
};

/** A core whose snapshots read some things in another way. */
function withRows(core: SpaceCore, change: (rows: StoreSnapshot) => Partial<StoreSnapshot>): SpaceCore {
  return { ...core, snapshot: (work) => core.snapshot((rows) => work({ ...rows, ...change(rows) })) };
}

/** A space of so many memories, whose loading calls `before`. */
async function cold(count: number, before: () => Promise<void> = async () => {}) {
  const kept = keepSpace('alice');
  const core = coreOfState(kept);
  await write(
    withSearch(core),
    Array.from({ length: count }, (_, at) =>
      insert({ id: `m${at}`, tags: ['t'], bornIn: `s${at}` }, [1, 0, 0]),
    ),
  );
  let loads = 0;
  const observed = withRows(core, (rows) => ({
    async *indexed(keys) {
      if (keys === undefined) {
        loads++;
        await before();
      }
      yield* rows.indexed(keys);
    },
  }));
  return {
    core: observed,
    loads: () => loads,
    rows: (): IndexRows => snapshotOfState(kept.state, kept.numbers),
  };
}

describe('loading an index', () => {
  it('happens once, however many wait for it', async () => {
    const { open, opened } = gate();
    const { core, loads } = await cold(20, () => opened);
    const space = withSearch(core);
    const asked = Array.from({ length: 5 }, () => searchIn(space, request));
    open();
    expect((await Promise.all(asked)).map(({ hits }) => hits.length)).toEqual([10, 10, 10, 10, 10]);
    expect(loads()).toBe(1);
  });

  it('is waited for no longer than is said; afterwards it serves', async () => {
    const { open, opened } = gate();
    const { core, loads } = await cold(20, () => opened);
    const space = withSearch(core, { room: { take: async () => {}, waitTimeout: 1 } });
    const first = searchIn(space, request);
    await expect(searchIn(space, request)).rejects.toMatchObject({
      code: 'store_busy',
      message: expect.stringContaining('raise waitTimeout'),
    });
    open();
    expect((await first).hits).toHaveLength(10);
    expect((await searchIn(space, request)).hits).toHaveLength(10);
    expect(loads()).toBe(1);
  });

  it('begins when there is room for it, and takes more as it needs more', async () => {
    const seen: string[] = [];
    const { core } = await cold(100, async () => void seen.push('load'));
    const taken: number[] = [];
    const room: Room = {
      waitTimeout: 1000,
      async take(bytes) {
        seen.push('take');
        taken.push(bytes);
      },
    };
    const space = withSearch(core, { room });
    await searchIn(space, request);
    expect(seen.slice(0, 2)).toEqual(['take', 'load']);
    expect(taken[0]).toBe(100 * 640);
    // Few memories in many sessions take more than was expected.
    expect(taken.at(-1)).toBeGreaterThan(100 * 640);
    expect(taken.at(-1)).toBeLessThanOrEqual(space.residentBytes());
  });

  it('of what there is no room for is refused before anything is read', async () => {
    const { core, loads } = await cold(100);
    const refusing: Room = { waitTimeout: 1, take: () => Promise.reject(new Error('no room')) };
    await expect(searchIn(withSearch(core, { room: refusing }), request)).rejects.toThrow('no room');
    expect(loads()).toBe(0);
  });

  it('for which the process gets no memory says so, and goes on once there is some', async () => {
    let bytes = Number.MAX_SAFE_INTEGER;
    const { core } = await cold(20, async () => void new ArrayBuffer(bytes));
    const space = withSearch(core);
    const failure = await searchIn(space, request).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'space_too_large',
      message: expect.stringMatching(/^the index of space "alice" needs more memory .*ulimit -v/),
      details: { space: 'alice' },
      cause: expect.any(RangeError),
    });
    bytes = 1;
    expect((await searchIn(space, request)).hits).toHaveLength(10);
    const other = new RangeError('mine');
    const { core: failing } = await cold(20, () => Promise.reject(other));
    await expect(searchIn(withSearch(failing), request)).rejects.toBe(other);
  });

  it.each(['rows', 'pages'])(
    'from %s pauses again and again, so that nothing else waits long',
    async (from) => {
      const { rows } = await cold(2500);
      const { index, position } = await createResidence('alice').refresh(rows());
      let now = 0;
      const slices: number[] = [];
      let last = 0;
      // Each look at the clock finds it a millisecond later.
      const scheduler: Scheduler = {
        now: () => now++,
        async pause() {
          slices.push(now - last);
          last = now;
        },
      };
      const parts = encodePages(index);
      const pages: SavedPages = { position, bytes: 1, load: (_pause, _place, decode) => decode(parts) };
      const again = await createResidence('alice', scheduler).refresh({
        ...rows(),
        pages: () => (from === 'pages' ? pages : undefined),
      });
      expect(encodePages(again.index)).toEqual(parts);
      // 2,500 rows in pieces of 8, a look at the clock for each; 2,048 rows or terms of pages, for each of their passes.
      expect(slices.length).toBeGreaterThan(from === 'rows' ? 5 : 0);
      expect(Math.max(...slices)).toBeLessThanOrEqual(10);
    },
  );

  it('reads codes straight to where the kernel finds them', async () => {
    const { rows } = await cold(20);
    const { index } = await createResidence('alice').refresh(rows());
    const places = placesOfParts();
    const parts = new Map<string, Uint8Array>();
    for (const [name, bytes] of encodePages(index)) {
      const room = places.place(name, bytes.length);
      room.set(bytes);
      parts.set(name, room);
    }
    const decoded = atOnce(decoding(parts, places));
    expect(decoded?.codes?.view(0, 20).buffer).toBe(parts.get('codes')?.buffer);
    expect(encodePages(decoded!)).toEqual(encodePages(index));
  });

  /**
   * A space whose saved index has codes that another thread may read, and the steps in which it is read and asked.
   * Looking up words fails as often as `failures` says.
   */
  async function readAside({ areShared = true, failures = 0 } = {}) {
    const { core, rows } = await cold(300);
    const { index, position } = await createResidence('alice').refresh(rows());
    const saved = encodePages(index);
    const steps: string[] = [];
    const pages: SavedPages = {
      position,
      bytes: 1,
      async load(_, place, decode) {
        const parts = new Map<string, Uint8Array>();
        for (const [name, bytes] of saved) {
          const part = place(name, bytes.length, areShared && name === 'codes');
          if (name !== 'codes') part.set(bytes);
          parts.set(name, part);
        }
        const decoded = await decode(parts);
        steps.push('codes');
        parts.get('codes')?.set(saved.get('codes')!);
        return decoded;
      },
    };
    const noting =
      <Given extends unknown[], Result>(step: string, read: (...given: Given) => Result) =>
      (...given: Given) => {
        steps.push(step);
        return read(...given);
      };
    const observed = withRows(core, (rows) => ({
      pages: () => pages,
      termIds: noting('words', (terms) => {
        if (failures-- > 0) throw new Error('no words');
        return rows.termIds(terms);
      }),
      relations: noting('relations', rows.relations),
    }));
    return { core, observed, steps };
  }

  it('prepares the search that waits for it while another thread reads the codes', async () => {
    const { core, observed, steps } = await readAside();
    const profile = resolveProfile(builtinProfile('hybrid'));
    for (const filter of [{}, { tags: ['t'] }]) {
      steps.length = 0;
      const query = { terms: ['content'], vector: Float32Array.of(1, 0, 0) };
      const asked = { ...request, profile, query, filter };
      const found = await searchIn(withRanking(observed, createResidence), asked);
      expect(found.hits).toEqual((await searchIn(withSearch(core), asked)).hits);
      expect(steps).toEqual(['relations', 'words', 'codes']);
    }
  });

  it('prepares nothing while it reads the codes itself', async () => {
    const { observed, steps } = await readAside({ areShared: false });
    await searchIn(withRanking(observed, createResidence), request);
    expect(steps).toEqual(['codes', 'relations', 'words']);
  });

  it('prepares nothing for another moment, of which no view is kept', async () => {
    const { observed, steps } = await readAside();
    await searchIn(withRanking(observed, createResidence), { ...request, filter: { validAt: start } });
    expect(steps).toEqual(['codes', 'relations', 'words']);
  });

  it('is loaded even if preparing the search that waits for it fails', async () => {
    const { observed, steps } = await readAside({ failures: 2 });
    const space = withRanking(observed, createResidence);
    await expect(searchIn(space, request)).rejects.toThrow('no words');
    expect((await searchIn(space, request)).hits).toHaveLength(10);
    expect(steps.filter((step) => step === 'codes')).toHaveLength(1);
  });

  it('rests while recalls of other spaces are under way, not for those that wait for it', async () => {
    const { core } = await cold(500);
    const rests: boolean[] = [];
    let now = 0;
    const scheduler: Scheduler = {
      now: () => now++,
      async pause(isRest) {
        rests.push(isRest);
      },
    };
    /** Whether loading rested, of all its pauses. */
    const rested = async (recalls: number) => {
      rests.length = 0;
      const space = withRanking(core, createResidence, createResidence('alice', scheduler));
      await Promise.all(Array.from({ length: recalls }, () => searchIn(space, request)));
      return [...new Set(rests)];
    };
    expect(await rested(3)).toEqual([false]);
    const [begun, goesOn] = [gate(), gate()];
    const other = await cold(20, () => {
      begun.open();
      return goesOn.opened;
    });
    const waiting = searchIn(withSearch(other.core), request);
    await begun.opened;
    expect(await rested(1)).toEqual([true]);
    goesOn.open();
    await waiting;
    expect(await rested(1)).toEqual([false]);
  });

  /** Little of the score, so that rows have no levels; never accessed, so that its age is unknown. */
  const rarelyUsed = defineProfile({
    name: 'rarely-used',
    description: 'Similarity, and a little of when a memory was last used.',
    score: {
      op: 'sum',
      terms: [
        { weight: 0.9, of: { op: 'signal', name: 'similarity' } },
        {
          weight: 0.1,
          of: { op: 'decay', age: { op: 'age', of: 'lastAccessedAt' }, halfLife: 30, missing: 0.5 },
        },
      ],
    },
  });

  it.each([
    ['levels', builtinProfile('lexical')],
    ['an unknown age', rarelyUsed],
  ])(
    'leaves what a first recall makes of every row for %s in pieces, too: a second finds it made, and answers the same',
    async (_, definition) => {
      const { rows } = await cold(5000);
      const state = await createResidence('alice').refresh(rows());
      let now = 0;
      let pauses = 0;
      const scheduler: Scheduler = {
        now: () => now++,
        async pause() {
          pauses++;
        },
      };
      const profile = resolveProfile(definition);
      const recall = () =>
        conductSearch(state, rows(), { ...request, profile }, undefined, startSlices({ scheduler }));
      const first = await recall();
      // Five blocks of rows, a look at the clock after each.
      expect(pauses).toBeGreaterThan(1);
      pauses = 0;
      expect((await recall()).hits).toEqual(first.hits);
      expect(pauses).toBe(0);
    },
  );
});

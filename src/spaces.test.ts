import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LONGEST_CLOSE } from './engine/engine.ts';
import { type MemoryEngine, openMemory, openSpaces, type SpacesOptions } from './index.ts';
import type { SpaceStore, Store } from './store/store.ts';
import { gate } from './testing/gate.ts';
import { createReferenceStore } from './testing/reference-store/index.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-spaces-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Spaces in memory, with what was opened and closed written down; each open one takes as many bytes as is said. */
function watched(options: Partial<SpacesOptions> = {}, bytes: (space: string) => number = () => 0) {
  const store = createReferenceStore();
  const seen: string[] = [];
  const watching: Store = {
    ...store,
    async openSpace(name, given) {
      const space: SpaceStore = await store.openSpace(name, given);
      seen.push(`open ${name}`);
      return {
        ...space,
        residentBytes: () => bytes(name),
        async close() {
          seen.push(`close ${name}`);
          await space.close();
        },
      };
    },
  };
  const spaces = openSpaces({ path: 'watched', store: watching, embedder: 'none', ...options });
  return { spaces, seen, store };
}

async function nothing(texts: readonly string[]) {
  return texts.map(() => new Float32Array([1]));
}

/** An embedder that waits to be let go on. */
function held() {
  const [started, released] = [gate(), gate()];
  const embedder: SpacesOptions['embedder'] = {
    model: 'held-1',
    dimensions: 1,
    calibration: { floor: 0, ceiling: 1 },
    thresholds: { conflict: 0.9, birthLink: 0.9, consolidation: 0.9, similarPair: 0.9 },
    async embed(texts) {
      started.open();
      await released.opened;
      return texts.map(() => new Float32Array([1]));
    },
  };
  return { embedder, release: released.open, started: started.opened };
}

test.each([
  ['in memory', () => watched().spaces],
  ['on disk', () => openSpaces({ path: directory, embedder: 'none' })],
])('a cursor of a space that was deleted is none of the new space of that name, %s', async (_, open) => {
  await using spaces = open();
  const write = async (count: number) => {
    const memory = await spaces.get('alice');
    await memory.rememberMany(Array.from({ length: count }, (_, at) => ({ content: `Statement ${at}` })));
    return memory;
  };
  const options = { sort: 'inserted', limit: 2 } as const;
  const { nextCursor: cursor } = await (await write(3)).list(options);
  expect((await (await write(1)).list({ ...options, cursor })).memories).toHaveLength(1);
  await spaces.delete('alice');
  const another = await write(3);
  await expect(another.list({ ...options, cursor })).rejects.toMatchObject({
    code: 'invalid_argument',
    details: { field: 'cursor' },
  });
});

test('the space that was idle longest is closed, and opens again by itself', async () => {
  const { spaces, seen } = watched({ maxOpenSpaces: 2 });
  const alice = await spaces.get('alice');
  await alice.remember('Prefers tea', { id: 'tea' });
  const bob = await spaces.get('bob');
  await bob.remember('Prefers coffee', { id: 'coffee' });
  await alice.get('tea');
  await spaces.get('carol');
  expect(seen).toEqual(['open alice', 'open bob', 'close bob', 'open carol']);
  expect(spaces.size).toBe(2);
  expect(await bob.get('coffee')).toMatchObject({ content: 'Prefers coffee', space: 'bob' });
  expect(await bob.get('tea')).toBeUndefined();
  expect(await alice.get('tea')).toMatchObject({ content: 'Prefers tea', space: 'alice' });
  expect(seen.slice(4)).toEqual(['close alice', 'open bob', 'close carol', 'open alice']);
  await spaces.close();
});

test('spaces are also closed by the bytes that they take, but never the one used last', async () => {
  const { spaces, seen } = watched({ maxResidentBytes: 100 }, (name) => (name === 'large' ? 500 : 40));
  await spaces.get('a');
  await spaces.get('b');
  expect([spaces.size, spaces.residentBytes]).toEqual([2, 80]);
  await spaces.get('c');
  expect([spaces.size, spaces.residentBytes]).toEqual([2, 80]);
  await spaces.get('large');
  expect([spaces.size, spaces.residentBytes]).toEqual([1, 500]);
  await spaces.get('a');
  expect([spaces.size, spaces.residentBytes]).toEqual([1, 40]);
  expect(seen.filter((each) => each.startsWith('close'))).toEqual([
    'close a',
    'close b',
    'close c',
    'close large',
  ]);
  await spaces.close();
});

describe('room for indexes', () => {
  const remembered = async (spaces: ReturnType<typeof openSpaces>, name: string, count: number) => {
    const memory = await spaces.get(name);
    await memory.rememberMany(Array.from({ length: count }, (_, at) => ({ content: `Prefers tea ${at}` })));
    return memory;
  };

  test('a space that needs more than there is is refused, and says what to raise; others go on', async () => {
    const spaces = openSpaces({ path: directory, embedder: 'none', maxResidentBytes: 40_000 });
    const large = await remembered(spaces, 'large', 300);
    const small = await remembered(spaces, 'small', 3);
    await expect(large.recall('tea')).rejects.toMatchObject({
      code: 'space_too_large',
      message: expect.stringMatching(/raise maxResidentBytes/),
      details: { space: 'large', maxResidentBytes: 40_000 },
    });
    expect((await small.recall('tea')).hits.length).toBeGreaterThan(0);
    expect((await large.list({ limit: 1 })).memories).toHaveLength(1);
    await spaces.close();
  });

  test('what is idle leaves before another index is loaded', async () => {
    const spaces = openSpaces({ path: directory, embedder: 'none', maxResidentBytes: 60_000 });
    const names = ['a', 'b', 'c'];
    const memories = await Promise.all(names.map((name) => remembered(spaces, name, 50)));
    for (const memory of memories) {
      expect((await memory.recall('tea')).hits.length).toBeGreaterThan(0);
      expect(spaces.residentBytes).toBeLessThanOrEqual(60_000);
    }
    expect(spaces.size).toBeLessThan(3);
    await spaces.close();
  });
});

test('room that one space has taken is not given to another while the first is in use', async () => {
  const { embedder, release, started } = held();
  const store = createReferenceStore();
  const seen: string[] = [];
  const taking: Store = {
    ...store,
    async openSpace(name, given) {
      seen.push(`ask for ${name}`);
      await given?.room?.take(600);
      seen.push(`open ${name} of ${spaces.residentBytes}`);
      const space: SpaceStore = await store.openSpace(name, given);
      return { ...space, residentBytes: () => 600 };
    },
  };
  const spaces = openSpaces({ path: 'taking', store: taking, embedder, maxResidentBytes: 1000 });
  const writing = (await spaces.get('alice')).remember('Prefers tea');
  await started;
  const bob = spaces.get('bob');
  for (let turn = 0; turn < 50; turn++) await setImmediate();
  expect(seen).toEqual(['ask for alice', 'open alice of 600', 'ask for bob']);
  expect(spaces.residentBytes).toBe(600);
  release();
  await writing;
  await bob;
  expect(seen.at(-1)).toBe('open bob of 600');
  expect(spaces.residentBytes).toBe(600);
  await spaces.close();
});

test('a space that takes more room counts by what it took last, and takes none where there is too little', async () => {
  const store = createReferenceStore();
  const taken: unknown[] = [];
  const taking: Store = {
    ...store,
    async openSpace(name, given) {
      await given?.room?.take(600);
      await given?.room?.take(900);
      for (const bytes of [1001, 1000]) taken.push(given?.room?.takeNow?.(bytes));
      return store.openSpace(name, given);
    },
  };
  const limits = { maxResidentBytes: 1000, waitTimeout: 0 };
  const spaces = openSpaces({ path: 'taking', store: taking, embedder: 'none', ...limits });
  expect((await spaces.get('alice')).space).toBe('alice');
  expect(taken).toEqual([false, true]);
  await spaces.close();
});

test('a space in use is not closed: another one is refused, and the message says what to do', async () => {
  const { embedder, release, started } = held();
  const { spaces, seen } = watched({ embedder, maxOpenSpaces: 1, waitTimeout: 0 });
  const alice = await spaces.get('alice');
  const writing = alice.remember('Prefers tea', { id: 'tea' });
  await started;
  await expect(spaces.get('bob')).rejects.toMatchObject({
    code: 'too_many_spaces',
    message: expect.stringMatching(/maxOpenSpaces 1,.*raise.*ulimit -n/),
    details: { maxOpenSpaces: 1 },
  });
  // What is open already can be used by others meanwhile.
  expect(await (await spaces.get('alice')).get('tea')).toBeUndefined();
  release();
  await writing;
  await spaces.get('bob');
  expect(seen).toEqual(['open alice', 'close alice', 'open bob']);
  await spaces.close();
});

test('whoever waits gets in when a space comes out of use', async () => {
  const { embedder, release, started } = held();
  const { spaces, seen } = watched({ embedder, maxOpenSpaces: 1 });
  const writing = (await spaces.get('alice')).remember('Prefers tea', { id: 'tea' });
  await started;
  const others = ['bob', 'carol'].map(async (name) => (await spaces.get(name)).stats());
  release();
  await writing;
  expect((await Promise.all(others)).map(({ name }) => name)).toEqual(['bob', 'carol']);
  expect(seen.filter((each) => each === 'open alice')).toHaveLength(1);
  expect(spaces.size).toBe(1);
  await spaces.close();
});

describe('a call that waits ends as soon as its signal aborts', () => {
  test('for a free place: with the options first or last, in a verb that waits too; the others go on', async () => {
    const { embedder, release, started } = held();
    const { spaces, seen } = watched({ embedder, maxOpenSpaces: 1, waitTimeout: 3_600_000 });
    const [bob, alice] = [await spaces.get('bob'), await spaces.get('alice')];
    const writing = alice.remember('Prefers tea', { id: 'tea' });
    await started;
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const waiting = [
      bob.recall('tea', { signal }),
      bob.recall({ strategy: 'ambient', signal }),
      bob.link('a', 'b', { signal }),
      bob.stats({ signal }),
      bob.activity(undefined, { wait: 60_000, signal }),
      bob.recall('tea', Object.create({ signal })),
    ];
    const patient = bob.stats();
    giveUp.abort();
    const ended = await Promise.allSettled(waiting);
    expect(ended.map((each) => each.status === 'rejected' && each.reason.code)).toEqual(
      waiting.map(() => 'aborted'),
    );
    expect(seen).toEqual(['open bob', 'close bob', 'open alice']);
    release();
    await writing;
    expect((await patient).name).toBe('bob');
    await spaces.close();
  });

  test('for a space that is being closed or opened; nobody is left in it', async () => {
    const store = createReferenceStore();
    const [closes, opens] = [gate(), gate()];
    const slow: Store = {
      ...store,
      async openSpace(name, given) {
        if (name === 'carol') await opens.opened;
        const space = await store.openSpace(name, given);
        const close = () => (name === 'alice' ? closes.opened : Promise.resolve()).then(() => space.close());
        return { ...space, close };
      },
    };
    const spaces = openSpaces({ path: 'slow', store: slow, embedder: 'none', maxOpenSpaces: 1 });
    const bob = await spaces.get('bob');
    const alice = await spaces.get('alice');
    for (const call of [bob, alice, bob]) {
      const giveUp = new AbortController();
      const waiting = call.stats({ signal: giveUp.signal });
      giveUp.abort();
      await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    }
    closes.open();
    const giveUp = new AbortController();
    const opening = spaces.get('carol');
    await setImmediate();
    opens.open();
    const carol = await opening;
    await bob.stats();
    expect(spaces.size).toBe(1);
    const waiting = carol.stats({ signal: giveUp.signal });
    giveUp.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    // Nobody counts as in it: another one gets its place at once.
    expect((await bob.stats()).name).toBe('bob');
    await spaces.close();
  });

  test('for its space to be opened: it is not in use afterwards', async () => {
    const store = createReferenceStore();
    const [begun, opens] = [gate(), gate()];
    let isSlow = false;
    const slow: Store = {
      ...store,
      async openSpace(name, given) {
        if (isSlow && name === 'carol') {
          begun.open();
          await opens.opened;
        }
        return store.openSpace(name, given);
      },
    };
    const options = {
      path: 'slow',
      store: slow,
      embedder: 'none',
      maxOpenSpaces: 1,
      waitTimeout: 0,
    } as const;
    const spaces = openSpaces(options);
    const carol = await spaces.get('carol');
    const bob = await spaces.get('bob');
    isSlow = true;
    const giveUp = new AbortController();
    const waiting = carol.stats({ signal: giveUp.signal });
    await begun.opened;
    giveUp.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    opens.open();
    expect((await bob.stats()).name).toBe('bob');
    await spaces.close();
  });

  test('for room for an index', async () => {
    const { embedder, release, started } = held();
    const spaces = openSpaces({
      path: directory,
      embedder: {
        ...embedder,
        embed: (texts) => (texts[0] === 'slow' ? embedder.embed(texts) : nothing(texts)),
      },
      maxResidentBytes: 120_000,
      waitTimeout: 3_600_000,
    });
    const [alice, bob] = [await spaces.get('alice'), await spaces.get('bob')];
    for (const memory of [alice, bob])
      await memory.rememberMany(Array.from({ length: 50 }, (_, at) => ({ content: `Prefers tea ${at}` })));
    await alice.recall('tea');
    const writing = alice.remember('slow');
    await started;
    const giveUp = new AbortController();
    const waiting = bob.recall('tea', { signal: giveUp.signal });
    for (let turn = 0; turn < 50; turn++) await setImmediate();
    giveUp.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    release();
    await writing;
    expect((await bob.recall('tea')).hits.length).toBeGreaterThan(0);
    await spaces.close();
  });
});

test('a name that no space can have is refused before anybody leaves or is waited for', async () => {
  const { spaces, seen } = watched({ maxOpenSpaces: 1 });
  await spaces.get('alice');
  await expect(spaces.get('..')).rejects.toMatchObject({ code: 'invalid_space_name' });
  await expect(spaces.get(undefined as unknown as string)).rejects.toMatchObject({
    details: { field: 'space' },
  });
  expect(seen).toEqual(['open alice']);
  await spaces.close();
});

test('what happens is asked for as of one memory: with the options alone, and with none that are options', async () => {
  const { spaces } = watched();
  const memory = await spaces.get('alice');
  await memory.remember('Prefers tea');
  expect((await memory.activity({ wait: 0 } as never)).entries).toHaveLength(1);
  for (const wrong of [null, 'x'])
    await expect(memory.activity(undefined, wrong as never)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('expected an object of options'),
    });
  await spaces.close();
});

test('one that is asked for many times at once is opened once, and again when that failed', async () => {
  const { spaces, seen } = watched();
  await Promise.all(Array.from({ length: 20 }, () => spaces.get('alice')));
  expect(seen).toEqual(['open alice']);
  await expect(spaces.get('a/../b')).rejects.toMatchObject({ code: 'invalid_space_name' });
  expect(spaces.size).toBe(1);
  let failures = 1;
  const flaky = createReferenceStore();
  const store: Store = {
    ...flaky,
    openSpace: async (...given) => {
      if (failures-- > 0) throw new Error('not yet');
      return flaky.openSpace(...given);
    },
  };
  await using other = openSpaces({ path: 'flaky', store, embedder: 'none', maxOpenSpaces: 1 });
  await expect(other.get('alice')).rejects.toThrow('not yet');
  expect(await (await other.get('alice')).list()).toMatchObject({ memories: [], total: 0 });
  await spaces.close();
});

describe('while a space is being closed', () => {
  /** A store whose spaces close only when they are told to. */
  function slow(options: Partial<SpacesOptions> = {}) {
    const store = createReferenceStore();
    const seen: string[] = [];
    const closing: (() => void)[] = [];
    let open = 0;
    let most = 0;
    const slowly: Store = {
      ...store,
      async openSpace(name, given) {
        const space: SpaceStore = await store.openSpace(name, given);
        most = Math.max(most, ++open);
        seen.push(`open ${name}`);
        return {
          ...space,
          async close() {
            await new Promise<void>((resolve) => closing.push(resolve));
            await space.close();
            open--;
            seen.push(`close ${name}`);
          },
        };
      },
      async deleteSpace(name) {
        await new Promise<void>((resolve) => closing.push(resolve));
        await store.deleteSpace(name);
        seen.push(`delete ${name}`);
      },
    };
    const spaces = openSpaces({ path: 'slow', store: slowly, embedder: 'none', ...options });
    const turns = async () => {
      for (let turn = 0; turn < 50; turn++) await setImmediate();
    };
    /** Lets everything close that is closing, or will be. */
    const letGo = async () => {
      for (let round = 0; round < 10; round++) {
        await turns();
        for (const resolve of closing.splice(0)) resolve();
      }
    };
    return { spaces, seen, turns, letGo, most: () => most };
  }

  test('it still counts as open', async () => {
    const { spaces, letGo, most } = slow({ maxOpenSpaces: 2 });
    await spaces.get('alice');
    await spaces.get('bob');
    const others = Promise.all(['carol', 'dan', 'eve'].map((name) => spaces.get(name)));
    await letGo();
    await others;
    expect(most()).toBe(2);
    const closed = spaces.close();
    await letGo();
    await closed;
  });

  test('whoever asks for it waits, and it opens again', async () => {
    const { spaces, seen, turns, letGo } = slow({ maxOpenSpaces: 2 });
    await spaces.get('alice');
    await spaces.get('bob');
    const carol = spaces.get('carol');
    await turns();
    const again = spaces.get('alice');
    await turns();
    expect(seen).toEqual(['open alice', 'open bob']);
    await letGo();
    await Promise.all([carol, again]);
    expect(seen.indexOf('close alice')).toBeLessThan(seen.lastIndexOf('open alice'));
    const closed = spaces.close();
    await letGo();
    await closed;
  });

  test.each([1, 10])('it is deleted after that, and nobody opens it before, of %i', async (maxOpenSpaces) => {
    const { spaces, seen, turns, letGo } = slow({ maxOpenSpaces });
    await (await spaces.get('alice')).remember('Prefers tea', { id: 'tea' });
    const bob = spaces.get('bob');
    await turns();
    const deleted = spaces.delete('alice');
    const again = spaces.get('alice').then((memory) => memory.get('tea'));
    await letGo();
    await Promise.all([bob, deleted]);
    expect(await again).toBeUndefined();
    expect(seen.filter((each) => each.endsWith(' alice')).slice(0, 4)).toEqual([
      'open alice',
      'close alice',
      'delete alice',
      'open alice',
    ]);
    const closed = spaces.close();
    await letGo();
    await closed;
  });
});

test('whoever waits for room is told at once when all is closed', async () => {
  const { embedder, release, started } = held();
  const { spaces } = watched({ embedder, maxOpenSpaces: 1, waitTimeout: 3_600_000 });
  const writing = (await spaces.get('alice')).remember('Prefers tea');
  await started;
  const waits = expect(spaces.get('bob')).rejects.toMatchObject({ code: 'closed' });
  const closed = spaces.close();
  await waits;
  release();
  await writing.catch(() => {});
  await closed;
});

test('a space whose file was replaced is opened anew at the next call', async () => {
  const spaces = openSpaces({ path: directory, embedder: 'none' });
  const alice = await spaces.get('alice');
  await alice.remember('Prefers tea', { id: 'tea' });
  for (const file of await readdir(directory)) await rm(join(directory, file));
  await expect(alice.remember('Prefers coffee')).rejects.toMatchObject({ code: 'store_replaced' });
  await alice.remember('Prefers water', { id: 'water' });
  expect((await alice.list()).memories.map(({ id }) => id)).toEqual(['water']);
  await spaces.close();
});

test('a space whose file was replaced is opened anew under steady use too', async () => {
  const { embedder, release, started } = held();
  const spaces = openSpaces({ path: directory, embedder });
  const alice = await spaces.get('alice');
  const recall = alice.recall('tea');
  await started;
  for (const file of await readdir(directory)) await rm(join(directory, file));
  const write = () => alice.configure({ timeZone: 'Europe/Rome' });
  await expect(write()).rejects.toMatchObject({ code: 'store_replaced' });
  // The recall is still in progress, so that between these two calls the space is in use all the time.
  const next = write();
  release();
  await Promise.all([recall, next]);
  expect((await alice.stats()).settings.timeZone).toBe('Europe/Rome');
  await spaces.close();
});

describe('a space that another process reindexes in another language', () => {
  const reindexed = async (options: Partial<SpacesOptions> = {}) => {
    const { spaces, store, seen } = watched(options);
    const anna = await spaces.get('anna');
    await anna.remember('Die Bücher liegen hier', { id: 'books' });
    const german = { path: 'test', space: 'anna', store, embedder: 'none', language: 'german' } as const;
    await openMemory({ ...german, reindex: true });
    return { spaces, anna, seen };
  };
  const german = { analyzer: expect.stringMatching('german') };

  test.each<[string, (anna: MemoryEngine) => Promise<unknown>]>([
    ['a write', (anna) => anna.remember('Die Hunde bellen')],
    ['a recall', (anna) => anna.recall('Buch', { strategy: 'bm25' })],
    ['a reindex', (anna) => anna.reindex()],
  ])('%s fails once, and the space is opened anew in its language', async (_, call) => {
    const { spaces, anna } = await reindexed();
    await expect(call(anna)).rejects.toMatchObject({ code: 'embedder_mismatch' });
    await call(anna);
    expect(await anna.stats()).toMatchObject(german);
    expect((await anna.recall('Buch', { strategy: 'bm25' })).hits).toHaveLength(1);
    await spaces.close();
  });

  test('it is closed when all calls in progress have ended, however long that takes', async () => {
    const { embedder, release, started } = held();
    const { spaces, anna, seen } = await reindexed({
      embedder: {
        ...embedder,
        embed: (texts) => (texts[0] === 'Tee' ? embedder.embed(texts) : nothing(texts)),
      },
    });
    const recall = anna.recall('Tee');
    await started;
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      await expect(anna.remember('Die Hunde bellen')).rejects.toMatchObject({ code: 'embedder_mismatch' });
      await vi.advanceTimersByTimeAsync(2 * LONGEST_CLOSE);
    } finally {
      vi.useRealTimers();
    }
    expect(seen).not.toContain('close anna');
    release();
    await expect(recall).rejects.toMatchObject({ code: 'embedder_mismatch' });
    await anna.stats();
    expect(seen).toContain('close anna');
    await spaces.close();
  });

  test('with a language of its own, it stays open for what needs no words, and can be reindexed', async () => {
    const { spaces, anna } = await reindexed({ language: 'english' });
    await expect(anna.remember('Dogs bark')).rejects.toMatchObject({ code: 'embedder_mismatch' });
    expect(await anna.get('books')).toBeDefined();
    await anna.reindex();
    await anna.remember('Dogs bark');
    await spaces.close();
  });
});

test('after close everything is refused', async () => {
  const { spaces, seen, store } = watched();
  const alice = await spaces.get('alice');
  // Closing one alone leaves it to the others.
  await alice.close();
  expect(await alice.list()).toMatchObject({ memories: [], total: 0 });
  await spaces.close();
  await expect(alice.list()).rejects.toMatchObject({ code: 'closed' });
  await expect(spaces.get('alice')).rejects.toMatchObject({ code: 'closed' });
  expect(seen).toEqual(['open alice', 'close alice']);
  // A store of one's own stays open.
  expect(await store.listSpaces()).toEqual(['alice']);
  await store.close();
});

test.each([{ maxOpenSpaces: 0 }, { maxOpenSpaces: 1.5 }, { maxResidentBytes: -1 }, { waitTimeout: -1 }])(
  'limits that cannot be are refused: %j',
  (limits) => {
    expect(() => openSpaces({ path: directory, ...limits })).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  },
);

test('an option that nobody reads is refused', () => {
  expect(() => openSpaces({ path: directory, maxOpenSpace: 3 } as SpacesOptions)).toThrow('maxOpenSpaces');
});

test('any calls on any spaces at once: each is answered by its own space, within the limit', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 60 }),
      async (maxOpenSpaces, calls) => {
        const { spaces, seen } = watched({ maxOpenSpaces });
        let most = 0;
        const answers = calls.map(async (space, index) => {
          const memory = await spaces.get(`space ${space}`);
          await memory.remember(`Said in call ${index}`, { id: `${index}` });
          most = Math.max(most, spaces.size);
          return (await memory.list({ limit: 100 })).memories.map(({ id }) => id);
        });
        const known = await Promise.all(answers);
        expect(most).toBeLessThanOrEqual(maxOpenSpaces);
        for (const [index, ids] of known.entries()) {
          expect(ids).toContain(`${index}`);
          expect(ids.every((id) => calls[Number(id)] === calls[index])).toBe(true);
        }
        await spaces.close();
        const open = new Set<string>();
        for (const [verb, , number] of seen.map((each) => each.split(' '))) {
          if (verb === 'close') open.delete(number as string);
          else open.add(number as string);
          expect(open.size).toBeLessThanOrEqual(maxOpenSpaces);
        }
        expect(open.size).toBe(0);
      },
    ),
    { numRuns: 30 },
  );
});

test('on disk nothing is lost by closing and opening, and no file is left beside the spaces', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `user ${index}`);
  const spaces = openSpaces({ path: directory, synchronous: 'normal', maxOpenSpaces: 3 });
  for (const name of names) await (await spaces.get(name)).remember(`The name is ${name}`, { id: 'name' });
  // One memory of each that is open waits for the index, which is not loaded yet.
  expect(spaces.residentBytes).toBeLessThan(3 * 1024);
  for (const name of names) {
    const { hits } = await (await spaces.get(name)).recall('what is the name?');
    expect(hits.map(({ memory }) => memory.content)).toEqual([`The name is ${name}`]);
  }
  expect(spaces.size).toBe(3);
  expect(spaces.residentBytes).toBeGreaterThan(3 * 1024);
  await spaces.close();
  const files = await readdir(directory);
  expect(files).toHaveLength(12);
  expect(files.every((file) => file.endsWith('.db'))).toBe(true);
});

test('who waits for what happens keeps no space from being opened, and learns of it all the same', async () => {
  const { spaces, seen } = watched({ maxOpenSpaces: 1 });
  const [a, b] = [await spaces.get('a'), await spaces.get('b')];
  const { position } = await a.activity('end');
  const waiting = a.activity(position, { wait: 60_000 });
  expect(await b.remember('Of b', { id: 'b' })).toMatchObject({ outcome: 'created' });
  await a.remember('Of a', { id: 'a' });
  expect((await waiting).entries).toMatchObject([{ kind: 'write', ids: ['a'] }]);
  expect(seen.slice(0, 4)).toEqual(['open a', 'close a', 'open b', 'close b']);
  await expect(a.activity(position, { wait: 60_001 })).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(a.activity(position, { wait: 0.5 })).rejects.toMatchObject({ code: 'invalid_argument' });
  const end = (await a.activity('end')).position;
  expect(await a.activity(end, { wait: 1 })).toEqual({ entries: [], position: end });
  const stop = new AbortController();
  const stopped = a.activity(end, { wait: 60_000, signal: stop.signal });
  await b.list();
  stop.abort();
  await expect(stopped).rejects.toMatchObject({ code: 'aborted' });
  const last = a.activity(end, { wait: 60_000 });
  await spaces.close();
  await expect(last).rejects.toMatchObject({ code: 'closed' });
});

test('nothing is deleted or maintained where the spaces are opened for reading alone', async () => {
  await using writing = openSpaces({ path: directory, embedder: 'none' });
  await (await writing.get('alice')).remember('Prefers tea');
  await using reading = openSpaces({ path: directory, embedder: 'none', readOnly: true });
  await expect(reading.delete('alice')).rejects.toMatchObject({
    code: 'store_read_only',
    message: 'space "alice" was opened read-only; open it without readOnly to write',
  });
  await expect(reading.maintain()).rejects.toMatchObject({ code: 'store_read_only' });
  expect(await readdir(directory)).not.toContain('shared');
  expect(await reading.list()).toEqual(['alice']);
});

test('options are those of the call, also where they are inherited, or change afterwards', async () => {
  const options = { path: directory, embedder: 'none' as const, readOnly: false };
  await using writing = openSpaces(options);
  options.readOnly = true;
  await (await writing.get('alice')).remember('To be gone', { ttl: '1d' });
  const maintaining = { dryRun: true, every: 0 };
  const maintained = writing.maintain(maintaining);
  maintaining.dryRun = false;
  expect((await maintained).maintained).toMatchObject([{ report: { dryRun: true } }]);
  const inherited = await writing.maintain(Object.create({ dryRun: true, every: 0 }));
  expect(inherited.maintained).toMatchObject([{ report: { dryRun: true } }]);
  await using reading = openSpaces(Object.create(Object.assign(options, { readOnly: true })));
  await expect((await reading.get('alice')).remember('Tea')).rejects.toMatchObject({
    code: 'store_read_only',
  });
});

describe('ready', () => {
  test('while files can be written and their schema fits; nothing is left behind', async () => {
    await using spaces = openSpaces({ path: directory, embedder: 'none' });
    await spaces.ready();
    expect(await readdir(directory)).toEqual([]);
    await (await spaces.get('alice')).remember('Prefers tea');
    await spaces.ready();
    const { DatabaseSync } = await import('@photostructure/sqlite');
    const [name] = (await readdir(directory)).filter((each) => each.endsWith('.db'));
    const path = join(directory, name ?? '');
    const file = new DatabaseSync(path);
    file.exec('PRAGMA user_version = 9999');
    file.close();
    await expect(spaces.ready()).rejects.toMatchObject({ code: 'newer_store' });
    await rm(directory, { recursive: true });
    await writeFile(directory, 'a file in its place');
    await expect(spaces.ready()).rejects.toMatchObject({ code: expect.stringMatching(/^store_/) });
  });

  test('of a store that says nothing of it, and of one that may only be read', async () => {
    await using own = openSpaces({ path: 'own', store: createReferenceStore(), embedder: 'none' });
    await own.ready();
    await using reading = openSpaces({ path: directory, readOnly: true, embedder: 'none' });
    await reading.ready();
    expect(await readdir(directory)).toEqual([]);
    await reading.close();
    await expect(reading.ready()).rejects.toMatchObject({ code: 'closed' });
  });
});

import { describe, expect, it } from 'vitest';
import { resolveProfile } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { withSearch } from '../search/residence.ts';
import { getOne, insert, searchIn, start, write } from '../testing/store-contract/harness.ts';
import { unlessOvertaken } from './moment.ts';
import { snapshotOfState } from './state-rows.ts';
import { coreOfState, keepSpace } from './state-space.ts';
import type { SpaceCore, SpaceStore, StoreSnapshot } from './store.ts';

/**
 * A store that holds no moment: each read of a snapshot sees what is committed by then. `between` is called before each
 * read but the first, and is another process that writes.
 */
function statementByStatement(between: () => Promise<void>) {
  const kept = keepSpace('alice');
  const core = coreOfState(kept);
  const present = () => snapshotOfState(kept.state, kept.numbers);
  const statements = (): StoreSnapshot => {
    let reads = 0;
    return new Proxy(present(), {
      get(target, name: keyof StoreSnapshot) {
        if (name === 'indexed') return (keys?: readonly number[]) => present().indexed(keys);
        if (typeof target[name] !== 'function') return present()[name];
        return async (...given: unknown[]) => {
          if (reads++ > 0) await between();
          const read = present()[name] as (...given: unknown[]) => unknown;
          return read(...given);
        };
      },
      ownKeys: (target) => Reflect.ownKeys(target),
    });
  };
  const overtakable: SpaceCore = {
    ...core,
    snapshot: (work) =>
      unlessOvertaken(
        'alice',
        async () => kept.state,
        () => work(statements()),
      ),
  };
  return { space: withSearch(overtakable), writer: withSearch(core) };
}

const both = (space: SpaceStore) =>
  space.snapshot(async (snapshot) => [
    (await getOne(snapshot, 'a'))?.content,
    (await getOne(snapshot, 'b'))?.content,
  ]);

async function twoMemories(between: (writer: SpaceStore) => Promise<void>) {
  const { space, writer } = statementByStatement(() => between(writer));
  await write(writer, [insert({ id: 'a', content: 'old a' }), insert({ id: 'b', content: 'old b' })]);
  return { space, writer };
}

const change = (writer: SpaceStore, text: string) =>
  writer.write({ verb: 'update', at: start }, async (reader) => ({
    changes: (await reader.get(['a', 'b'])).flatMap((memory) =>
      memory ? [{ kind: 'replace' as const, memory: { ...memory, content: `${text} ${memory.id}` } }] : [],
    ),
    result: undefined,
  }));

describe('a snapshot of a store that holds no moment', () => {
  it('is of one moment: work is called anew when something is written between its reads', async () => {
    for (const writes of [0, 1, 2]) {
      let left = writes;
      const { space } = await twoMemories(async (writer) => {
        if (left-- > 0) await change(writer, `new${left}`);
      });
      expect(await both(space)).toEqual(writes === 0 ? ['old a', 'old b'] : ['new0 a', 'new0 b']);
    }
  });

  it('that is overtaken three times is store_busy, and says what to do', async () => {
    let writes = 0;
    const { space } = await twoMemories((writer) => change(writer, `${writes++}`));
    await expect(both(space)).rejects.toMatchObject({
      code: 'store_busy',
      message: expect.stringContaining('try again'),
    });
    expect(writes).toBe(3);
  });

  it('keeps the error of work to itself when it was overtaken, and passes it on when not', async () => {
    let left = 1;
    const { space } = await twoMemories(async (writer) => {
      if (left-- > 0) await change(writer, 'new');
    });
    const seen: unknown[] = [];
    const failing = space.snapshot(async (snapshot) => {
      seen.push((await getOne(snapshot, 'a'))?.content, (await getOne(snapshot, 'b'))?.content);
      throw new Error(`attempt ${seen.length / 2}`);
    });
    await expect(failing).rejects.toThrow('attempt 2');
    expect(seen).toEqual(['old a', 'new b', 'new a', 'new b']);
  });

  it('finds what is of its moment, whatever the index took in meanwhile', async () => {
    let left = 1;
    const { space, writer } = await twoMemories(async (each) => {
      if (left-- > 0) await write(each, [insert({ id: 'c', content: 'old c' })]);
    });
    const request = {
      profile: resolveProfile(builtinProfile('bm25')),
      query: { terms: ['old'] },
      filter: {},
      now: start,
      limit: 10,
    };
    const found = await searchIn(space, request);
    expect(found.sequence).toBe(3);
    expect(found.hits).toEqual((await searchIn(writer, request)).hits);
  });
});

describe('a space that is asked by what it waits for', () => {
  const opened = async () => {
    const space = withSearch(coreOfState(keepSpace('alice')));
    await write(space, [insert({ id: 'a' })]);
    return space;
  };
  const refused = { code: 'invalid_argument' };

  it('refuses to be read, written to or used within a snapshot of itself', async () => {
    const space = await opened();
    const asked: readonly (() => Promise<unknown>)[] = [
      () => space.get(['a']),
      () => space.list({ filter: {}, limit: 1 }),
      () => space.info(),
      () => space.snapshot(async () => 1),
      () => write(space, [insert({ id: 'b' })]),
    ];
    for (const ask of asked) {
      await expect(space.snapshot(() => ask())).rejects.toMatchObject({
        ...refused,
        message: expect.stringContaining('use the snapshot that the function was given'),
      });
    }
    expect((await space.info()).memories).toBe(1);
  });

  it('refuses to be read within a write of itself', async () => {
    const space = await opened();
    const writing = space.write({ verb: 'update', at: start }, async () => {
      await space.get(['a']);
      return { changes: [], result: undefined };
    });
    await expect(writing).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('`decide`'),
    });
  });

  it('answers others meanwhile, and another space within', async () => {
    const [one, other] = [await opened(), await opened()];
    let read: Promise<unknown> | undefined;
    const outside = new Promise<void>((begun) => {
      void Promise.resolve().then(() => {
        read = one.get(['a']);
        begun();
      });
    });
    expect(
      await one.snapshot(async () => {
        await outside;
        return (await other.get(['a'])).length;
      }),
    ).toBe(1);
    expect(await read).toHaveLength(1);
    // Through another space it is the same waiting for itself.
    await expect(one.snapshot(() => other.snapshot(() => one.get(['a'])))).rejects.toMatchObject(refused);
  });
});

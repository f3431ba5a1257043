import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveProfile } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { createQueue } from '../store/queue.ts';
import { snapshotOfState } from '../store/state-rows.ts';
import { coreOfState, keepSpace } from '../store/state-space.ts';
import type { Change, Link, SpaceStore } from '../store/store.ts';
import { indexContent } from '../testing/index-content.ts';
import { insert, model, replace, start, use, write } from '../testing/store-contract/harness.ts';
import { createLinkCache } from './link-cache.ts';
import { createResidence, withSearch } from './residence.ts';

const id = fc.integer({ min: 0, max: 6 }).map((at) => `m${at}`);
const step = fc.oneof(
  fc.record({ kind: fc.constantFrom('put', 'maintain', 'use', 'stub', 'remove', 'redact', 'reindex'), id }),
  fc.record({ kind: fc.constant('look'), id }),
);

/** Does to a space what a step says, where it can be done. */
async function play(
  space: SpaceStore,
  { kind, id }: { readonly kind: string; readonly id: string },
  at: number,
) {
  const [known] = await space.get([id]);
  const put = (fields: Parameters<typeof insert>[0]): Change =>
    known ? replace({ ...known, ...fields }, [at % 2, 1, 0]) : insert(fields, [1, at % 3, 0]);
  if (kind === 'put')
    return write(space, [
      put({
        id,
        content: `word${at % 3} tea${at % 2 ? '?' : ''}`,
        tags: [`t${at % 2}`],
        bornIn: `s${at % 2}`,
      }),
    ]);
  if (kind === 'reindex') {
    return space.reindex({
      analyzer: 'other',
      embedding: model,
      derive: async (memories) =>
        memories.map(() => ({ terms: new Map([[`new${at}`, 1]]), vector: Float32Array.of(0, 0, 1) })),
    });
  }
  if (!known) return undefined;
  if (kind === 'use') return use(space, [id], () => ({ accessCount: at, tier: at % 2 ? 'cold' : 'hot' }));
  if (kind === 'maintain' || kind === 'stub') {
    const tier = kind === 'stub' ? 'stub' : at % 2 ? 'cold' : 'hot';
    return write(space, [{ kind: 'replace', memory: { ...known, tier } }], { verb: 'maintain' }, {});
  }
  return write(space, [{ kind: kind as 'remove' | 'redact', id }], { verb: 'forget' }, {});
}

describe('the resident index', () => {
  it('that followed the log is the one that is made anew, whatever was written and when it was asked', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const kept = keepSpace('alice');
        const space = withSearch(coreOfState(kept));
        const following = createResidence('alice');
        const rows = () => snapshotOfState(kept.state, kept.numbers);
        for (const [at, each] of [...steps, { kind: 'look', id: 'm0' }].entries()) {
          if (each.kind !== 'look') {
            await play(space, each, at);
            continue;
          }
          const followed = await following.refresh(rows());
          const anew = await createResidence('alice').refresh(rows());
          expect(indexContent(followed.index)).toEqual(indexContent(anew.index));
          expect([followed.index.memoryCount, followed.index.totalLength, followed.index.vectors]).toEqual([
            anew.index.memoryCount,
            anew.index.totalLength,
            anew.index.vectors,
          ]);
          expect(followed.position).toEqual(anew.position);
          expect(followed.relations).toEqual(anew.relations);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('answers with memories as they are, however lately they were read', async () => {
    let found = 0;
    const request = {
      profile: resolveProfile(builtinProfile('hybrid')),
      query: { terms: ['tea', 'word1'], vector: Float32Array.of(1, 0, 0) },
      filter: {},
      now: start + 1000,
      limit: 10,
    };
    const ask = (space: SpaceStore) => space.snapshot((snapshot) => snapshot.search(request));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const kept = keepSpace('alice');
        const [writing, reading] = [withSearch(coreOfState(kept)), withSearch(coreOfState(kept))];
        const first = Array.from({ length: 7 }, (_, at) => ({ kind: 'put', id: `m${at}` }));
        for (const [at, each] of [...first, ...steps].entries()) {
          if (each.kind !== 'look') await play(writing, each, at);
          const { hits } = await ask(withSearch(coreOfState(kept)));
          for (const space of [writing, reading]) {
            const answer = await ask(space);
            expect(answer.hits.map(({ memory, score }) => ({ memory, score }))).toEqual(
              hits.map(({ memory, score }) => ({ memory, score })),
            );
            found += answer.hits.length;
          }
        }
      }),
      { numRuns: 100, seed: 1 },
    );
    expect(found).toBeGreaterThan(1000);
  });

  it('answers with links as they are, whichever way they changed', async () => {
    const ids = Array.from({ length: 7 }, (_, at) => `m${at}`);
    const linkStep = fc.record({ kind: fc.constantFrom('link', 'unlink', 'use together'), id, other: id });
    const request = {
      profile: resolveProfile(builtinProfile('hybrid')),
      query: { terms: ['tea'] },
      filter: {},
      now: start + 1000,
      limit: 10,
    };
    /** Before a search, links are read from the store; after it, from the cache. */
    const linksOf = (space: SpaceStore, searches = true) =>
      space.snapshot(async (snapshot) => {
        if (searches) await snapshot.search(request);
        return new Set((await snapshot.links(ids)).map((link) => JSON.stringify(link)));
      });
    let most = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(step, linkStep), { maxLength: 20 }), async (steps) => {
        const kept = keepSpace('alice');
        const [writing, reading] = [withSearch(coreOfState(kept)), withSearch(coreOfState(kept))];
        const first = ids.map((each) => ({ kind: 'put', id: each }));
        for (const [at, each] of [...first, ...steps].entries()) {
          const pair = 'other' in each ? ([each.id, each.other].sort() as [string, string]) : undefined;
          const link = pair && { ids: pair, weight: 0.1 + at / 100, at: start + at };
          if (link && link.ids[0] !== link.ids[1] && (await writing.get(link.ids)).every(Boolean)) {
            if (each.kind === 'use together')
              await use(writing, link.ids, () => ({}), {}, [{ ...link, kind: 'co-retrieval' }]);
            else if (each.kind === 'link')
              await write(writing, [{ kind: 'link', link: { ...link, kind: 'stated' } }], { verb: 'link' });
            else await write(writing, [{ kind: 'unlink', ids: link.ids }], { verb: 'unlink' });
          } else if (!pair && each.kind !== 'look') await play(writing, each, at);
          const there = await linksOf(writing, false);
          for (const space of [writing, reading]) expect(await linksOf(space)).toEqual(there);
          most = Math.max(most, there.size);
        }
      }),
      { numRuns: 30, seed: 1 },
    );
    expect(most).toBeGreaterThan(5);
  });

  it('says how far it is while it is built of all memories, and nothing once it is there', async () => {
    const kept = keepSpace('alice');
    const space = withSearch(coreOfState(kept));
    await write(
      space,
      Array.from({ length: 20 }, (_, at) => insert({ id: `m${at}` }, [1, at, 0])),
    );
    const told: unknown[] = [];
    const listen = (message: unknown) => told.push(message);
    subscribe('salience:index', listen);
    try {
      const residence = createResidence('alice');
      await residence.refresh(snapshotOfState(kept.state, kept.numbers));
      expect(told).toEqual([0, 8, 16, 20].map((done) => ({ space: 'alice', done, total: 20 })));
      await write(space, [insert({ id: 'another' }, [1, 0, 0])]);
      await residence.refresh(snapshotOfState(kept.state, kept.numbers));
      expect(told).toHaveLength(4);
      for (const count of [999, 1000]) {
        const more = Array.from({ length: count }, (_, at) => insert({ id: `${count} ${at}` }, [1, at, 0]));
        await write(space, more);
        await residence.refresh(snapshotOfState(kept.state, kept.numbers));
      }
      const last = told.splice(4);
      expect(last).toHaveLength(127);
      expect([0, 1, 125, 126].map((at) => last[at])).toEqual(
        [0, 8, 999, 1000].map((done) => ({ space: 'alice', done, total: 1000 })),
      );
      const empty = keepSpace('empty');
      await createResidence('empty').refresh(snapshotOfState(empty.state, empty.numbers));
      expect(told.slice(4)).toEqual([0, 0].map((done) => ({ space: 'empty', done, total: 0 })));
    } finally {
      unsubscribe('salience:index', listen);
    }
  });

  it('keeps nothing of what was forgotten, once it is', async () => {
    const kept = keepSpace('alice');
    const read: (readonly number[])[] = [];
    const core = coreOfState(kept);
    const space = withSearch({
      ...core,
      snapshot: (work) =>
        core.snapshot((rows) =>
          work({
            ...rows,
            records(keys) {
              read.push(keys);
              return rows.records(keys);
            },
          }),
        ),
    });
    await write(space, [insert({ id: 'a' }, [1, 0, 0]), insert({ id: 'b' }, [0, 1, 0])]);
    const request = {
      profile: resolveProfile(builtinProfile('vector')),
      query: { terms: [], vector: Float32Array.of(0.6, 0.8, 0) },
      filter: {},
      now: start + 1000,
      limit: 10,
    };
    const ask = () => space.snapshot((snapshot) => snapshot.search(request));
    expect((await ask()).hits).toHaveLength(2);
    const taken = space.residentBytes();
    expect((await ask()).hits).toHaveLength(2);
    expect(read).toHaveLength(1);
    await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' }, {});
    expect(taken - space.residentBytes()).toBeGreaterThan(2000);
    expect((await ask()).hits.map(({ memory }) => memory.id)).toEqual(['b']);
    expect(read).toHaveLength(2);
  });

  it('keeps nothing of it either where the write failed after it was committed', async () => {
    const core = coreOfState(keepSpace('alice'));
    let fails = false;
    const space = withSearch({
      ...core,
      async write(entry, decide) {
        const result = await core.write(entry, decide);
        if (fails) throw new Error('the disk did not confirm it');
        return result;
      },
    });
    await write(space, [insert({ id: 'a' }, [1, 0, 0]), insert({ id: 'b' }, [0, 1, 0])]);
    const request = {
      profile: resolveProfile(builtinProfile('vector')),
      query: { terms: [], vector: Float32Array.of(0.6, 0.8, 0) },
      filter: {},
      now: start,
      limit: 10,
    };
    await space.snapshot((snapshot) => snapshot.search(request));
    const taken = space.residentBytes();
    fails = true;
    await expect(write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' }, {})).rejects.toThrow('disk');
    expect(taken - space.residentBytes()).toBeGreaterThan(2000);
  });

  it('is made anew, and says so once, when the log is another one', async () => {
    const kept = keepSpace('alice');
    const space = withSearch(coreOfState(kept));
    await write(space, [insert({ id: 'a' }, [1, 0, 0])]);
    const backup = kept.state;
    await write(space, [insert({ id: 'b' }, [1, 0, 0])], { at: start + 1 });
    const residence = createResidence('alice');
    const refresh = (attempt?: number) =>
      residence.refresh(snapshotOfState(kept.state, kept.numbers), attempt);
    expect(await refresh()).toMatchObject({ rebuilt: false, sequence: 2 });
    kept.state = backup;
    await write(space, [insert({ id: 'c' }, [0, 1, 0])], { at: start + 1 });
    const { index, rebuilt, sequence } = await refresh();
    expect([index.rowOfKey.size, rebuilt, sequence]).toEqual([2, true, 2]);
    expect((await refresh()).rebuilt).toBe(false);
  });

  it('that is ahead of a snapshot asks for a later one first, and follows an older log when that is all there is', async () => {
    const kept = keepSpace('alice');
    const space = withSearch(coreOfState(kept));
    await write(space, [insert({ id: 'a' })]);
    const earlier = snapshotOfState(kept.state, kept.numbers);
    await write(space, [insert({ id: 'b' })]);
    const residence = createResidence('alice');
    await residence.refresh(snapshotOfState(kept.state, kept.numbers), 1);
    await expect(residence.refresh(earlier, 1)).rejects.toMatchObject({ code: 'store_busy' });
    expect(await residence.refresh(earlier, 2)).toMatchObject({ sequence: 1, rebuilt: true });
  });
});

const request = {
  profile: resolveProfile(builtinProfile('bm25')),
  query: { terms: ['tea'] },
  filter: {},
  now: start + 1000,
  limit: 1,
};

/** As many memories as make an index worth saving. */
async function fill(space: SpaceStore): Promise<void> {
  for (let at = 0; at < 256; at++) await write(space, [insert({ id: `m${at}`, content: 'tea' })]);
}

it('saves its index after the searches that are under way, also where a store reads one snapshot after the other', async () => {
  const core = coreOfState(keepSpace('alice'));
  const reads = createQueue();
  const saved: number[] = [];
  const space = withSearch({
    ...core,
    snapshot: (work) => reads.run(() => core.snapshot(work)),
    async savePages(_parts, { sequence }) {
      saved.push(sequence);
    },
  });
  await fill(space);
  const ask = () => space.snapshot((snapshot) => snapshot.search(request));
  const asked = [ask(), ask(), ask()];
  await asked[0];
  await space.close();
  expect((await Promise.all(asked)).map(({ total }) => total)).toEqual([256, 256, 256]);
  expect(saved).toEqual([256]);
});

describe('the link cache', () => {
  it('that reads again what changed has what the store has, whatever was asked before', async () => {
    const names = [...'abcdef'];
    const name = fc.constantFrom(...names);
    const change = fc.record({
      kind: fc.constantFrom('use', 'use', 'write', 'read', 'read', 'fail', 'clear'),
      ids: fc.uniqueArray(name, { minLength: 1 }),
      links: fc.array(fc.tuple(name, name)),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 30 }),
        fc.constantFrom(3, 50),
        async (steps, capacity) => {
          const cache = createLinkCache(capacity);
          const stored = new Map<string, Link>();
          let fails = false;
          const rows = {
            async storedLinks(ids: readonly string[], { among = false } = {}) {
              if (fails) throw new Error('the disk is gone');
              const isAsked = (id: string) => ids.includes(id);
              return [...stored.values()].filter((link) =>
                among ? link.ids.every(isAsked) : link.ids.some(isAsked),
              );
            },
            neighbours: async (ids: readonly string[]) => ids.map(() => undefined),
          };
          const read = async (ids: readonly string[]) =>
            new Set((await cache.read(rows, ids, false)).stored.map((link) => JSON.stringify(link)));
          for (const [at, { kind, ids, links }] of steps.entries()) {
            const ends = links
              .map(([a, b]) => (a < b ? ([a, b] as const) : ([b, a] as const)))
              .filter(([a, b]) => a !== b);
            fails = kind === 'fail';
            if (kind === 'use') {
              for (const pair of ends.filter((each) => each.every((id) => ids.includes(id))))
                stored.set(pair.join(), { ids: pair, kind: 'co-retrieval', weight: at / 100, at });
              cache.renew(ids);
            } else if (kind === 'write') {
              for (const pair of ends) {
                if (!stored.delete(pair.join()))
                  stored.set(pair.join(), { ids: pair, kind: 'stated', weight: at / 100, at });
                cache.forget(pair);
              }
            } else if (kind === 'clear') cache.clear();
            else if (kind === 'fail') await read(ids).catch(() => undefined);
            else {
              const there = [...stored.values()].filter((link) => link.ids.some((id) => ids.includes(id)));
              const asked = [read(ids), read(names), read(ids)];
              expect(await asked[0]).toEqual(new Set(there.map((link) => JSON.stringify(link))));
              expect(await asked[1]).toEqual(
                new Set([...stored.values()].map((link) => JSON.stringify(link))),
              );
              expect(await asked[2]).toEqual(await asked[0]);
            }
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('that one read empties keeps what another read has found', async () => {
    const cache = createLinkCache(2);
    const link = { ids: ['a', 'b'] as const, kind: 'stated' as const, weight: 1, at: 0 };
    const rows = {
      storedLinks: async (ids: readonly string[]) =>
        ids.some((id) => link.ids.includes(id as 'a')) ? [link] : [],
      neighbours: async () => [],
    };
    await cache.read(rows, ['a'], false);
    const [waiting] = await Promise.all([
      cache.read(rows, ['a', 'c'], false),
      cache.read(rows, ['d', 'e'], false),
    ]);
    expect(waiting.stored).toEqual([link]);
  });

  it('reads links between what was used alone, and of too many all of them', async () => {
    const cache = createLinkCache();
    const asked: (readonly [ids: readonly string[], among: boolean])[] = [];
    const rows = {
      async storedLinks(ids: readonly string[], { among = false } = {}) {
        asked.push([ids, among]);
        return [];
      },
      neighbours: async () => [],
    };
    await cache.read(rows, ['a', 'b'], false);
    cache.renew(['a', 'c']);
    cache.renew(['c', 'd']);
    await cache.read(rows, ['a', 'b'], false);
    cache.renew(['x', 'y']);
    await cache.read(rows, ['a', 'b'], false);
    expect(asked).toEqual([
      [['a', 'b'], false],
      [['a', 'c', 'd'], true],
    ]);
    const many = Array.from({ length: 300 }, (_, at) => `m${at}`);
    cache.renew(['a', ...many]);
    await cache.read(rows, ['a', 'b'], false);
    expect(asked.slice(2)).toEqual([[['a'], false]]);
  });

  it('that is full drops what it has, and answers with all links all the same', async () => {
    const cache = createLinkCache(2);
    const link = (a: string, b: string) => ({
      ids: [a, b] as const,
      kind: 'stated' as const,
      weight: 1,
      at: 0,
    });
    const all = [link('a', 'b'), link('c', 'd')];
    const asked: string[][] = [];
    const rows = {
      async storedLinks(ids: readonly string[]) {
        asked.push([...ids]);
        return all.filter((each) => each.ids.some((end) => ids.includes(end)));
      },
      neighbours: async (ids: readonly string[]) => ids.map(() => undefined),
    };
    const read = async (ids: readonly string[]) => [...new Set((await cache.read(rows, ids, true)).stored)];
    expect(await read(['a', 'b'])).toEqual([all[0]]);
    expect(await read(['a', 'b'])).toEqual([all[0]]);
    expect(await read(['a', 'c', 'd'])).toEqual(all);
    cache.forget(['c']);
    expect(await read(['c'])).toEqual([all[1]]);
    expect(asked).toEqual([['a', 'b'], ['a', 'c', 'd'], ['c']]);
  });
});

it('saves its index in a turn of its own, also where a store reads several snapshots at once', async () => {
  const core = coreOfState(keepSpace('alice'));
  let [looking, most, saves] = [0, 0, 0];
  const space = withSearch({
    ...core,
    snapshot: (work) =>
      core.snapshot((rows) =>
        work({
          ...rows,
          async position() {
            most = Math.max(most, ++looking);
            // Whoever does not wait for a turn comes in between.
            for (let turn = 0; turn < 20; turn++) await setImmediate();
            looking--;
            return rows.position();
          },
        }),
      ),
    async savePages() {
      saves++;
    },
  });
  await fill(space);
  const asked = space.snapshot((snapshot) => snapshot.search(request));
  await space.close();
  expect((await asked).total).toBe(256);
  expect([most, saves]).toEqual([1, 1]);
});

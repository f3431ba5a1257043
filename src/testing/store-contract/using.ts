import { expect } from 'vitest';
import type { MemoryRecord } from '../../domain/memory.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import type { Link, NewUsage, SearchRequest, SpaceReader, SpaceStore } from '../../store/store.ts';
import {
  type ContractTest,
  everything,
  expectCode,
  getOne,
  insert,
  inspectIn,
  onSpace,
  replace,
  searchIn,
  start,
  use,
  write,
} from './harness.ts';

const link = (a: string, b: string, weight = 0.1, at = start): Link => ({
  ids: [a, b],
  kind: 'co-retrieval',
  weight,
  at,
});

const count = ({ accessCount }: MemoryRecord) => ({ accessCount: accessCount + 1 });

const search: SearchRequest = {
  profile: resolveProfile(builtinProfile('ambient')),
  query: { terms: ['content'] },
  filter: {},
  now: start,
  limit: 10,
};

async function seen(space: SpaceStore, fields: Partial<SearchRequest> = {}) {
  const { hits } = await searchIn(space, { ...search, ...fields });
  return new Map(hits.map(({ memory, signals }) => [memory.id, signals]));
}

export const usageTests: readonly ContractTest[] = [
  onSpace(
    'a use changes the dynamics of its memories and nothing else of them, and no event says so',
    async (space) => {
      await write(space, [insert({ id: 'a', sessions: ['s0'] }), insert({ id: 'b' })]);
      const before = await getOne(space, 'a');
      const events = await space.history('a');
      const dynamics = {
        stability: 2 ** -60,
        accessCount: 7,
        lastAccessedAt: start + 5,
        sessions: ['s0', 's1'],
        tier: 'cold',
        core: true,
        coldSince: start + 6,
        consolidatedAt: start + 7,
      } as const;
      const other = { content: 'never', title: 'never', updatedAt: 0, importance: 0, revisionCount: 99 };
      await use(space, ['a'], () => ({ ...dynamics, ...other }));
      expect(await getOne(space, 'a')).toStrictEqual({ ...before, ...dynamics });
      expect(await space.history('a')).toStrictEqual(events);
      expect((await space.info()).sequence).toBe(2);
      await use(space, ['a'], () => ({ lastAccessedAt: undefined, coldSince: undefined, tier: 'hot' }));
      expect(await getOne(space, 'a')).toMatchObject({ tier: 'hot', core: true, accessCount: 7 });
      expect((await getOne(space, 'a'))?.coldSince).toBeUndefined();
      expect(await space.check()).toEqual([]);
    },
  ),
  onSpace('the log has a row for each use, as it was, oldest first', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
    const rows: readonly NewUsage[] = [
      {
        at: start + 5,
        strategy: 'hybrid',
        effect: 'reinforce',
        queryHash: 'first',
        sessionId: 's',
        used: [
          { id: 'b', direct: false },
          { id: 'a', direct: true },
        ],
      },
      {
        at: start + 6,
        strategy: 'retention',
        effect: 'count',
        queryHash: '',
        sessionId: undefined,
        used: [],
      },
      {
        at: start + 6,
        strategy: 'x',
        effect: 'touch',
        queryHash: 'third',
        sessionId: undefined,
        used: [{ id: 'a', direct: true }],
      },
    ];
    const sequences: number[] = [];
    for (const row of rows) sequences.push(await space.use(row, async () => ({ memories: [], links: [] })));
    const { sequence: after } = await space.info();
    const before = { memories: [], links: [] };
    expect(await space.usage()).toStrictEqual(
      rows.map((row, at) => ({ ...row, sequence: sequences[at], after, before })),
    );
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    expect(new Set(sequences).size).toBe(3);
    expect(await space.usage(sequences[0])).toHaveLength(2);
    expect(await space.usage(sequences[2])).toEqual([]);
    const limited = [await space.usage(0, 2), await space.usage(sequences[0], 1), await space.usage(0, 9)];
    expect(limited.map((found) => found.map(({ sequence }) => sequence))).toEqual([
      sequences.slice(0, 2),
      sequences.slice(1, 2),
      sequences,
    ]);
  }),
  onSpace('the instants of the log never run backwards', async (space) => {
    for (const at of [100, 0, 50, 101]) await use(space, [], undefined, { at: start + at });
    expect((await space.usage()).map(({ at }) => at - start)).toEqual([100, 100, 100, 101]);
  }),
  onSpace('links are made or set as given', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' }), insert({ id: 'c' })]);
    await use(space, ['a', 'b'], undefined, {}, [link('b', 'a', 0.2, start + 9)]);
    expect(await space.links(['a'])).toStrictEqual([link('a', 'b', 0.2, start + 9)]);
    await use(space, ['a', 'b', 'c'], undefined, {}, [
      link('a', 'b', 2 ** -70, start + 1),
      link('b', 'c', 1, start),
    ]);
    expect(await space.links(['b'])).toStrictEqual([link('a', 'b', 2 ** -70, start + 1), link('b', 'c', 1)]);
    expect(await space.history('a')).toHaveLength(1);
  }),
  onSpace('what was removed meanwhile is passed over', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
    const gone = await getOne(space, 'b');
    await write(space, [{ kind: 'redact', id: 'b' }], { verb: 'forget' });
    const usage = {
      at: start,
      strategy: 's',
      effect: 'count',
      queryHash: 'h',
      sessionId: undefined,
    } as const;
    const used = ['a', 'b'].map((id) => ({ id, direct: true }));
    await space.use({ ...usage, used }, async (reader) => ({
      memories: [{ ...((await getOne(reader, 'a')) as MemoryRecord), accessCount: 3 }, gone as MemoryRecord],
      links: [link('a', 'b')],
    }));
    expect(await space.get(['b'])).toEqual([undefined]);
    expect((await getOne(space, 'a'))?.accessCount).toBe(3);
    expect(await space.links(['a'])).toEqual([]);
    expect((await space.usage())[0]?.used).toEqual([{ id: 'a', direct: true }]);
  }),
  onSpace('forgetting takes a memory out of the log, and leaves the rest of it', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'a"b' }), insert({ id: 'b' })]);
    await use(space, ['a', 'a"b', 'b']);
    await use(space, ['a"b']);
    await use(space, ['a']);
    await write(space, [{ kind: 'redact', id: 'a"b' }], { verb: 'forget' });
    const ids = async () => (await space.usage()).map(({ used }) => used.map(({ id }) => id));
    expect(await ids()).toEqual([['a', 'b'], [], ['a']]);
    await write(space, [{ kind: 'remove', id: 'a' }]);
    expect(await ids()).toEqual([['a', 'b'], [], ['a']]);
    await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
    expect(await ids()).toEqual([['b'], [], []]);
  }),
  onSpace('a decision that throws changes nothing, and its reader ends with it', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
    await use(space, ['a', 'b'], count, {}, [link('a', 'b')]);
    const before = await everything(space);
    const own = new RangeError('mine');
    let leaked: SpaceReader | undefined;
    const failing = space.use({ ...((await space.usage())[0] as NewUsage) }, async (reader) => {
      leaked = reader;
      await reader.get(['a']);
      throw own;
    });
    await expect(failing).rejects.toBe(own);
    await expectCode((leaked as SpaceReader).get(['a']), 'closed');
    await expectCode(use(space, ['a', 'b'], count, {}, [link('a', 'b', 2)]), 'invalid_argument');
    await expectCode(use(space, ['a', 'b'], count, {}, [link('a', 'b'), link('a', 'a')]), 'invalid_argument');
    await expectCode(use(space, ['a'], count, { used: [] }), 'invalid_argument');
    await expectCode(use(space, ['a'], count, {}, [link('a', 'b')]), 'invalid_argument');
    expect(await everything(space)).toEqual(before);
  }),
  onSpace('concurrent uses lose nothing', async (space, store) => {
    const other = await store.openSpace('alice');
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
    const usage = {
      at: start,
      strategy: 's',
      effect: 'reinforce',
      queryHash: 'h',
      sessionId: undefined,
    } as const;
    await Promise.all(
      Array.from({ length: 32 }, (_, index) =>
        (index % 2 ? space : other).use(
          { ...usage, used: ['a', 'b'].map((id) => ({ id, direct: true })) },
          async (reader) => {
            const memories = (await reader.get(['a', 'b'])).flatMap((memory) => (memory ? [memory] : []));
            const [present] = await reader.links(['a']);
            return {
              memories: memories.map((memory) => ({
                ...memory,
                ...count(memory),
                sessions: [...memory.sessions, `s${index}`],
              })),
              links: [link('a', 'b', (present?.weight ?? 0) + 1 / 64)],
            };
          },
        ),
      ),
    );
    for (const memory of await space.get(['a', 'b'])) {
      expect(memory?.accessCount).toBe(32);
      expect(new Set(memory?.sessions).size).toBe(32);
    }
    expect((await other.links(['b']))[0]?.weight).toBe(0.5);
    expect(await other.usage()).toHaveLength(32);
  }),
  onSpace('a search sees every use, through any handle', async (space, store) => {
    const other = await store.openSpace('alice');
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' }), insert({ id: 'c', tier: 'cold' })]);
    expect([...(await seen(space)).keys()].toSorted()).toEqual(['a', 'b']);
    expect([...(await seen(other)).keys()].toSorted()).toEqual(['a', 'b']);
    await use(space, ['a', 'c'], (memory) => ({
      ...count(memory),
      stability: 0.9,
      lastAccessedAt: start + 1,
      sessions: ['s'],
      tier: 'hot',
      core: memory.id === 'a',
    }));
    for (const handle of [other, space]) {
      const found = await seen(handle);
      expect([...found.keys()].toSorted()).toEqual(['a', 'b', 'c']);
      expect(found.get('a')).toMatchObject({
        accessCount: 1,
        stability: 0.9,
        lastAccessedAt: start + 1,
        sessionCount: 1,
        core: true,
      });
      expect(found.get('c')).toMatchObject({ tier: 'hot', accessCount: 1, core: false });
      expect(found.get('b')?.accessCount).toBe(0);
    }
    await use(other, ['b'], () => ({ tier: 'cold', coldSince: start }));
    expect([...(await seen(space)).keys()].toSorted()).toEqual(['a', 'c']);
    expect([...(await seen(space, { filter: { deep: true } })).keys()].toSorted()).toEqual(['a', 'b', 'c']);
    // A write after a use keeps the changes of both.
    await write(space, [replace({ id: 'b', content: 'content anew' })]);
    await use(space, ['b'], count);
    expect((await seen(other)).get('b')).toMatchObject({ tier: 'hot', accessCount: 1 });
  }),
  onSpace(
    'a use that makes a memory a stub or hot again updates the word statistics, as a write does',
    async (space) => {
      const bm25 = { profile: resolveProfile(builtinProfile('bm25')), query: { terms: ['tea', 'x'] } };
      const score = async () => (await searchIn(space, { ...search, ...bm25 })).hits[0]?.bm25;
      await write(space, [insert({ id: 'a', content: 'tea' })]);
      const alone = await score();
      await write(space, [insert({ id: 'b', content: 'tea tea pot' })]);
      const both = await score();
      expect(both).not.toBe(alone);
      await use(space, ['b'], () => ({ tier: 'stub' }));
      expect(await score()).toBe(alone);
      const stub = async () => (await inspectIn(space, ['b'], { ...search, ...bm25 }))[0];
      expect(await stub()).toMatchObject({ bm25: 0, excluded: 'tier' });
      await use(space, ['b'], () => ({ tier: 'hot' }));
      expect(await score()).toBe(both);
      expect((await stub())?.bm25).toBeGreaterThan(0);
    },
  ),
  onSpace('a use keeps what it changes as it was before, without what was forgotten since', async (space) => {
    await write(space, [insert({ id: 'a', stability: 0.3 }), insert({ id: 'b' }), insert({ id: 'c' })]);
    await use(space, ['a', 'b'], () => ({ stability: 0.4, lastAccessedAt: start }), {}, [
      link('a', 'b', 0.1),
    ]);
    await use(space, ['a', 'b', 'c'], count, {}, [link('a', 'b', 0.2), link('a', 'c', 0.3)]);
    const dynamics = (fields: object) => ({
      stability: 0.25,
      accessCount: 0,
      lastAccessedAt: undefined,
      seen: undefined,
      sessions: [],
      tier: 'hot',
      core: false,
      coldSince: undefined,
      consolidatedAt: undefined,
      ...fields,
    });
    const { ids, kind } = link('a', 'b');
    const [first, second] = await space.usage();
    expect(first?.before).toStrictEqual({
      memories: [dynamics({ id: 'a', stability: 0.3 }), dynamics({ id: 'b' })],
      links: [{ link: { ids, kind }, before: undefined }],
    });
    expect(second?.before).toStrictEqual({
      memories: [
        ...['a', 'b'].map((id) => dynamics({ id, stability: 0.4, lastAccessedAt: start })),
        dynamics({ id: 'c' }),
      ],
      links: [
        { link: { ids, kind }, before: { weight: 0.1, at: start } },
        { link: { ids: ['a', 'c'], kind }, before: undefined },
      ],
    });
    await write(space, [{ kind: 'redact', id: 'c' }], { verb: 'forget' });
    const [, redacted] = await space.usage();
    expect(redacted?.used.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(redacted?.before?.memories.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(redacted?.before?.links).toHaveLength(1);
    expect(JSON.stringify(await space.usage())).not.toContain('"c"');
  }),
];

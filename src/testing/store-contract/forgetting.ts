import { expect } from 'vitest';
import type { MemoryRecord } from '../../domain/memory.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import type { IndexedText, SpaceStore } from '../../store/store.ts';
import { sampleIndexed, unitVector } from '../sample-memory.ts';
import {
  type ContractTest,
  everything,
  expectCode,
  getOne,
  insert,
  latestUndoable,
  model,
  onSpace,
  replace,
  searchIn,
  start,
  write,
} from './harness.ts';

const bm25 = resolveProfile(builtinProfile('bm25'));
const vector = resolveProfile(builtinProfile('vector'));

async function found(space: SpaceStore, term: string): Promise<readonly string[]> {
  const answer = await searchIn(space, {
    profile: bm25,
    query: { terms: [term] },
    filter: {},
    now: start,
    limit: 10,
  });
  return answer.hits.map((hit) => hit.memory.id);
}

const upper = (memory: MemoryRecord): IndexedText => ({
  terms: new Map([...sampleIndexed(memory).terms].map(([term, count]) => [term.toUpperCase(), count])),
  vector: unitVector([1, 2, 3, 4]),
});

const newModel = { model: 'test-4', dimensions: 4 };

export const forgettingTests: readonly ContractTest[] = [
  onSpace(
    'checks and counts run while a memory is forgotten, and neither blocks the other',
    async (space) => {
      await write(space, [insert({ id: 'a', content: 'tea' }), insert({ id: 'b', content: 'milk' })]);
      const checks = [space.check(), space.check()];
      const forgetting = write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
      const [info, last] = [space.info(), space.check()];
      await forgetting;
      for (const check of [...checks, last]) expect(await check).toEqual([]);
      expect([1, 2]).toContain((await info).memories);
      expect((await space.info()).memories).toBe(1);
      expect(await found(space, 'tea')).toEqual([]);
    },
  ),
  onSpace('forgetting takes a memory and all that it ever said, and leaves its events', async (space) => {
    await write(space, [
      insert({ id: 'a', content: 'secret one' }, [1, 0, 0]),
      insert({ id: 'b', content: 'public' }),
    ]);
    await write(space, [
      replace({ id: 'a', content: 'secret two' }),
      replace({ id: 'b', content: 'public two' }),
    ]);
    await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget', at: start + 7 });
    expect(await getOne(space, 'a')).toBeUndefined();
    expect(await found(space, 'secret')).toEqual([]);
    expect(await found(space, 'two')).toEqual(['b']);
    const history = await space.history('a');
    expect(history.map(({ sequence, before, redacted }) => ({ sequence, before, redacted }))).toEqual([
      { sequence: 1, before: undefined, redacted: true },
      { sequence: 3, before: undefined, redacted: true },
      { sequence: 5, before: undefined, redacted: true },
    ]);
    expect(history[2]).toMatchObject({ verb: 'forget', at: start + 7 });
    expect((await space.history('b'))[1]?.before?.content).toBe('public');
    expect(await latestUndoable(space)).toEqual([]);
    expect(await space.check()).toEqual([]);
  }),
  onSpace(
    'what was removed before can still be forgotten, and forgetting twice is no fault',
    async (space) => {
      await write(space, [insert({ id: 'a', content: 'secret' })]);
      await write(space, [{ kind: 'remove', id: 'a' }]);
      await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
      expect((await space.history('a')).map((event) => [event.before, event.redacted])).toEqual([
        [undefined, true],
        [undefined, true],
        [undefined, true],
      ]);
      await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
      expect(await space.history('a')).toHaveLength(4);
    },
  ),
  onSpace('many are forgotten as one operation, and one of them may be written anew in it', async (space) => {
    await write(space, [
      insert({ id: 'a', content: 'secret' }),
      insert({ id: 'b', content: 'secret too' }),
      insert({ id: 'c', content: 'public' }),
    ]);
    const link = { ids: ['b', 'c'], kind: 'stated', weight: 1, at: start } as const;
    await write(space, [{ kind: 'link', link }], { verb: 'link' });
    await write(
      space,
      [
        { kind: 'redact', id: 'a' },
        { kind: 'redact', id: 'b' },
        insert({ id: 'b', content: 'left' }),
        { kind: 'link', link },
      ],
      { verb: 'forget' },
    );
    expect(await getOne(space, 'a')).toBeUndefined();
    expect((await getOne(space, 'b'))?.content).toBe('left');
    expect((await space.links(['b'])).map(({ ids }) => ids)).toEqual([['b', 'c']]);
    const history = await space.history('b');
    expect(history.map(({ redacted, link }) => [redacted, link !== undefined])).toEqual([
      [true, false],
      [true, false],
      [true, false],
      [false, false],
      [false, true],
    ]);
    expect(new Set(history.slice(2).map(({ operation }) => operation)).size).toBe(1);
    expect(await latestUndoable(space)).toEqual([]);
    expect(await space.check()).toEqual([]);
  }),
  onSpace('what was removed is known from the log, as it was last, until it is forgotten', async (space) => {
    expect(await space.removed()).toEqual([]);
    await write(space, [insert({ id: 'a', content: 'one' }), insert({ id: 'b' }), insert({ id: 'c' })]);
    await write(space, [replace({ id: 'a', content: 'two' })]);
    await write(space, [{ kind: 'remove', id: 'b' }]);
    await write(space, [
      { kind: 'remove', id: 'a' },
      { kind: 'remove', id: 'c' },
    ]);
    await write(space, [insert({ id: 'c', content: 'back' })]);
    expect((await space.removed()).map(({ id, content }) => [id, content])).toEqual([
      ['b', expect.any(String)],
      ['a', 'two'],
    ]);
    await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
    expect((await space.removed()).map(({ id }) => id)).toEqual(['b']);
  }),
  onSpace('an id that was forgotten may be used again, and has a new history', async (space) => {
    await write(space, [insert({ id: 'a', content: 'secret' })]);
    await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
    await write(space, [insert({ id: 'a', content: 'fresh' })]);
    expect(await found(space, 'fresh')).toEqual(['a']);
    expect((await space.history('a')).map((event) => event.redacted)).toEqual([true, true, false]);
    expect((await latestUndoable(space)).map((event) => event.sequence)).toEqual([3]);
  }),
  onSpace('reindexing replaces terms and vectors of all memories, and only those', async (space) => {
    await write(space, [insert({ id: 'a', content: 'tea' }, [1, 0, 0]), insert({ id: 'b', content: 'pot' })]);
    const { memories } = await space.list({ filter: {}, limit: 10 });
    const progress: [number, number][] = [];
    await space.reindex({
      analyzer: 'upper-1',
      embedding: newModel,
      derive: async (page) => page.map(upper),
      progress: (done, total) => progress.push([done, total]),
    });
    expect(progress.at(-1)).toEqual([2, 2]);
    expect(await found(space, 'tea')).toEqual([]);
    expect(await found(space, 'TEA')).toEqual(['a']);
    expect((await space.list({ filter: {}, limit: 10 })).memories).toEqual(memories);
    expect(await space.info()).toMatchObject({
      vectors: 2,
      terms: 2,
      sequence: 2,
      embedding: newModel,
      analyzer: 'upper-1',
    });
    await expectCode(write(space, [insert({ id: 'c' })], {}, { embedding: model }), 'embedder_mismatch');
    const query = { terms: [], vector: unitVector([1, 2, 3, 4]) };
    const answer = await searchIn(space, { profile: vector, query, filter: {}, now: start, limit: 10 });
    expect(answer.hits.map((hit) => hit.memory.id)).toEqual(['b', 'a']);
    await space.reindex({
      analyzer: 'simple-1',
      embedding: undefined,
      derive: async (page) => page.map((memory) => sampleIndexed(memory)),
    });
    expect(await space.info()).toMatchObject({ vectors: 0, embedding: undefined, analyzer: 'simple-1' });
    expect(await found(space, 'tea')).toEqual(['a']);
    expect(await space.check()).toEqual([]);
  }),
  onSpace('a reindex takes in what is written while it runs', async (space, store) => {
    const other = await store.openSpace('alice');
    await write(
      space,
      ['a', 'b', 'c'].map((id) => insert({ id, content: 'old' })),
    );
    let writes = 0;
    await space.reindex({
      analyzer: 'upper-1',
      embedding: newModel,
      async derive(page) {
        if (writes < 3) {
          const id = ['a', 'd', 'e'][writes] as string;
          writes += 1;
          if (writes === 1)
            await write(other, [replace({ id, content: 'new' }), { kind: 'remove', id: 'c' }]);
          else await write(writes === 2 ? other : space, [insert({ id, content: 'new' })]);
        }
        return page.map(upper);
      },
    });
    expect(writes).toBe(3);
    expect((await found(space, 'NEW')).toSorted()).toEqual(['a', 'd', 'e']);
    expect(await found(other, 'OLD')).toEqual(['b']);
    expect(await found(space, 'new')).toEqual([]);
    expect(await space.info()).toMatchObject({ memories: 4, vectors: 4 });
    expect(await space.check()).toEqual([]);
  }),
  onSpace('a reindex that fails changes nothing', async (space) => {
    await write(space, [insert({ id: 'a', content: 'tea' }, [1, 0, 0]), insert({ id: 'b', content: 'pot' })]);
    const before = await everything(space);
    const own = new Error('mine');
    const failing = space.reindex({
      analyzer: 'upper-1',
      embedding: newModel,
      derive: async () => {
        throw own;
      },
    });
    await expect(failing).rejects.toBe(own);
    const reindex = (derived: readonly IndexedText[]) =>
      space.reindex({ analyzer: 'upper-1', embedding: newModel, derive: async () => derived });
    const good = { terms: new Map([['x', 1]]), vector: unitVector([1, 1, 1, 1]) };
    await expectCode(reindex([good]), 'invalid_argument');
    await expectCode(reindex([good, { ...good, vector: unitVector([1, 1, 1]) }]), 'embedder_mismatch');
    expect(await everything(space)).toEqual(before);
    expect(await found(space, 'tea')).toEqual(['a']);
  }),
];

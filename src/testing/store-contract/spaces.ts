import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect } from 'vitest';
import { DEFAULT_SETTINGS, parseFading, type SpaceSettings } from '../../domain/settings.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import type { IndexProgress } from '../../search/index-progress.ts';
import { copySpace } from '../../store/copy-space.ts';
import type { Link, SearchRequest, SpaceInfo, SpaceStore } from '../../store/store.ts';
import {
  type ContractTest,
  everything,
  expectCode,
  getOne,
  insert,
  inspectIn,
  onSpace,
  searchIn,
  start,
  use,
  write,
} from './harness.ts';

const search: SearchRequest = {
  profile: resolveProfile(builtinProfile('bm25')),
  query: { terms: ['tea'] },
  filter: {},
  now: start,
  limit: 10,
};

export const spaceTests: readonly ContractTest[] = [
  {
    title: 'what happens in one space changes no bit of another',
    async run({ store }) {
      const alice = await store.openSpace('alice');
      const bob = await store.openSpace('bob');
      await write(alice, [insert({ id: 'a', content: 'tea for alice' }, [1, 0, 0]), insert({ id: 'b' })]);
      const before = await everything(alice);
      const { durations: _, ...answer } = await searchIn(alice, search);
      const other = { embedding: { model: 'other', dimensions: 2 }, analyzer: 'other-1' };
      await write(
        bob,
        [insert({ id: 'a', content: 'tea for bob', updatedAt: start + 9 }, [0, 1])],
        {},
        other,
      );
      for (let index = 0; index < 20; index++)
        await write(bob, [insert({ id: `x${index}`, content: 'tea' })], {}, other);
      await write(bob, [{ kind: 'redact', id: 'x1' }], { verb: 'forget' }, other);
      expect(await everything(alice)).toEqual(before);
      const { durations: __, ...again } = await searchIn(alice, search);
      expect(again).toEqual(answer);
      expect((await getOne(bob, 'a'))?.content).toBe('tea for bob');
      expect((await alice.history('a')).length).toBe(1);
    },
  },
  {
    title: 'a space that is deleted is gone, and its name can be used again',
    async run({ store }) {
      const alice = await store.openSpace('alice');
      const bob = await store.openSpace('bob');
      await write(alice, [insert({ id: 'a' })]);
      await write(bob, [insert({ id: 'b' })]);
      await store.deleteSpace('alice');
      expect(await store.listSpaces()).toEqual(['bob']);
      await expectCode(alice.get(['a']), 'closed');
      await expectCode(store.deleteSpace('alice'), 'not_found');
      await expectCode(store.deleteSpace('../bob'), 'invalid_space_name');
      expect((await getOne(bob, 'b'))?.id).toBe('b');
      const again = await store.openSpace('alice');
      expect(await again.info()).toMatchObject({ memories: 0, events: 0 });
    },
  },
  {
    title: 'a space that is opened while it is deleted is closed, or is the new one of that name',
    async run({ store }) {
      await write(await store.openSpace('alice'), [insert({ id: 'a' })]);
      const deleting = store.deleteSpace('alice');
      const opening = store.openSpace('alice');
      await deleting;
      const written = await opening
        .then((space) => write(space, [insert({ id: 'b' })]))
        .then(
          () => ['b'],
          () => [],
        );
      expect(await store.listSpaces()).toEqual(written.map(() => 'alice'));
      const again = await store.openSpace('alice');
      expect((await again.get(['a', 'b'])).flatMap((each) => each?.id ?? [])).toEqual(written);
    },
  },
  {
    title:
      'spaces are listed by name; names that differ in case, spelling or signs alone are different spaces',
    async run({ store }) {
      expect(await store.listSpaces()).toEqual([]);
      const names = [
        'alice',
        'Alice',
        'ALICE',
        'a/b',
        'a-b',
        'ü',
        'u\u0308',
        '東京',
        '🫖',
        'con',
        'x'.repeat(200),
        'a b',
        "it's %_*?",
      ];
      for (const name of names) {
        const space = await store.openSpace(name);
        expect(space.name).toBe(name);
        await write(space, [insert({ id: 'me', content: name })]);
      }
      expect(await store.listSpaces()).toEqual(names.toSorted());
      for (const name of names) {
        expect((await getOne(await store.openSpace(name), 'me'))?.content).toBe(name);
      }
    },
  },
  {
    title: 'names that are no names of spaces are refused',
    async run({ store }) {
      for (const name of [
        '',
        '../x',
        'a/../b',
        '/',
        'a//b',
        './a',
        'a\0b',
        'a\nb',
        '\ud800',
        'x'.repeat(201),
      ]) {
        await expectCode(store.openSpace(name), 'invalid_space_name');
      }
      expect(await store.listSpaces()).toEqual([]);
    },
  },
  {
    title: 'read-only: a space that is not there is not made, and one that is there is not written to',
    async run({ store }) {
      await write(await store.openSpace('alice'), [insert({ id: 'a', content: 'tea' })]);
      const error = await expectCode(store.openSpace('bob', { readOnly: true }), 'not_found');
      expect(error.message).toContain('"alice"');
      expect(await store.listSpaces()).toEqual(['alice']);
      const space = await store.openSpace('alice', { readOnly: true });
      expect((await getOne(space, 'a'))?.content).toBe('tea');
      expect((await searchIn(space, search)).hits).toHaveLength(1);
      await expectCode(write(space, [insert({ id: 'b' })]), 'store_read_only');
      await expectCode(use(space, ['a']), 'store_read_only');
      const derive = async () => [];
      await expectCode(space.reindex({ analyzer: 'x', embedding: undefined, derive }), 'store_read_only');
      expect((await space.info()).memories).toBe(1);
    },
  },
  {
    title: 'a space that must exist is not made, and one that is there is opened for writing',
    async run({ store }) {
      const error = await expectCode(store.openSpace('bob', { mustExist: true }), 'not_found');
      expect(error.message).toContain('"bob"');
      expect(await store.listSpaces()).toEqual([]);
      await (await store.openSpace('alice')).close();
      const space = await store.openSpace('alice', { mustExist: true });
      await write(space, [insert({ id: 'a' })]);
      expect((await space.info()).memories).toBe(1);
      await space.close();
      await store.deleteSpace('alice');
      await expectCode(store.openSpace('alice', { mustExist: true }), 'not_found');
      expect(await store.listSpaces()).toEqual([]);
    },
  },
  onSpace(
    'a closed space answers nothing, and closing waits for what is being written',
    async (space, store) => {
      const other = await store.openSpace('alice');
      let closing: Promise<void> | undefined;
      const writing = space.write({ verb: 'remember', at: start }, async (reader) => {
        closing = space.close();
        await reader.get(['a']);
        return { changes: [insert({ id: 'a' })], result: 'written' };
      });
      expect(await writing).toBe('written');
      await closing;
      await space.close();
      await expectAllClosed(space);
      expect((await getOne(other, 'a'))?.id).toBe('a');
    },
  ),
  onSpace('closing the store closes its spaces', async (space, store) => {
    const writing = write(space, [insert({ id: 'a' })]);
    await store.close();
    await writing;
    await expectAllClosed(space);
    await expectCode(store.openSpace('alice'), 'closed');
    await expectCode(store.listSpaces(), 'closed');
    await store.close();
  }),
  {
    title: 'a space keeps the settings that it was made with, until a write changes them',
    async run({ store }) {
      const made: SpaceSettings = { ...DEFAULT_SETTINGS, timeZone: 'Asia/Tokyo', singleValued: ['lives in'] };
      const changed: SpaceSettings = { ...made, fading: parseFading('retention'), people: 'authors' };
      const space = await store.openSpace('alice', { settings: made });
      const other = await store.openSpace('alice', { settings: DEFAULT_SETTINGS });
      const plain = await store.openSpace('bob');
      expect([await space.settings(), await other.settings()]).toEqual([made, made]);
      await write(space, [insert({ id: 'a' })]);
      await write(space, [], { verb: 'configure', run: 'run' }, { settings: changed });
      expect([await space.settings(), await other.settings()]).toEqual([changed, changed]);
      expect((await other.info()).settings).toEqual(changed);
      expect(await plain.settings()).toEqual(DEFAULT_SETTINGS);
      const [event, ...more] = await space.operation(2);
      expect(more).toEqual([]);
      expect(event).toMatchObject({ verb: 'configure', memoryId: '', redacted: false, run: 'run' });
      expect(event?.before).toBeUndefined();
      expect(event?.settings).toEqual(made);
      const decided = space.write({ verb: 'remember', at: start }, async (reader) => ({
        changes: [],
        result: await reader.settings(),
      }));
      expect(await decided).toEqual(changed);
      const failing = write(
        space,
        [insert({ id: 'a' })],
        { verb: 'configure' },
        { settings: DEFAULT_SETTINGS },
      );
      await expectCode(failing, 'already_exists');
      expect(await space.settings()).toEqual(changed);
    },
  },
  {
    title: 'what loads a space to rank it is told how many memories there are',
    async run({ store }) {
      const space = await store.openSpace('alice');
      await write(space, [insert({ id: 'a', content: 'tea' }), insert({ id: 'b' }), insert({ id: 'c' })]);
      await write(space, [{ kind: 'remove', id: 'b' }]);
      const totals: unknown[] = [];
      const listen = (message: unknown) => {
        const { space: name, total } = message as IndexProgress;
        if (name === 'alice') totals.push(total);
      };
      subscribe('salience:index', listen);
      try {
        expect((await searchIn(space, search)).total).toBe(2);
      } finally {
        unsubscribe('salience:index', listen);
      }
      // A store that ranks in its own way loads nothing.
      expect(totals.every((total) => total === 2)).toBe(true);
    },
  },
  {
    title: 'a store that can be written to says that it is ready',
    async run({ store }) {
      expect(await store.ready?.()).toBeUndefined();
    },
  },
  {
    title: 'shared texts, where a store has them, belong to no space and are kept by kind and id',
    async run({ store }) {
      const { shared } = store;
      if (!shared) return;
      await store.openSpace('alice');
      expect(await shared.get('token', 'a')).toBeUndefined();
      await shared.add('token', 'a', 'one');
      await shared.add('other', 'a', 'two');
      await expectCode(shared.add('token', 'a', 'three'), 'already_exists');
      expect([await shared.get('token', 'a'), await shared.get('other', 'a')]).toEqual(['one', 'two']);
      await shared.put('token', 'a', 'it\'s "four" \u{1f600}');
      await shared.put('token', 'A', '');
      expect(await shared.get('token', 'a')).toBe('it\'s "four" \u{1f600}');
      expect(await shared.get('token', 'A')).toBe('');
      expect((await shared.ids('token')).toSorted()).toEqual(['A', 'a']);
      expect(await shared.ids('none')).toEqual([]);
      await store.deleteSpace('alice');
      expect([await shared.remove('token', 'a'), await shared.remove('token', 'a')]).toEqual([true, false]);
      expect(await shared.ids('token')).toEqual(['A']);
      expect(await shared.get('other', 'a')).toBe('two');
    },
  },
  {
    title: 'a text that goes along with a write, where a store can, is written with it or not at all',
    async run({ store }) {
      const { shared } = store;
      if (!shared?.along) return;
      const space = await store.openSpace('alice');
      await write(space, [insert({ id: 'a' })]);
      await shared.add('key', 'k', 'before');
      const failing = shared.along('key', 'k', 'never', () => write(space, [insert({ id: 'a' })]));
      await expectCode(failing, 'already_exists');
      expect(await shared.get('key', 'k')).toBe('before');
      await shared.along('key', 'k', 'after', () => write(space, [insert({ id: 'b' })]));
      expect(await shared.get('key', 'k')).toBe('after');
      await shared.along('key', 'none', 'never', () => write(space, [insert({ id: 'c' })]));
      expect(await shared.get('key', 'none')).toBeUndefined();
      expect((await getOne(space, 'c'))?.id).toBe('c');
    },
  },
  {
    title: 'a store that can copy spaces gives a copy all that the space holds',
    async run({ store }) {
      const { copying } = store;
      if (!copying) return;
      const space = await store.openSpace('alice');
      const link: Link = { ids: ['a', 'b'], kind: 'stated', weight: 0.5, at: start };
      await write(space, [insert({ id: 'a', content: 'tea' }, [1, 0, 0]), insert({ id: 'b' })]);
      await write(space, [{ kind: 'link', link }], { verb: 'link' });
      await use(space, ['a'], () => ({ accessCount: 3 }));
      await expectCode(copying.from('nobody'), 'not_found');
      await expectCode(copying.into('alice'), 'already_exists');
      {
        await using source = await copying.from('alice');
        await using target = await copying.into('bob');
        // Nobody can open it before it is complete.
        expect(await store.listSpaces()).toEqual(['alice']);
        await copySpace(source, target);
      }
      expect(await store.listSpaces()).toEqual(['alice', 'bob']);
      const bob = await store.openSpace('bob');
      const withoutName = async (each: SpaceStore) => {
        const { info, ...rest } = (await everything(each)) as { info: SpaceInfo };
        return { ...rest, info: { ...info, name: '', path: '' } };
      };
      expect(await withoutName(bob)).toEqual(await withoutName(space));
      const hits = async (each: SpaceStore) => (await searchIn(each, search)).hits;
      expect(await hits(bob)).toEqual(await hits(space));
      await expectCode(copying.into('bob'), 'already_exists');
    },
  },
  onSpace('a check of an undamaged space finds nothing', async (space) => {
    expect(await space.check()).toEqual([]);
    await write(space, [insert({ id: 'a' }, [1, 0, 0]), insert({ id: 'b' })]);
    expect(await space.check()).toEqual([]);
  }),
];

async function expectAllClosed(space: SpaceStore): Promise<void> {
  const calls: readonly (() => Promise<unknown>)[] = [
    () => space.get(['a']),
    () => space.history('a'),
    () => space.operation(1),
    () => write(space, []),
    () => searchIn(space, search),
    () => inspectIn(space, ['a'], search),
    () => space.links(['a']),
    () => use(space, []),
    () => space.usage(),
    () => space.list({ filter: {}, limit: 1 }),
    () => space.info(),
    () => space.derivation(),
    () => space.reindex({ analyzer: 'x', embedding: undefined, derive: async () => [] }),
    () => space.backup('never-written.db'),
    () => space.check(),
  ];
  for (const call of calls) await expectCode(call(), 'closed');
}

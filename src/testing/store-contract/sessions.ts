import { expect } from 'vitest';
import type { Change, Session, SpaceStore } from '../../store/store.ts';
import {
  type ContractTest,
  expectCode,
  getOne,
  insert,
  latestUndoable,
  onSpace,
  start,
  write,
} from './harness.ts';

const session = (id: string, fields: Partial<Session> = {}): Session => ({
  id,
  scope: 'global',
  startedAt: start,
  activeAt: start,
  endedAt: undefined,
  ...fields,
});
const put = (space: SpaceStore, ...sessions: readonly Session[]) =>
  write(
    space,
    sessions.map((each): Change => ({ kind: 'session', session: each })),
  );

const statement = { scope: 'global', content: 'The sky is green' };
const tombstone = { at: start + 3, reason: 'a mistake' };

export const sessionTests: readonly ContractTest[] = [
  onSpace(
    'a session is kept as it was put, and the open one that began last is found without its id',
    async (space) => {
      expect(await space.session()).toBeUndefined();
      expect(await space.session('a')).toBeUndefined();
      const a = session('a', { scope: 'project:a', activeAt: start + 5 });
      await put(space, a, session('b', { startedAt: start - 1 }));
      expect(await space.session('a')).toStrictEqual(a);
      expect(await space.session()).toStrictEqual(a);
      await put(space, { ...a, endedAt: start + 6 });
      expect(await space.session('a')).toStrictEqual({ ...a, endedAt: start + 6 });
      expect((await space.session())?.id).toBe('b');
      // Of two sessions that began at the same instant, the one with the greater id counts.
      await put(space, session('c', { startedAt: start - 1 }));
      expect((await space.session())?.id).toBe('c');
    },
  ),
  onSpace('sessions are work and not belief: they make no events', async (space) => {
    await put(space, session('a'));
    expect(await space.info()).toMatchObject({ events: 0, sequence: 0 });
    expect(await latestUndoable(space)).toEqual([]);
  }),
  onSpace('a session is written with the rest of its write, or not at all', async (space) => {
    await write(space, [insert({ id: 'a' })]);
    const twice: Change[] = [{ kind: 'session', session: session('s') }, insert({ id: 'a' })];
    await expectCode(write(space, twice), 'already_exists');
    expect(await space.session('s')).toBeUndefined();
    const seen = await space.write({ verb: 'remember', at: start }, async (reader) => ({
      changes: [],
      result: await reader.session('s'),
    }));
    expect(seen).toBeUndefined();
  }),
  onSpace('a session is of one space, and of every handle of it', async (space, store) => {
    await put(space, session('a'));
    expect((await (await store.openSpace('alice')).session())?.id).toBe('a');
    expect(await (await store.openSpace('bob')).session('a')).toBeUndefined();
  }),
];

export const tombstoneTests: readonly ContractTest[] = [
  onSpace(
    'a tombstone is found by the scope and content of its statement, until it is removed',
    async (space) => {
      expect(await space.tombstones([statement])).toEqual([undefined]);
      await write(space, [{ kind: 'add-tombstone', statement, tombstone }]);
      const others = [
        { ...statement, scope: 'project:a' },
        { ...statement, content: 'The sky is green!' },
        // The boundary between scope and content matters.
        { scope: 'globalThe', content: ' sky is green' },
      ];
      expect((await space.tombstones([...others, statement])).map((each) => each && { ...each })).toEqual([
        undefined,
        undefined,
        undefined,
        tombstone,
      ]);
      const later = { at: start + 9, reason: 'another mistake' };
      await write(space, [{ kind: 'add-tombstone', statement, tombstone: later }]);
      expect({ ...(await space.tombstones([statement]))[0] }).toEqual(later);
      await write(space, [{ kind: 'remove-tombstone', statement: others[0] as typeof statement }]);
      expect(await space.tombstones([statement])).not.toEqual([undefined]);
      await write(space, [{ kind: 'remove-tombstone', statement }]);
      expect(await space.tombstones([statement])).toEqual([undefined]);
    },
  ),
  onSpace('a tombstone is found however its statement is spaced or composed', async (space) => {
    const forms = ['Zoë likes tea', ' Zoe\u0308  likes\n tea '].map((content) => ({
      scope: 'global',
      content,
    }));
    for (const [stored, lookedUp] of [forms, forms.toReversed()]) {
      await write(space, [{ kind: 'add-tombstone', statement: stored!, tombstone }]);
      expect((await space.tombstones([lookedUp!]))[0]?.reason).toBe(tombstone.reason);
      await write(space, [{ kind: 'remove-tombstone', statement: lookedUp! }]);
      expect(await space.tombstones(forms)).toEqual([undefined, undefined]);
    }
  }),
  onSpace('a tombstone outlives the memory, and belongs to one space', async (space, store) => {
    await write(space, [insert({ id: 'a', ...statement })]);
    await write(space, [{ kind: 'add-tombstone', statement, tombstone }]);
    await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
    expect(await getOne(space, 'a')).toBeUndefined();
    expect(await space.tombstones([statement])).not.toEqual([undefined]);
    const bob = await store.openSpace('bob');
    expect(await bob.tombstones([statement])).toEqual([undefined]);
    await write(bob, [{ kind: 'remove-tombstone', statement }]);
    expect(await space.tombstones([statement])).not.toEqual([undefined]);
  }),
  onSpace('a write that fails adds no tombstone', async (space) => {
    await expectCode(
      write(space, [
        { kind: 'add-tombstone', statement, tombstone },
        { kind: 'remove', id: 'x' },
      ]),
      'not_found',
    );
    expect(await space.tombstones([statement])).toEqual([undefined]);
  }),
];

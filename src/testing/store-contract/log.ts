import { expect } from 'vitest';
import type { ActivityPart } from '../../store/activity.ts';
import type { Change, SpaceStore } from '../../store/store.ts';
import {
  type ContractTest,
  everything,
  expectCode,
  insert,
  latestUndoable,
  onSpace,
  replace,
  start,
  use,
  write,
} from './harness.ts';

const sequences = async (space: SpaceStore, operation?: number) =>
  (await (operation === undefined ? latestUndoable(space) : space.operation(operation))).map(
    (event) => event.sequence,
  );

export const logTests: readonly ContractTest[] = [
  onSpace('every change is one event, and the events of a write are one operation', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' })], { at: start });
    await write(space, [replace({ id: 'a', content: 'new' })], { verb: 'update', at: start + 5 });
    await write(space, [{ kind: 'remove', id: 'b' }], { verb: 'import', at: start + 9 });
    const [a, b] = [await space.history('a'), await space.history('b')];
    expect(a.map(({ before: _, ...event }) => event)).toEqual([
      {
        sequence: 1,
        operation: 1,
        at: start,
        verb: 'remember',
        memoryId: 'a',
        redacted: false,
        undoes: undefined,
      },
      {
        sequence: 3,
        operation: 3,
        at: start + 5,
        verb: 'update',
        memoryId: 'a',
        redacted: false,
        undoes: undefined,
      },
    ]);
    expect(a.map((event) => event.before?.content)).toEqual([undefined, 'content of a']);
    expect(b.map((event) => [event.sequence, event.operation, event.verb])).toEqual([
      [2, 1, 'remember'],
      [4, 4, 'import'],
    ]);
    expect(b[1]?.before?.content).toBe('content of b');
    expect(await space.history('x')).toEqual([]);
    expect(await space.info()).toMatchObject({ events: 4, sequence: 4 });
  }),
  onSpace('instants never run backwards', async (space) => {
    await write(space, [insert({ id: 'a' })], { at: start + 100 });
    await write(space, [replace({ id: 'a', content: '1' })], { at: start });
    await write(space, [replace({ id: 'a', content: '2' })], { at: start + 50 });
    await write(space, [replace({ id: 'a', content: '3' })], { at: start + 101 });
    const instants = (await space.history('a')).map((event) => event.at - start);
    expect(instants).toEqual([100, 100, 100, 101]);
  }),
  onSpace('an operation is found by its sequence', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
    await write(space, [insert({ id: 'c' })]);
    expect(await sequences(space, 1)).toEqual([1, 2]);
    expect(await sequences(space, 3)).toEqual([3]);
    expect(await sequences(space, 2)).toEqual([]);
    expect(await sequences(space, 99)).toEqual([]);
  }),
  onSpace('the latest operation that can be undone: undone ones and undos are passed over', async (space) => {
    expect(await latestUndoable(space)).toEqual([]);
    await write(space, [insert({ id: 'a' })]);
    await write(space, [insert({ id: 'b' }), insert({ id: 'c' })]);
    expect(await sequences(space)).toEqual([2, 3]);
    await write(
      space,
      [
        { kind: 'remove', id: 'c' },
        { kind: 'remove', id: 'b' },
      ],
      { verb: 'undo', undoes: 2 },
    );
    expect((await space.operation(4)).map((event) => event.undoes)).toEqual([2, 2]);
    expect(await sequences(space)).toEqual([1]);
    await write(space, [insert({ id: 'd' })]);
    expect(await sequences(space)).toEqual([6]);
    await write(space, [{ kind: 'remove', id: 'd' }], { verb: 'undo', undoes: 6 });
    await write(space, [{ kind: 'remove', id: 'a' }], { verb: 'undo', undoes: 1 });
    expect(await latestUndoable(space)).toEqual([]);
  }),
  onSpace('what was undone, forgotten, or never happened cannot be undone', async (space) => {
    await write(space, [insert({ id: 'a' })]);
    await write(space, [insert({ id: 'b' }), insert({ id: 'c' })]);
    await write(space, [replace({ id: 'a', content: 'new' })]);
    await write(space, [replace({ id: 'a' })], { verb: 'undo', undoes: 4 });
    await write(space, [{ kind: 'redact', id: 'b' }], { verb: 'forget' });
    for (const [undoes, problem] of [
      [4, 'undone'],
      [5, 'undo'],
      [2, 'redacted'],
      [3, 'unknown'],
      [77, 'unknown'],
    ] as const) {
      const refused = write(space, [insert({ id: 'z' })], { verb: 'undo', undoes });
      const { details } = await expectCode(refused, 'cannot_undo');
      expect(details['problem']).toBe(problem);
    }
    expect(await space.get(['z'])).toEqual([undefined]);
    expect(await sequences(space)).toEqual([1]);
  }),
  onSpace('an operation keeps its run, and a run has its own operations and no others', async (space) => {
    const longest = 'r'.repeat(128);
    const runs = [
      'run',
      'Run',
      'run-2',
      'ru',
      'run ',
      'r_n',
      'r%',
      'Zoë',
      'Zoe\u0308',
      longest,
      longest.slice(1),
    ];
    for (const [at, run] of runs.entries()) await write(space, [insert({ id: `m${at}` })], { run });
    const link: Change = { kind: 'link', link: { ids: ['m0', 'm1'], kind: 'stated', weight: 1, at: start } };
    await write(space, [insert({ id: 'x' }), insert({ id: 'y' }), link], { run: 'run' });
    await write(space, [insert({ id: 'z' })]);
    const of = Object.fromEntries(await Promise.all(runs.map(async (run) => [run, await space.run(run)])));
    const first = runs.length + 1;
    expect(of).toEqual(Object.fromEntries(runs.map((run, at) => [run, at === 0 ? [1, first] : [at + 1]])));
    expect(await space.run('none')).toEqual([]);
    expect((await space.operation(first)).map(({ run }) => run)).toEqual(['run', 'run', 'run']);
    const listed = await space.operations({ limit: 100, ids: 0 });
    expect(listed.map(({ run }) => run).reverse()).toEqual([...runs, 'run', undefined]);
  }),
  onSpace('operations are listed newest first, those that are asked for', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' }), insert({ id: 'c' })]);
    const link: Change = { kind: 'link', link: { ids: ['a', 'b'], kind: 'stated', weight: 1, at: start } };
    await write(space, [replace({ id: 'a', content: 'new' }), link], { verb: 'update', at: start + 1 });
    await write(space, [insert({ id: 'd' })], { at: start + 2 });
    await write(space, [{ kind: 'remove', id: 'd' }], { verb: 'undo', undoes: 6, at: start + 3 });
    const all = await space.operations({ limit: 9, ids: 2 });
    expect(all).toEqual([
      {
        operation: 7,
        verb: 'undo',
        undoes: 6,
        at: start + 3,
        memories: 1,
        ids: ['d'],
        links: 0,
        problem: 'undo',
      },
      {
        operation: 6,
        verb: 'remember',
        at: start + 2,
        memories: 1,
        ids: ['d'],
        links: 0,
        undoneBy: 7,
        problem: 'undone',
      },
      { operation: 4, verb: 'update', at: start + 1, memories: 1, ids: ['a'], links: 1 },
      {
        operation: 1,
        verb: 'remember',
        at: start,
        memories: 3,
        ids: ['a', 'b'],
        links: 0,
        problem: 'changed',
      },
    ]);
    const [undo, made, updated, first] = all;
    expect(await space.operations({ limit: 2, ids: 2 })).toEqual([undo, made]);
    expect(await space.operations({ limit: 9, ids: 2, before: 6 })).toEqual([updated, first]);
    expect(await space.operations({ limit: 9, ids: 2, verb: 'remember' })).toEqual([made, first]);
    expect(await space.operations({ limit: 1, ids: 2, verb: 'remember', before: 6 })).toEqual([first]);
    expect((await space.operations({ limit: 9, ids: 0 })).flatMap(({ ids }) => ids)).toEqual([]);
  }),
  onSpace('a part of an operation is undone only where that was asked for', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
    await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
    const undo = (partly: boolean) =>
      write(space, [{ kind: 'remove', id: 'b' }], { verb: 'undo', undoes: 1, partly });
    await expectCode(undo(false), 'cannot_undo');
    expect((await space.get(['b']))[0]?.id).toBe('b');
    await undo(true);
    expect(await space.get(['b'])).toEqual([undefined]);
    expect((await space.operation(4)).map(({ undoes }) => undoes)).toEqual([1]);
    // Two processes may undo the same part: the second one is refused, although a memory was forgotten too.
    const before = await everything(space);
    const { details } = await expectCode(undo(true), 'cannot_undo');
    expect(details['problem']).toBe('undone');
    expect(await everything(space)).toEqual(before);
    const first = (await space.operations({ limit: 9, ids: 0 })).at(-1);
    expect(first).toMatchObject({ operation: 1, undoneBy: 4, problem: 'redacted' });
  }),
  onSpace('a decision sees what can be undone', async (space) => {
    await write(space, [insert({ id: 'a' })]);
    const seen = await space.write({ verb: 'update', at: start }, async (reader) => ({
      changes: [],
      result: (await latestUndoable(reader)).map((event) => event.memoryId),
    }));
    expect(seen).toEqual(['a']);
  }),
  onSpace(
    'both logs are fed in the order in which they grew, from any place, in parts of any size',
    async (space) => {
      const empty = await space.activity({ sequence: 0, usage: 0 }, 5);
      expect(empty).toMatchObject({ entries: [], place: { sequence: 0, usage: 0 } });
      expect(empty.from).toEqual(empty.place);
      await use(space, []);
      await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
      await use(space, ['a']);
      await use(space, ['b']);
      await write(space, [replace({ id: 'a', content: 'new' })], { verb: 'update' });
      await use(space, ['a', 'b']);
      const told = (entries: ActivityPart['entries']) =>
        entries.map((entry) => ('used' in entry ? entry.used.map(({ id }) => id).join('+') : entry.sequence));
      const all = ['', 1, 2, 'a', 'b', 3, 'a+b'];
      for (const limit of [1, 2, 3, 7, 8]) {
        let place = empty.place;
        const seen: unknown[] = [];
        for (;;) {
          const part = await space.activity(place, limit);
          expect(part.from).toEqual(place);
          expect(part.entries.length).toBeLessThanOrEqual(limit);
          if (part.entries.length === 0) break;
          seen.push(...told(part.entries));
          place = part.place;
        }
        expect(seen).toEqual(all);
        expect(place).toMatchObject({ sequence: 3, usage: 4 });
        expect(await space.activity(undefined, limit)).toEqual({ entries: [], from: place, place });
      }
      const [event] = (await space.activity({ sequence: 2, usage: 3 }, 1)).entries;
      expect(event).toEqual((await space.history('a'))[1]);
      const [last] = (await space.activity({ sequence: 3, usage: 3 }, 1)).entries;
      expect(last).toEqual((await space.usage(3))[0]);
    },
  ),
  onSpace('a place is not that of a space that was deleted and made again', async (space, store) => {
    const fill = async (each: SpaceStore, at: number) => {
      for (const id of ['a', 'b']) await write(each, [insert({ id })], { at });
      await use(each, ['a']);
    };
    await fill(space, start);
    const end = await space.activity(undefined, 1);
    const first = await space.activity({ sequence: 0, usage: 0 }, 1);
    await space.close();
    await store.deleteSpace('alice');
    const again = await store.openSpace('alice');
    await fill(again, start + 1);
    for (const { place } of [end, first]) {
      const { from } = await again.activity(place, 1);
      expect(from).toMatchObject({ sequence: place.sequence, usage: place.usage });
      expect(from.stamp).not.toBe(place.stamp);
    }
  }),
  onSpace('the version differs after every write and use, of any handle', async (space, store) => {
    const other = await store.openSpace('alice');
    const seen = [await space.version()];
    expect(await space.version()).toBe(seen[0]);
    await write(space, [insert({ id: 'a' })]);
    seen.push(await space.version());
    await write(other, [replace({ id: 'a', content: 'new' })]);
    seen.push(await space.version());
    await use(other, ['a']);
    seen.push(await space.version());
    await write(other, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
    seen.push(await space.version());
    expect(new Set(seen).size).toBe(5);
    expect(await space.version()).toBe(seen[4]);
    await other.close();
    await expectCode(other.version(), 'closed');
  }),
];

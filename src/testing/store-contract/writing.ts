import { expect } from 'vitest';
import type { Change, Snapshot, SpaceReader } from '../../store/store.ts';
import { gate } from '../gate.ts';
import { sampleIndexed, sampleMemory } from '../sample-memory.ts';
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
  start,
  use,
  write,
} from './harness.ts';

export const writingTests: readonly ContractTest[] = [
  onSpace('write returns the result of the decision', async (space) => {
    const result = await space.write({ verb: 'remember', at: start }, async () => ({
      changes: [insert({ id: 'a' })],
      result: { answer: 42 },
    }));
    expect(result).toEqual({ answer: 42 });
    expect((await getOne(space, 'a'))?.content).toBe('content of a');
  }),
  onSpace('a decision sees the state that it decides on, and its reader ends with it', async (space) => {
    await write(space, [insert({ id: 'a', accessCount: 1 })]);
    let leaked: SpaceReader | undefined;
    await space.write({ verb: 'update', at: start }, async (reader) => {
      leaked = reader;
      const memory = await getOne(reader, 'a');
      expect(await reader.history('a')).toHaveLength(1);
      return {
        changes: [replace({ id: 'a', accessCount: (memory?.accessCount ?? 0) + 1 })],
        result: undefined,
      };
    });
    expect((await getOne(space, 'a'))?.accessCount).toBe(2);
    await expectCode((leaked as SpaceReader).get(['a']), 'closed');
  }),
  onSpace('writes run one after the other: no increment is lost', async (space, store) => {
    const other = await store.openSpace('alice');
    await write(space, [insert({ id: 'a' })]);
    const increment = (index: number) =>
      (index % 2 ? space : other).write({ verb: 'update', at: start }, async (reader) => {
        const memory = (await getOne(reader, 'a')) ?? sampleMemory({ id: 'a' });
        const next = { ...memory, accessCount: memory.accessCount + 1 };
        return { changes: [{ kind: 'replace', memory: next }], result: undefined };
      });
    await Promise.all(Array.from({ length: 20 }, (_, index) => increment(index)));
    expect((await getOne(space, 'a'))?.accessCount).toBe(20);
    expect((await getOne(other, 'a'))?.accessCount).toBe(20);
  }),
  onSpace('the changes of a write are logged in their order', async (space) => {
    await write(space, [
      insert({ id: 'a' }),
      insert({ id: 'b' }),
      replace({ id: 'a', content: 'other' }),
      insert({ id: 'c' }),
    ]);
    const events = (await latestUndoable(space)).toSorted((one, other) => one.sequence - other.sequence);
    expect(events.map(({ memoryId }) => memoryId)).toEqual(['a', 'b', 'a', 'c']);
    expect(events.map(({ before }) => before?.content)).toEqual([
      undefined,
      undefined,
      'content of a',
      undefined,
    ]);
    expect((await getOne(space, 'a'))?.content).toBe('other');
  }),
  onSpace('nothing is seen of a write before it is committed', async (space) => {
    await write(space, [insert({ id: 'a', content: 'old' })]);
    const [entered, released] = [gate(), gate()];
    const writing = space.write({ verb: 'update', at: start }, async () => {
      entered.open();
      await released.opened;
      return { changes: [replace({ id: 'a', content: 'new' })], result: undefined };
    });
    await entered.opened;
    // A store may make the snapshot wait until the write is over.
    const seen = space.snapshot(async (snapshot) => {
      return { content: (await getOne(snapshot, 'a'))?.content, sequence: await snapshot.sequence() };
    });
    released.open();
    await writing;
    expect([
      { content: 'old', sequence: 1 },
      { content: 'new', sequence: 2 },
    ]).toContainEqual(await seen);
    expect((await getOne(space, 'a'))?.content).toBe('new');
  }),
  onSpace('a snapshot stays at its moment while others write', async (space, store) => {
    const other = await store.openSpace('alice');
    await write(space, [insert({ id: 'a', content: 'old' }), insert({ id: 'b' })]);
    const entered = gate();
    const look = async (snapshot: Snapshot) => ({
      content: (await getOne(snapshot, 'a'))?.content,
      listed: (await snapshot.list({ filter: {}, limit: 9 })).memories.map(({ id }) => id),
      events: (await snapshot.history('a')).length,
      links: (await snapshot.links(['a'])).length,
      uses: (await snapshot.usage()).length,
      sequence: await snapshot.sequence(),
    });
    const before = await space.snapshot(look);
    const seen = space.snapshot(async (snapshot) => {
      entered.open();
      const looks: unknown[] = [];
      // Long enough for a write to happen meanwhile. A store may make the write wait until the snapshot is over.
      for (let round = 0; round < 50; round++) looks.push(await look(snapshot));
      return looks;
    });
    await entered.opened;
    const link: Change = { kind: 'link', link: { ids: ['a', 'b'], kind: 'stated', weight: 0.5, at: start } };
    await write(other, [replace({ id: 'a', content: 'new' }), insert({ id: 'c' }), link], { verb: 'update' });
    await use(other, ['a']);
    const after = await space.snapshot(look);
    expect([before.sequence, after.sequence, after.content, after.uses]).toEqual([2, 5, 'new', 1]);
    const looks = await seen;
    for (const each of looks) expect(each).toEqual(looks[0]);
    // A store that cannot keep a snapshot starts over at a later moment.
    expect([before, { ...after, uses: 0 }, after]).toContainEqual(looks[0]);
  }),
  onSpace('a decision that throws changes nothing, and its error arrives', async (space) => {
    await write(space, [insert({ id: 'a' })]);
    const before = await everything(space);
    const own = new RangeError('mine');
    const failing = space.write({ verb: 'update', at: start + 1 }, async () => {
      throw own;
    });
    await expect(failing).rejects.toBe(own);
    expect(await everything(space)).toEqual(before);
    await write(space, [insert({ id: 'b' })]);
    expect((await space.info()).memories).toBe(2);
  }),
  ...(
    [
      ['an id that exists', 'already_exists', insert({ id: 'a', content: 'second' })],
      ['an id made twice in one write', 'already_exists', insert({ id: 'new-1' })],
      ['replacing what is not there', 'not_found', replace({ id: 'x' })],
      ['removing what is not there', 'not_found', { kind: 'remove', id: 'x' }],
      ['forgetting what never was', 'not_found', { kind: 'redact', id: 'x' }],
      ['a vector of another length', 'embedder_mismatch', insert({ id: 'c' }, [1, 2])],
      ['a vector that is not of unit length', 'invalid_argument', withVector([1, 1, 1])],
      ['a vector that is not a number', 'invalid_argument', withVector([Number.NaN, 0, 1])],
    ] as const
  ).map(([title, code, bad]) =>
    onSpace(`${title} in the middle of a write changes nothing`, async (space) => {
      await write(space, [insert({ id: 'a', content: 'first words' }, [1, 0, 0]), insert({ id: 'b' })]);
      const before = await everything(space);
      const changes: Change[] = [
        insert({ id: 'new-1', content: 'fresh words' }, [0, 1, 0]),
        replace({ id: 'b', content: 'replaced' }, [0, 0, 1]),
        { kind: 'remove', id: 'a' },
        ...(bad.kind === 'insert' && bad.memory.id === 'a' ? [insert({ id: 'a' })] : []),
        bad,
        insert({ id: 'new-2' }),
      ];
      await expectCode(write(space, changes), code);
      expect(await everything(space)).toEqual(before);
      // Nothing of the failed write lingers in caches either.
      await write(space, [insert({ id: 'new-1', content: 'fresh words' }, [0, 1, 0])]);
      expect(await space.check()).toEqual([]);
    }),
  ),
  onSpace('vectors of two models do not mix', async (space) => {
    await write(space, [insert({ id: 'a' })], {}, { embedding: undefined });
    expect((await space.info()).embedding).toBeUndefined();
    const unnamed = write(space, [insert({ id: 'b' }, [1, 0, 0])], {}, { embedding: undefined });
    await expectCode(unnamed, 'embedder_mismatch');
    await write(space, [insert({ id: 'b' }, [1, 0, 0])]);
    expect((await space.info()).embedding).toEqual(model);
    expect((await space.derivation()).embedding).toEqual(model);
    await write(space, [insert({ id: 'c' }, [0, 1, 0])], {}, { embedding: undefined });
    const before = await everything(space);
    for (const embedding of [
      { model: 'other', dimensions: 3 },
      { model: 'test-3', dimensions: 4 },
    ]) {
      await expectCode(write(space, [insert({ id: 'd' })], {}, { embedding }), 'embedder_mismatch');
    }
    expect(await everything(space)).toEqual(before);
  }),
  onSpace('terms of two analyzers do not mix', async (space) => {
    expect((await space.derivation()).analyzer).toBeUndefined();
    await write(space, [insert({ id: 'a' })], {}, { analyzer: 'english-1' });
    await write(space, [insert({ id: 'b' })], {}, { analyzer: 'english-1' });
    expect(await space.derivation()).toEqual({ embedding: model, analyzer: 'english-1' });
    const before = await everything(space);
    await expectCode(write(space, [insert({ id: 'c' })], {}, { analyzer: 'english-2' }), 'embedder_mismatch');
    expect(await everything(space)).toEqual(before);
  }),
  onSpace('a write without changes leaves no trace', async (space) => {
    await write(space, [insert({ id: 'a' })]);
    const before = await everything(space);
    await write(space, []);
    expect(await everything(space)).toEqual(before);
  }),
  onSpace('changes apply in order: one memory may change more than once', async (space) => {
    await write(space, [insert({ id: 'a', content: 'one' })]);
    await write(space, [
      { kind: 'remove', id: 'a' },
      insert({ id: 'a', content: 'two' }),
      replace({ id: 'a', content: 'three' }),
    ]);
    expect((await getOne(space, 'a'))?.content).toBe('three');
    const befores = (await space.history('a')).map((event) => event.before?.content);
    expect(befores).toEqual([undefined, 'one', undefined, 'two']);
    expect(await space.check()).toEqual([]);
  }),
];

function withVector(numbers: readonly number[]): Change {
  const memory = sampleMemory({ id: 'c' });
  return {
    kind: 'insert',
    memory,
    indexed: { ...sampleIndexed(memory), vector: Float32Array.from(numbers) },
  };
}

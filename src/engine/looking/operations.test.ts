import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MemoryEngine, openMemory } from '../../index.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import { live } from '../../testing/live-memory.ts';
import { arbitraryStep, attempt } from '../../testing/random-steps.ts';

test('says what each write did, and which ones can be undone', async () => {
  const { memory, clock } = await live({ embedder: 'none' });
  expect(await memory.operations()).toEqual([]);
  await memory.rememberMany([
    { id: 'a', content: 'Tea' },
    { id: 'b', content: 'Coffee' },
  ]);
  await memory.update('a', { content: 'Green tea' });
  clock.advance(1000);
  await memory.link('a', 'b');
  await memory.recall('tea');
  await memory.undo();
  await memory.configure({ timeZone: 'Europe/Berlin' });
  await memory.forget('b');
  await expect(memory.undo({ operation: 5 })).rejects.toThrow(
    'operation 5 undid operation 4, and an undo cannot be undone',
  );
  const at = '2026-01-01T00:00:01.000Z';
  expect(await memory.operations()).toEqual([
    {
      operation: 7,
      verb: 'forget',
      at,
      memories: 1,
      ids: ['b'],
      links: 0,
      undoable: false,
      because: 'forgotten',
    },
    { operation: 6, verb: 'configure', at, memories: 0, ids: [], links: 0, undoable: true },
    {
      operation: 5,
      verb: 'undo',
      at,
      memories: 1,
      ids: ['a'],
      links: 0,
      undoes: 4,
      undoable: false,
      because: 'undo',
    },
    {
      operation: 4,
      verb: 'link',
      at,
      memories: 1,
      ids: ['a'],
      links: 0,
      undoneBy: 5,
      undoable: false,
      because: 'forgotten',
    },
    expect.objectContaining({ operation: 3, verb: 'update', ids: ['a'], undoable: true }),
    expect.objectContaining({
      operation: 1,
      verb: 'remember',
      memories: 2,
      ids: ['a', 'b'],
      because: 'forgotten',
    }),
  ]);
  await memory.close();
});

test('names what was linked, and at most ten of many', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
  const ids = Array.from({ length: 11 }, (_, at) => `m${at}`);
  await memory.rememberMany(ids.map((id) => ({ id, content: `Statement ${id}` })));
  await memory.link('m1', 'm2');
  await memory.link('m1', 'm2', { weight: 0.5 });
  const [again, linked, made] = await memory.operations();
  expect(again).toMatchObject({ verb: 'link', memories: 0, links: 1, ids: ['m1', 'm2'], undoable: true });
  expect(linked).toMatchObject({ verb: 'link', links: 1, because: 'changed' });
  // A link is nothing that the memories say.
  expect(made).toMatchObject({ memories: 11, ids: ids.slice(0, 10), undoable: true });
});

test('names all that was remembered, also where some of it was linked', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'alice' });
  const run = 'Went for a long run along the river on';
  const texts = { tea: 'Anna likes tea', mon: `${run} Monday`, tue: `${run} Tuesday` };
  await memory.rememberMany(Object.entries(texts).map(([id, content]) => ({ id, content })));
  expect(await memory.operations()).toMatchObject([{ memories: 3, links: 1, ids: ['tea', 'mon', 'tue'] }]);
});

test('goes on before an operation, and keeps to a verb', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
  for (const id of ['a', 'b', 'c']) await memory.remember(`Statement ${id}`, { id });
  await memory.update('a', { importance: 1 });
  const of = async (options: Parameters<typeof memory.operations>[0]) =>
    (await memory.operations(options)).map(({ operation }) => operation);
  expect(await of({ limit: 2 })).toEqual([4, 3]);
  expect(await of({ limit: 2, before: 3 })).toEqual([2, 1]);
  expect(await of({ before: 1 })).toEqual([]);
  expect(await of({ verb: 'remember', limit: 2 })).toEqual([3, 2]);
  expect(await of({ verb: 'update' })).toEqual([4]);
  await expect(memory.operations({ verb: 'recall' as never })).rejects.toThrow(
    'verb: "recall" is not one of',
  );
  await expect(memory.operations({ limit: 0 })).rejects.toThrow('limit: 0');
  await expect(memory.operations({ before: 0 })).rejects.toThrow('before: 0');
});

test.each(['linked again', 'unlinked'] as const)(
  'a link of a memory that is gone does not come back: %s',
  async (what) => {
    await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
    for (const id of ['a', 'b']) await memory.remember(`Statement ${id}`, { id });
    await memory.link('a', 'b');
    if (what === 'unlinked') await memory.unlink('a', 'b');
    else await memory.link('a', 'b', { weight: 0.5 });
    expect((await memory.operations())[0]).toMatchObject({ operation: 4, undoable: true });
    await memory.undo({ operation: 2 });
    expect((await memory.operations())[1]).toMatchObject({
      operation: 4,
      undoable: false,
      because: 'changed',
    });
    await expect(memory.undo({ operation: 4 })).rejects.toMatchObject({
      code: 'cannot_undo',
      details: { id: 'b', operation: 4 },
    });
  },
);

test.each(['with the memory', 'also where another memory has its id'] as const)(
  'a link that an undo took away cannot be undone, %s',
  async (how) => {
    await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
    for (const id of ['a', 'b']) await memory.remember(`Statement ${id}`, { id });
    await memory.link('a', 'b');
    await memory.undo({ operation: 2 });
    if (how !== 'with the memory') await memory.remember('Another one', { id: 'b' });
    const linked = (await memory.operations()).find(({ operation }) => operation === 3);
    expect(linked).toMatchObject({ undoable: false, because: 'changed' });
    await expect(memory.undo({ operation: 3 })).rejects.toMatchObject({
      code: 'cannot_undo',
      message: expect.stringContaining('operation 3 changed a link of memory'),
    });
  },
);

test('undo goes on before what it cannot undo', async () => {
  await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
  for (const id of ['a', 'b']) await memory.remember(`Statement ${id}`, { id });
  await memory.link('a', 'b');
  await memory.unlink('a', 'b');
  await memory.undo({ operation: 2 });
  expect(await memory.undo()).toMatchObject({ operation: 1, verb: 'remember' });
  await expect(memory.undo()).rejects.toMatchObject({ message: 'there is nothing to undo' });
});

test('undo reverts what is listed as undoable, each once, until nothing is left', async () => {
  // So few ids that a memory has the id of one that is gone.
  const id = fc.constantFrom('a', 'b', 'c');
  const two = fc.uniqueArray(id, { minLength: 2, maxLength: 2 }) as fc.Arbitrary<[string, string]>;
  type Do = (memory: MemoryEngine, at: number) => Promise<unknown>;
  const step: fc.Arbitrary<Do> = fc.oneof(
    {
      weight: 4,
      arbitrary: id.map(
        (of): Do =>
          (memory, at) =>
            memory.remember(`Said ${at}`, { id: of }),
      ),
    },
    {
      weight: 2,
      arbitrary: id.map(
        (of): Do =>
          (memory, at) =>
            memory.update(of, { content: `New ${at}` }),
      ),
    },
    {
      weight: 4,
      arbitrary: two.map(
        ([a, b]): Do =>
          (memory, at) =>
            memory.link(a, b, { weight: 1 / at }),
      ),
    },
    {
      weight: 2,
      arbitrary: two.map(
        ([a, b]): Do =>
          (memory) =>
            memory.unlink(a, b),
      ),
    },
    {
      weight: 1,
      arbitrary: id.map(
        (of): Do =>
          (memory) =>
            memory.forget(of),
      ),
    },
    {
      weight: 4,
      arbitrary: fc.nat(20).map(
        (nth): Do =>
          (memory) =>
            undoOne(memory, nth),
      ),
    },
  );
  const refuseOthers = async (memory: MemoryEngine) => {
    const operations = await memory.operations({ limit: 1000 });
    for (const { operation, because } of operations.filter(({ undoable }) => !undoable)) {
      await expect(memory.undo({ operation }), because).rejects.toMatchObject({ code: 'cannot_undo' });
    }
    expect(await memory.operations({ limit: 1000 })).toEqual(operations);
    return operations.filter(({ undoable }) => undoable);
  };
  const undoOne = async (memory: MemoryEngine, nth: number) => {
    const undoable = await refuseOthers(memory);
    const chosen = undoable[nth % undoable.length];
    if (chosen) await expect(memory.undo({ operation: chosen.operation })).resolves.toBeDefined();
  };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), fc.boolean(), async (steps, onDisk) => {
      const options = { path: ':memory:', space: 'default', embedder: 'none' } as const;
      await using memory = onDisk ? await openMemory(options) : (await live(options)).memory;
      for (const [at, run] of steps.entries()) {
        await attempt(memory, { title: '', run: (each) => run(each, at + 1) });
      }
      for (;;) {
        const [latest] = await refuseOthers(memory);
        if (!latest) break;
        expect(await memory.undo()).toMatchObject({ operation: latest.operation, verb: latest.verb });
        const [undoing] = await memory.operations({ limit: 1 });
        expect(undoing).toMatchObject({ verb: 'undo', undoes: latest.operation });
      }
      await expect(memory.undo()).rejects.toMatchObject({ message: 'there is nothing to undo' });
    }),
    { numRuns: 60 },
  );
});

test('after any steps SQLite says what the reference store says, and undo does what is said', async () => {
  const steps = fc.array(arbitraryStep({ forgetting: true }), { minLength: 3, maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(steps, fc.array(fc.nat(30), { maxLength: 4 }), async (list, picks) => {
      const clock = createFakeClock();
      let made = 0;
      const reference = await live({ embedder: 'none', clock: clock.now });
      await using sqlite = await openMemory({
        path: ':memory:',
        space: 'default',
        embedder: 'none',
        clock: clock.now,
        newId: () => `n${made++}`,
      });
      await using naive = reference.memory;
      for (const step of list) {
        for (const memory of [sqlite, naive]) await attempt(memory, step);
        clock.advance(3_600_000);
      }
      for (const pick of [0, ...picks]) {
        const operations = await sqlite.operations({ limit: 1000 });
        expect(operations).toEqual(await naive.operations({ limit: 1000 }));
        for (const { operation, because } of operations) {
          if (because === undefined) continue;
          for (const memory of [sqlite, naive]) {
            await expect(memory.undo({ operation }), because).rejects.toMatchObject({ code: 'cannot_undo' });
          }
        }
        const undoable = operations.filter((each) => each.undoable);
        const chosen = undoable[pick % undoable.length];
        if (!chosen) break;
        for (const memory of [sqlite, naive]) await memory.undo({ operation: chosen.operation });
      }
    }),
    { numRuns: 40 },
  );
});

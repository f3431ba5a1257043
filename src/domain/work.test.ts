import { AsyncResource } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { live } from '../testing/live-memory.ts';
import { inRun, type Precondition, provided } from './work.ts';

const unchanged: Precondition = {
  id: 'a',
  check({ revisionCount }) {
    if (revisionCount !== 1) throw new Error('changed');
  },
};

test('work may write more than once: only what others wrote before its first write stops it', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('Tea', { id: 'a' });
  const update = (content: string) => memory.update('a', { content });
  await provided(unchanged, async () => {
    await update('Green tea');
    await update('Black tea');
  });
  expect((await memory.get('a'))?.content).toBe('Black tea');
  await expect(provided(unchanged, () => update('White tea'))).rejects.toThrow('changed');
  expect((await memory.get('a'))?.content).toBe('Black tea');
});

test('a memory that others forget meanwhile is not checked, and the write says that it is gone', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('Tea', { id: 'a' });
  const forget = AsyncResource.bind(() => memory.forget('a'));
  const work = async () => {
    await forget();
    return memory.update('a', { content: 'Green tea' });
  };
  await expect(provided(unchanged, work)).rejects.toMatchObject({ code: 'not_found' });
});

test('what work writes as a run one undo takes back, its links alone too, and nothing of what others write meanwhile', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('Tea', { id: 'a' });
  const byOthers = AsyncResource.bind(() => memory.remember('Milk', { id: 'c' }));
  await inRun('morning', async () => {
    await memory.update('a', { content: 'Green tea' });
    await byOthers();
    await memory.rememberMany([{ content: 'Coffee', id: 'b' }]);
    await memory.link('a', 'b');
  });
  await inRun('evening', async () => {
    await memory.link('a', 'c');
    await memory.link('b', 'c');
  });
  expect((await memory.operations()).map(({ run }) => run)).toEqual([
    ...['evening', 'evening', 'morning', 'morning', undefined, 'morning', undefined],
  ]);
  expect(await memory.undo()).toMatchObject({ run: 'evening', verb: 'link', memories: [], skipped: [] });
  expect(await memory.links('c')).toEqual([]);
  const { run, verb, memories } = await memory.undo({ run: 'morning' });
  // Its first operation says what it was, not the link that came last.
  expect([run, verb, memories.map(({ id }) => id).sort()]).toEqual(['morning', 'update', ['a', 'b']]);
  const { memories: left } = await memory.list();
  expect(left.map(({ content }) => content).sort()).toEqual(['Milk', 'Tea']);
  await expect(memory.undo({ run: 'morning' })).rejects.toMatchObject({ code: 'cannot_undo' });
  await expect(memory.undo({ run: 'evening' })).rejects.toMatchObject({ code: 'cannot_undo' });
});

test('a run and a precondition hold together, whichever came first', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('Tea', { id: 'a' });
  await inRun('one', () => provided(unchanged, () => memory.update('a', { content: 'Green tea' })));
  const refused = provided(unchanged, () => inRun('two', () => memory.update('a', { content: 'White tea' })));
  await expect(refused).rejects.toThrow('changed');
  expect((await memory.operations())[0]).toMatchObject({ verb: 'update', run: 'one' });
});

test('a run of which a part was undone is undone again for what has come since, and for nothing else', async () => {
  const { memory } = await live({ embedder: 'none' });
  const remember = (...ids: string[]) =>
    inRun('morning', () => memory.rememberMany(ids.map((id) => ({ content: `Tea ${id}`, id }))));
  await remember('a', 'b');
  await memory.update('a', { content: 'Green tea' });
  expect(await memory.undo({ run: 'morning' })).toMatchObject({
    memories: [{ id: 'b' }],
    skipped: [{ id: 'a', reason: 'changed' }],
  });
  await memory.undo();
  await expect(memory.undo({ run: 'morning' })).rejects.toThrow('nothing of the run "morning" can be undone');
  await remember('c');
  expect(await memory.undo({ run: 'morning' })).toMatchObject({ memories: [{ id: 'c' }], skipped: [] });
  expect((await memory.list()).memories.map(({ content }) => content)).toEqual(['Tea a']);
});

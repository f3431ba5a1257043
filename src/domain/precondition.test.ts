import { AsyncResource } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { live } from '../testing/live-memory.ts';
import { type Precondition, provided } from './precondition.ts';

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

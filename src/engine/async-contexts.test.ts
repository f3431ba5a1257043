import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test, vi } from 'vitest';
import { live } from '../testing/live-memory.ts';

test('all memories of a process share their asynchronous contexts, whose number makes every promise slower', async () => {
  const used = new Set<unknown>();
  const run = vi.spyOn(AsyncLocalStorage.prototype, 'run');
  try {
    const contextsAfterOneMore = async () => {
      const { memory } = await live({ embedder: 'none' });
      await memory.remember('Anna likes coffee', { id: 'a' });
      await memory.recall('coffee', { signal: new AbortController().signal });
      await memory.update('a', { content: 'Anna likes tea' });
      await memory.close();
      for (const context of run.mock.contexts) used.add(context);
      return used.size;
    };
    const first = await contextsAfterOneMore();
    expect(first).toBeGreaterThan(0);
    expect(await contextsAfterOneMore()).toBe(first);
  } finally {
    run.mockRestore();
  }
});

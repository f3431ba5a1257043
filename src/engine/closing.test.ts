import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Store } from '../store/store.ts';
import { interruptedEmbedder } from '../testing/interrupted-embedder.ts';
import { live, liveOnDisk } from '../testing/live-memory.ts';
import { createReferenceStore } from '../testing/reference-store/index.ts';
import { LONGEST_CLOSE } from './engine.ts';

const interrupted = () => interruptedEmbedder({ tea: 0, coffee: 45 });

test('what was called before close is done, and what is called afterwards is refused', async () => {
  const { memory, reopen, cleanUp } = await liveOnDisk();
  try {
    await memory.remember('Anna likes coffee', { id: 'a' });
    const called = [
      memory.recall('coffee'),
      memory.remember('Ben likes tea', { id: 'late' }),
      memory.context('coffee', { maxTokens: 300 }),
      memory.compare('coffee', { strategies: ['bm25', 'hybrid'] }),
      memory.activity('end'),
    ];
    const closed = memory.close();
    const refused = expect(memory.get('a')).rejects.toMatchObject({ code: 'closed' });
    expect((await Promise.allSettled(called)).map(({ status }) => status)).toEqual(
      called.map(() => 'fulfilled'),
    );
    await Promise.all([closed, memory.close(), refused]);
    const again = await reopen();
    expect(await again.get('late')).toMatchObject({ content: 'Ben likes tea' });
    await again.close();
  } finally {
    await cleanUp();
  }
});

describe('closing from within calls', () => {
  // Who waited for the end of the time would wait for ever.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('does not wait for these calls', async () => {
    const embedder = interrupted();
    const { memory } = await live({ embedder });
    await memory.remember('tea');
    embedder.meanwhile = () => memory.close();
    const one = memory.recall('coffee', { strategy: 'vector' });
    embedder.meanwhile = () => memory.close();
    const other = memory.recall('tea', { strategy: 'vector' });
    for (const call of [one, other]) await expect(call).rejects.toMatchObject({ code: 'closed' });
    await memory.close();
  });

  test('nor for calls that those were made from', async () => {
    const embedder = interrupted();
    const { memory } = await live({ embedder });
    await memory.remember('tea');
    let inner: Promise<unknown> | undefined;
    embedder.meanwhile = async () => {
      embedder.meanwhile = () => memory.close();
      inner = memory.recall('coffee', { strategy: 'vector' });
      await expect(inner).rejects.toMatchObject({ code: 'closed' });
    };
    const outer = memory.recall('tea', { strategy: 'vector' });
    await expect(outer).rejects.toMatchObject({ code: 'closed' });
    expect(inner).toBeDefined();
  });
});

test('closing one memory from within a call of another one does not end that call', async () => {
  const embedder = interrupted();
  const { memory } = await live({ embedder });
  const { memory: other } = await live({ embedder: 'none' });
  await memory.remember('tea');
  let go = () => {};
  const gate = new Promise<void>((resolve) => (go = resolve));
  let isOtherClosed = false;
  embedder.meanwhile = async () => {
    await other.close();
    isOtherClosed = true;
    await gate;
  };
  const called = memory.recall('coffee', { strategy: 'vector' });
  await expect.poll(() => isOtherClosed).toBe(true);
  const closed = memory.close();
  for (let turn = 0; turn < 100; turn++) await setImmediate();
  go();
  expect((await called).hits).toMatchObject([{ memory: { content: 'tea' } }]);
  await closed;
});

test('who waits for activity, and what works in steps, is ended', async () => {
  const embedder = interrupted();
  const { memory } = await live({ embedder });
  await memory.remember('tea');
  let go = () => {};
  embedder.meanwhile = () => new Promise<void>((resolve) => (go = resolve));
  const observing = expect(memory.observe([{ role: 'user', content: 'coffee' }])).rejects.toMatchObject({
    code: 'closed',
  });
  const waiting = expect(memory.activity('end', { wait: 60_000 })).rejects.toMatchObject({ code: 'closed' });
  await expect.poll(() => embedder.meanwhile).toBeUndefined();
  let hasAnswered = false;
  const waited = memory.close().then(() => hasAnswered);
  for (let turn = 0; turn < 100; turn++) await setImmediate();
  hasAnswered = true;
  go();
  await Promise.all([observing, waiting]);
  expect(await waited).toBe(false);
});

test('an embedder that never answers is waited for five seconds at most', async () => {
  const embedder = interrupted();
  const { memory } = await live({ embedder });
  await memory.remember('tea');
  let go = () => {};
  embedder.meanwhile = () => new Promise<void>((resolve) => (go = resolve));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const late = expect(memory.recall('coffee', { strategy: 'vector' })).rejects.toMatchObject({
      code: 'closed',
    });
    let isClosed = false;
    const closed = memory.close().then(() => {
      isClosed = true;
    });
    await vi.advanceTimersByTimeAsync(LONGEST_CLOSE - 1);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await closed;
    go();
    await late;
  } finally {
    vi.useRealTimers();
  }
});

test('closing twice at once closes the space once, and leaves no timer behind', async () => {
  const kept = createReferenceStore();
  let closed = 0;
  const store: Store = {
    ...kept,
    async openSpace(name, options) {
      const space = await kept.openSpace(name, options);
      const close = async () => {
        closed++;
        await space.close();
      };
      return { ...space, close };
    },
  };
  const { memory } = await live({ store });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await Promise.all([memory.close(), memory.close()]);
    await memory.close();
    expect(closed).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

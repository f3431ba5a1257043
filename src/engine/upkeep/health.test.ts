import { describe, expect, it, test } from 'vitest';
import { type Embedder, openMemory } from '../../index.ts';
import { NOT_ERASED_YET } from '../../store/damage.ts';
import type { Store } from '../../store/store.ts';
import { angleEmbedder } from '../../testing/angle-embedder.ts';
import { live } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';

describe('health', () => {
  const embedderThat = (embed: () => Promise<never>) => ({
    model: 'two',
    dimensions: 2,
    embed,
  });

  it('reports an embedder that fails, and rejects when its caller cancels while the embedder is asked', async () => {
    const cancelled = new AbortController();
    let cancels = false;
    await using memory = await openMemory({
      path: ':memory:',
      space: 'alice',
      embedder: embedderThat(async () => {
        if (cancels) cancelled.abort();
        throw new Error('the plug is out');
      }) as never,
    });
    const { signal } = cancelled;
    expect((await memory.health({ signal })).problems).toEqual([
      'the embedder: the embedder two failed: the plug is out',
    ]);
    cancels = true;
    await expect(memory.health({ signal })).rejects.toMatchObject({ code: 'aborted' });
  });
});

test('bytes that are not erased yet are a warning: others may be forgetting right now', async () => {
  const kept = createReferenceStore();
  const check = async () => ['a row is damaged', NOT_ERASED_YET];
  const store: Store = {
    ...kept,
    openSpace: async (name, options) => ({ ...(await kept.openSpace(name, options)), check }),
  };
  const { memory } = await live({ store, embedder: 'none' });
  expect(await memory.health()).toEqual({
    warnings: [NOT_ERASED_YET, expect.stringContaining('no embedder')],
    problems: ['a row is damaged'],
  });
  await memory.close();
});

describe('opening with reindex', () => {
  it('makes the vectors of memories that were written without an embedder', async () => {
    const store = createReferenceStore();
    const { memory } = await live({ store, embedder: 'none' });
    await memory.remember('Anna likes tea');
    let embedded = 0;
    const embedder = {
      model: 'one',
      dimensions: 2,
      embed: async (texts: readonly string[]) => {
        embedded += texts.length;
        return texts.map(() => Float32Array.of(1, 0));
      },
    } as unknown as Embedder;
    const open = (reindex: boolean) =>
      openMemory({ path: 'test', space: 'default', store, embedder, reindex });
    expect((await (await open(false)).health()).warnings).toEqual([
      expect.stringContaining('0 of 1 memories'),
    ]);
    expect((await (await open(true)).health()).warnings).toEqual([]);
    const before = embedded;
    await open(true);
    expect(embedded).toBe(before);
  });

  it('has nothing to do in a space without memories', async () => {
    const kept = createReferenceStore();
    let reindexed = 0;
    const store: Store = {
      ...kept,
      async openSpace(name, options) {
        const space = await kept.openSpace(name, options);
        const reindex: typeof space.reindex = async (request) => {
          reindexed++;
          await space.reindex(request);
        };
        return { ...space, reindex };
      },
    };
    const { memory } = await live({ store, embedder: angleEmbedder({}), reindex: true });
    expect(reindexed).toBe(0);
    await memory.close();
  });
});

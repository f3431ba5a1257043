import { describe, expect, it, test } from 'vitest';
import { openMemory } from '../../index.ts';
import { NOT_ERASED_YET } from '../../store/damage.ts';
import type { Store } from '../../store/store.ts';
import { live } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';
import { vectorWarnings } from './health.ts';

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

test('stubs have no vector, which is no reason to reindex', () => {
  const space = { name: 'alice', memories: 10, vectors: 4, embedding: undefined } as const;
  expect(vectorWarnings({ ...space, byTier: { hot: 4, stub: 6 } }, 'two')).toEqual([]);
  expect(vectorWarnings({ ...space, byTier: { hot: 8, stub: 2 } }, 'two')).toEqual([
    expect.stringMatching(/has vectors for 4 of 8 memories: run salience reindex/),
  ]);
});

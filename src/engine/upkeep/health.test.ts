import { describe, expect, it } from 'vitest';
import { openMemory } from '../../index.ts';

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
    await expect(memory.health({ signal })).rejects.toThrow('the plug is out');
  });
});

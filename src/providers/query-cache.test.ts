import { describe, expect, it } from 'vitest';
import { openMemory } from '../index.ts';
import { angleEmbedder } from '../testing/angle-embedder.ts';
import type { Embedder } from './embedder.ts';
import { withQueryCache } from './query-cache.ts';

/** An embedder that records its calls. It is a class, as users may write one. */
class Counting implements Embedder {
  readonly asked: string[] = [];
  readonly inner = angleEmbedder({ tea: 0, 'tea?': 10 });
  readonly model = this.inner.model;
  readonly dimensions = this.inner.dimensions;
  readonly calibration = this.inner.calibration;
  readonly thresholds = this.inner.thresholds;
  failing = false;

  async embed(texts: readonly string[], options?: { purpose?: 'query' | 'memory' | undefined }) {
    this.asked.push(`${options?.purpose ?? 'memory'}: ${texts.join(', ')}`);
    if (this.failing) throw new Error('down');
    return this.inner.embed(texts);
  }
}

const query = { purpose: 'query' } as const;

describe('withQueryCache', () => {
  it('asks for a query once, also if the model does not know it', async () => {
    const counting = new Counting();
    const cached = withQueryCache(counting);
    const first = await cached.embed(['tea?'], query);
    expect(await cached.embed(['tea?'], query)).toEqual(first);
    expect(await cached.embed(['coffee?'], query)).toEqual([undefined]);
    expect(await cached.embed(['coffee?'], query)).toEqual([undefined]);
    expect(counting.asked).toEqual(['query: tea?', 'query: coffee?']);
  });

  it('caches neither memories nor failures', async () => {
    const counting = new Counting();
    const cached = withQueryCache(counting);
    for (const _ of [1, 2]) await cached.embed(['tea'], { purpose: 'memory' });
    for (const _ of [1, 2]) await cached.embed(['tea', 'tea?'], query);
    counting.failing = true;
    await expect(cached.embed(['tea?'], query)).rejects.toThrow('down');
    counting.failing = false;
    await cached.embed(['tea?'], query);
    expect(counting.asked).toHaveLength(6);
  });

  it('drops the least recently used query', async () => {
    const counting = new Counting();
    const cached = withQueryCache(counting);
    for (let at = 0; at < 256; at++) await cached.embed([`q${at}`], query);
    await cached.embed(['q0'], query);
    await cached.embed(['q256'], query);
    const before = counting.asked.length;
    await cached.embed(['q0'], query);
    expect(counting.asked).toHaveLength(before);
    await cached.embed(['q1'], query);
    expect(counting.asked).toHaveLength(before + 1);
  });

  it('is used by recalls', async () => {
    const counting = new Counting();
    await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: counting });
    await memory.remember('tea');
    for (const _ of [1, 2]) expect((await memory.recall('tea?')).hits).toHaveLength(1);
    expect(counting.asked.filter((each) => each.startsWith('query'))).toEqual(['query: tea?']);
  });
});

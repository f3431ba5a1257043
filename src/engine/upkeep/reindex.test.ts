import { describe, expect, it } from 'vitest';
import { openMemory, SalienceError } from '../../index.ts';
import type { Store } from '../../store/store.ts';
import { angleEmbedder } from '../../testing/angle-embedder.ts';
import { countingEmbedder } from '../../testing/counting-embedder.ts';
import { live } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';

/** A store whose vectors cannot be read. */
function withoutVectors(store: Store, code: 'store_corrupt' | 'store_busy' = 'store_corrupt'): Store {
  return {
    ...store,
    async openSpace(name, options) {
      const space = await store.openSpace(name, options);
      const vectors = async () => {
        throw new SalienceError(code, 'a vector cannot be read');
      };
      return { ...space, snapshot: (read) => space.snapshot((reader) => read({ ...reader, vectors })) };
    },
  };
}

/** A store that calls `act` before it indexes a space anew. */
function beforeReindex(store: Store, act: () => void): Store {
  return {
    ...store,
    async openSpace(name, options) {
      const space = await store.openSpace(name, options);
      const reindex: typeof space.reindex = async (request) => {
        act();
        await space.reindex(request);
      };
      return { ...space, reindex };
    },
  };
}

describe('opening with reindex', () => {
  it('makes the vectors of memories that were written without an embedder', async () => {
    const store = createReferenceStore();
    const { memory } = await live({ store, embedder: 'none' });
    await memory.remember('Anna likes tea');
    const embedder = countingEmbedder();
    const open = (reindex: boolean) =>
      openMemory({ path: 'test', space: 'default', store, embedder, reindex });
    expect((await (await open(false)).health()).warnings).toEqual([
      expect.stringContaining('0 of 1 memories'),
    ]);
    expect((await (await open(true)).health()).warnings).toEqual([]);
    const before = embedder.asked;
    await open(true);
    expect(embedder.asked).toBe(before);
  });

  it('indexes the words of another language again, and keeps the vectors of the same model', async () => {
    const store = createReferenceStore();
    const embedder = countingEmbedder();
    const place = { path: 'test', space: 'default', store, embedder } as const;
    const english = await openMemory(place);
    await english.remember('Anna kauft Bücher', { id: 'books' });
    await english.remember('Anna trinkt Tee', { id: 'tea' });
    embedder.asked = 0;
    await expect(openMemory({ ...place, language: 'german' })).rejects.toThrow('its vectors are kept');
    const german = await openMemory({ ...place, language: 'german', reindex: true });
    expect(embedder.asked).toBe(0);
    expect(await german.stats()).toMatchObject({ memories: 2, vectors: 2 });
    // "Buch" and "Bücher" have one stem in German, and two in English.
    const { hits } = await german.recall('Buch', { strategy: 'bm25' });
    expect(hits.map(({ memory }) => memory.id)).toEqual(['books']);
    // The space knows its language.
    const again = await openMemory(place);
    expect((await again.recall('Buch', { strategy: 'bm25' })).hits).toHaveLength(1);
    await again.reindex();
    expect(embedder.asked).toBe(2);
  });

  it('keeps the vectors also where it has no embedder, and loses none that it cannot read', async () => {
    const store = createReferenceStore();
    const place = { path: 'test', space: 'default', store } as const;
    const embedder = countingEmbedder();
    await (await openMemory({ ...place, embedder })).remember('Anna kauft Bücher');
    const without = { ...place, embedder: 'none', reindex: true } as const;
    const german = await openMemory({ ...without, language: 'german' });
    expect(await german.stats()).toMatchObject({ vectors: 1, embedding: { model: embedder.model } });
    const damaged = { ...without, store: withoutVectors(store), language: 'french' } as const;
    await expect(openMemory(damaged)).rejects.toMatchObject({ code: 'store_corrupt' });
    expect(await (await openMemory({ ...place, embedder })).stats()).toMatchObject({ vectors: 1 });
  });

  it('stops where only words are indexed again too', async () => {
    const controller = new AbortController();
    const store = beforeReindex(createReferenceStore(), () => controller.abort());
    const place = { path: 'test', space: 'default', store, embedder: countingEmbedder() } as const;
    const english = await openMemory(place);
    await english.remember('Anna kauft Bücher');
    const { analyzer } = await english.stats();
    const german = openMemory({ ...place, language: 'german', reindex: { signal: controller.signal } });
    await expect(german).rejects.toMatchObject({ code: 'aborted' });
    expect(await (await openMemory(place)).stats()).toMatchObject({ analyzer });
  });

  it('computes vectors that cannot be read, when it indexes words again', async () => {
    const store = withoutVectors(createReferenceStore());
    const embedder = countingEmbedder();
    const place = { path: 'test', space: 'default', store, embedder } as const;
    await (await openMemory(place)).remember('Tee');
    const german = await openMemory({ ...place, language: 'german', reindex: true });
    expect(await german.stats()).toMatchObject({ memories: 1, vectors: 1 });
    expect(embedder.asked).toBe(2);
  });

  it('computes no vectors because of a failure that may pass', async () => {
    const store = createReferenceStore();
    const embedder = countingEmbedder();
    const place = { path: 'test', space: 'default', embedder } as const;
    await (await openMemory({ ...place, store })).remember('Tee');
    embedder.asked = 0;
    const busy = { ...place, store: withoutVectors(store, 'store_busy'), language: 'german' } as const;
    await expect(openMemory({ ...busy, reindex: true })).rejects.toMatchObject({ code: 'store_busy' });
    expect(embedder.asked).toBe(0);
  });

  it('has nothing to do in a space without memories', async () => {
    let reindexed = 0;
    const store = beforeReindex(createReferenceStore(), () => reindexed++);
    const { memory } = await live({ store, embedder: angleEmbedder({}), reindex: true });
    expect(reindexed).toBe(0);
    await memory.close();
  });
});

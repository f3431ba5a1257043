import { describe, expect, it, test } from 'vitest';
import { type Embedder, openMemory, SalienceError } from '../../index.ts';
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

  it('indexes the words of another language again, and keeps the vectors of the same model', async () => {
    const store = createReferenceStore();
    const embedded: string[] = [];
    const embedder = {
      model: 'one',
      dimensions: 2,
      embed: async (texts: readonly string[]) => {
        embedded.push(...texts);
        return texts.map((text) => (text === '' ? undefined : Float32Array.of(1, 0)));
      },
    } as unknown as Embedder;
    const place = { path: 'test', space: 'default', store, embedder } as const;
    const english = await openMemory(place);
    await english.remember('Anna kauft Bücher', { id: 'books' });
    await english.remember('Anna trinkt Tee', { id: 'tea' });
    embedded.length = 0;
    await expect(openMemory({ ...place, language: 'german' })).rejects.toThrow('its vectors are kept');
    const german = await openMemory({ ...place, language: 'german', reindex: true });
    expect(embedded).toEqual([]);
    expect(await german.stats()).toMatchObject({ memories: 2, vectors: 2 });
    // "Buch" and "Bücher" have one stem in German, and two in English.
    const { hits } = await german.recall('Buch', { strategy: 'bm25' });
    expect(hits.map(({ memory }) => memory.id)).toEqual(['books']);
    // The space knows its language.
    const again = await openMemory(place);
    expect((await again.recall('Buch', { strategy: 'bm25' })).hits).toHaveLength(1);
    embedded.length = 0;
    await again.reindex();
    expect(embedded).toHaveLength(2);
  });

  it('computes vectors that cannot be read, when it indexes words again', async () => {
    const kept = createReferenceStore();
    const store: Store = {
      ...kept,
      async openSpace(name, options) {
        const space = await kept.openSpace(name, options);
        const vectors = async () => {
          throw new SalienceError('store_corrupt', 'a vector is damaged');
        };
        return { ...space, snapshot: (read) => space.snapshot((reader) => read({ ...reader, vectors })) };
      },
    };
    const place = { path: 'test', space: 'default', store, embedder: angleEmbedder({ Tee: 0, tea: 90 }) };
    await (await openMemory(place)).remember('Tee');
    const german = await openMemory({ ...place, language: 'german', reindex: true });
    expect(await german.stats()).toMatchObject({ memories: 1, vectors: 1 });
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

import { describe, expect, it, vi } from 'vitest';
import { pauseIfDue } from '../../domain/slices.ts';
import { type Embedder, type MemoryEngine, type OpenOptions, openMemory } from '../../index.ts';
import { angleEmbedder } from '../../testing/angle-embedder.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';

const texts = {
  tea: 'Ann drinks green tea',
  kettle: 'The old kettle boils plenty of water for tea',
  coffee: 'Ben prefers an espresso',
  bus: 'The bus leaves at nine',
};
/** For `tea`: coffee is nearest, then tea; the kettle is far off, and the bus opposite. */
const angles = { [texts.tea]: 20, [texts.kettle]: 80, [texts.coffee]: 5, [texts.bus]: 170, tea: 0 };
const inSpace = { path: ':memory:', space: 'alice', clock: createFakeClock().now } as const;

async function sample(options: Partial<OpenOptions> = {}): Promise<MemoryEngine> {
  const memory = await openMemory({ ...inSpace, embedder: angleEmbedder(angles), ...options });
  await memory.rememberMany(Object.entries(texts).map(([id, content]) => ({ id, content })));
  return memory;
}

const idsOf = (hits: readonly { readonly memory: { readonly id: string } }[] | undefined) =>
  hits?.map(({ memory }) => memory.id);

it('strategies have the parameters that are given for them', async () => {
  await using memory = await openMemory(inSpace);
  await memory.remember('Coffee is served at eight', { id: 'words', importance: 0.5 });
  await memory.remember('Tea is served at nine in the garden', { id: 'important', importance: 0.6 });
  const first = async (parameters: object) => {
    const strategies = ['balanced', 'bm25'];
    const { rankings } = await memory.compare('coffee', { strategies, parameters: parameters as never });
    return rankings.map(({ hits }) => hits?.[0]?.memory.id);
  };
  expect(await first({})).toEqual(['words', 'words']);
  expect(await first({ balanced: { weights: { importance: 50 } } })).toEqual(['important', 'words']);
  await expect(first({ hybrid: {} })).rejects.toThrow(/unknown compared strategy "hybrid"/);
  await expect(first([])).rejects.toThrow(/parameters: expected an object/);
});

describe('compare', () => {
  it('gives each strategy the ranking of a recall, by rank and without a score', async () => {
    await using memory = await sample();
    const options = { limit: 3, deep: true, tags: [] } as const;
    const { rankings, limit } = await memory.compare('tea', options);
    expect(limit).toBe(3);
    expect(rankings.length).toBeGreaterThan(6);
    for (const { strategy, takesQuery, hits } of rankings) {
      const query = takesQuery ? 'tea' : undefined;
      const recalled = await memory.recall(query, { ...options, strategy, track: false });
      expect(idsOf(hits), strategy).toEqual(idsOf(recalled.hits));
      expect(hits?.map(({ rank }) => rank)).toEqual(recalled.hits.map((_, at) => at + 1));
      expect(hits?.map(({ snippet }) => snippet)).toEqual(recalled.hits.map(({ snippet }) => snippet));
      for (const hit of hits ?? []) expect(Object.keys(hit)).not.toContain('score');
    }
  });

  it('lets others go on between two strategies, and can be aborted there', async () => {
    await using memory = await sample();
    // Nothing is to be loaded any more, which pauses too.
    await memory.compare('tea');
    // In a turn of its own, which begins by this test's clock: each strategy takes longer than others may wait.
    await new Promise((resolve) => setImmediate(resolve));
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 5));
    try {
      void pauseIfDue();
      const controller = new AbortController();
      // Reading takes one turn at most.
      setImmediate(() => setImmediate(() => controller.abort()));
      const { signal } = controller;
      await expect(memory.compare('tea', { signal })).rejects.toMatchObject({ code: 'aborted' });
    } finally {
      clock.mockRestore();
    }
  });

  it('takes all strategies but the presets of balanced, those of ones own included, or those that are named', async () => {
    await using memory = await sample({
      profiles: [{ name: 'mine', description: 'My own.', extends: 'lexical' }],
    });
    const { rankings } = await memory.compare('tea');
    const names = rankings.map(({ strategy }) => strategy);
    expect(names).toEqual(
      expect.arrayContaining(['hybrid', 'bm25', 'vector', 'ambient', 'balanced', 'mine']),
    );
    expect(names).not.toContain('news');
    const chosen = await memory.compare('tea', { strategies: ['news', 'mine', 'news'] });
    expect(chosen.rankings.map(({ strategy }) => strategy)).toEqual(['news', 'mine']);
  });

  it('says what one strategy alone found, and how far two agree', async () => {
    await using memory = await sample();
    const { rankings, agreement } = await memory.compare('tea', { strategies: ['bm25', 'vector'], limit: 2 });
    expect(rankings.map(({ hits }) => idsOf(hits))).toEqual([
      ['tea', 'kettle'],
      ['coffee', 'tea'],
    ]);
    expect(rankings.map(({ alone }) => alone)).toEqual([['kettle'], ['coffee']]);
    // Both put one before what they do not hold; tea–kettle in one, coffee–tea in the other, kettle–coffee turned round.
    expect(agreement).toEqual([{ between: ['bm25', 'vector'], shared: 1, overlap: 0.5, tau: -1 / 3 }]);
  });

  it('tells a strategy that takes no query apart: what it holds was not looked for', async () => {
    await using memory = await sample();
    const { rankings, agreement } = await memory.compare('tea', { strategies: ['bm25', 'ambient'] });
    const [words, ambient] = rankings;
    expect(idsOf(ambient?.hits)).toHaveLength(4);
    expect(ambient).toMatchObject({ takesQuery: false });
    expect(ambient).not.toHaveProperty('alone');
    expect(words?.alone).toEqual(['tea', 'kettle']);
    expect(agreement).toHaveLength(1);
  });

  it('tells in its place why a strategy cannot rank, and asks a failing embedder once', async () => {
    let asked = 0;
    const known = angleEmbedder(angles);
    const failing: Embedder = {
      ...known,
      async embed(all, options) {
        if (options?.purpose !== 'query') return known.embed(all, options);
        asked++;
        throw new Error('the server is away');
      },
    };
    await using memory = await sample({ embedder: failing });
    const { rankings, agreement } = await memory.compare('tea', {
      strategies: ['vector', 'bm25', 'balanced', 'hybrid'],
    });
    expect(asked).toBe(1);
    const reason = 'the embedder angles-2 failed: the server is away';
    for (const strategy of ['vector', 'balanced']) {
      const found = rankings.find((each) => each.strategy === strategy);
      expect(found).toMatchObject({ failure: reason, takesQuery: true });
      expect(found).not.toHaveProperty('hits');
    }
    // Words are enough for it, and the rest is in its arms.
    const hybrid = rankings.find(({ strategy }) => strategy === 'hybrid');
    expect(idsOf(hybrid?.hits)?.length).toBeGreaterThan(0);
    expect(hybrid?.arms).toContainEqual({ name: 'vector', status: 'failed', reason });
    expect(agreement.map(({ between }) => between)).toEqual([['bm25', 'hybrid']]);
  });

  it('tells in its place that a formula has no value for some memory', async () => {
    const lastUse = { op: 'age', of: 'lastAccessedAt' } as const;
    const decay = { op: 'decay', age: lastUse, halfLife: 9 } as const;
    const words = { op: 'signal', name: 'lexical' } as const;
    const huge = { op: 'clamp', of: { op: 'product', of: [words, 1e200, 1e200] } } as const;
    await using memory = await sample({
      profiles: [
        { name: 'unused', description: 'Needs a use.', score: { op: 'product', of: [words, decay] } },
        { name: 'huge', description: 'Overflows.', score: huge },
      ],
    });
    const { rankings, agreement } = await memory.compare('tea', { strategies: ['unused', 'bm25', 'huge'] });
    expect(rankings[0]).toMatchObject({ takesQuery: true, failure: expect.stringMatching(/lastAccessedAt/) });
    expect(rankings[0]).not.toHaveProperty('hits');
    expect(idsOf(rankings[1]?.hits)).toEqual(['tea', 'kettle']);
    expect(rankings[1]?.alone).toEqual(['tea', 'kettle']);
    expect(rankings[2]).toMatchObject({ failure: expect.stringMatching(/Infinity/) });
    expect(agreement).toEqual([]);
    await expect(memory.compare('tea', { strategies: ['unused', 'huge'] })).rejects.toMatchObject({
      code: 'missing_signal',
    });
  });

  it('ranks by all strategies at one moment', async () => {
    const day = 86_400_000;
    let [now, step] = [Date.UTC(2026, 0, 1), 0];
    const score = {
      op: 'when',
      if: { passed: 'createdAt', by: 3 * day },
      then: 0,
      else: { op: 'signal', name: 'lexical' },
    } as const;
    const profiles = ['one', 'two', 'three'].map((name) => ({ name, description: 'Only new ones.', score }));
    // Each look at the clock is two days later than the one before.
    await using memory = await sample({ clock: () => (now += step), profiles });
    step = 2 * day;
    const { rankings } = await memory.compare('tea', { strategies: ['one', 'two', 'three'] });
    expect(rankings.map(({ hits }) => idsOf(hits))).toEqual(Array(3).fill(['tea', 'kettle']));
  });

  it('tells an empty answer from none: nothing found is a list', async () => {
    await using memory = await sample({ embedder: 'none' });
    const { rankings, agreement } = await memory.compare('zebra', {
      strategies: ['bm25', 'lexical', 'vector'],
    });
    expect(rankings.map(({ hits }) => hits)).toEqual([[], [], undefined]);
    expect(rankings[2]?.failure).toMatch(/no embedder is configured/);
    expect(agreement).toEqual([{ between: ['bm25', 'lexical'], shared: 0 }]);
  });

  it('narrows down as a recall does, and looks back', async () => {
    await using memory = await sample();
    await memory.update('tea', { tags: ['hot'], scope: 'project:a' });
    const compared = async (options: object) =>
      (await memory.compare('tea', { strategies: ['bm25', 'ambient'], ...options })).rankings.map(
        ({ hits }) => idsOf(hits),
      );
    expect(await compared({ tags: ['hot'] })).toEqual([['tea'], ['tea']]);
    expect((await compared({ scope: 'global' }))[0]).toEqual(['kettle']);
    expect(await compared({ limit: 1, inScope: 'global' })).toEqual([['kettle'], [expect.any(String)]]);
    await expect(compared({ asOf: { known: '1990-01-01' } })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });

  it.each([
    [{ strategies: ['bm25'] }, 'invalid_argument', /at least two different strategies/],
    [{ strategies: ['bm25', 'bm25'] }, 'invalid_argument', /at least two different strategies/],
    [{ strategies: ['bm25', 'hybird'] }, 'unknown_strategy', /unknown strategy "hybird".*hybrid/],
    [{ limit: 101 }, 'invalid_argument', /limit/],
    [{ limit: 0 }, 'invalid_argument', /limit/],
    [{ types: ['fact'], typesExclude: ['plan'] }, 'invalid_argument', /not both/],
  ])('refuses %j', async (options, code, message) => {
    await using memory = await sample();
    await expect(memory.compare('tea', options)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it('refuses a query that holds nothing to look for', async () => {
    await using memory = await sample();
    await expect(memory.compare(' ')).rejects.toMatchObject({
      code: 'blank_query',
      message: 'compare needs a query: pass the text to search for',
    });
  });
});

import { describe, expect, it } from 'vitest';
import { openMemory } from '../index.ts';
import { chooseEmbedder } from './choose.ts';
import type { Embedder } from './embedder.ts';

const embed: Embedder['embed'] = async (texts) => texts.map(() => Float32Array.of(1, 0));
const plain = { model: 'mine', dimensions: 2, embed };

describe('an embedder of an untyped program', () => {
  it('gets defaults for missing fields', async () => {
    const { calibration, thresholds } = (await chooseEmbedder(plain))!;
    expect(calibration).toEqual({ floor: 0.2, ceiling: 0.9 });
    expect(thresholds).toEqual({ conflict: 0.75, birthLink: 0.4, consolidation: 0.7, similarPair: 0.85 });
    await using memory = await openMemory({ path: ':memory:', space: 'mine', embedder: plain });
    await memory.rememberMany([{ content: 'likes tea' }, { content: 'likes coffee' }]);
    expect((await memory.recall('tea')).hits).toHaveLength(2);
  });

  it('keeps its fields and its `this`', async () => {
    class Mine {
      model = 'mine';
      dimensions = 2;
      calibration = { floor: 0, ceiling: 1, minRelevance: 0.5 };
      thresholds = { conflict: 0.9 } as Embedder['thresholds'];
      #vector = Float32Array.of(0, 1);
      async embed(texts: readonly string[]) {
        return texts.map(() => this.#vector);
      }
    }
    const chosen = (await chooseEmbedder(new Mine()))!;
    expect(chosen.calibration).toEqual({ floor: 0, ceiling: 1, minRelevance: 0.5 });
    expect(chosen.thresholds.conflict).toBe(0.9);
    expect(await chosen.embed(['tea'])).toEqual([Float32Array.of(0, 1)]);
  });

  it.each([
    [{ model: undefined }, 'embedder.model'],
    [{ dimensions: '2' }, 'embedder.dimensions'],
    [{ calibration: { floor: 0.9, ceiling: 0.9 } }, 'embedder.calibration'],
    [{ thresholds: { birth: 0.4 } }, 'embedder.thresholds.birth'],
    [{ thresholds: { conflict: 2 } }, 'embedder.thresholds.conflict'],
  ])('is refused with the name of what is wrong: %j', async (wrong, field) => {
    const refused = chooseEmbedder({ ...plain, ...wrong } as Embedder);
    await expect(refused).rejects.toMatchObject({ code: 'invalid_argument', details: { field } });
  });

  it('may return plain arrays or 64-bit floats, which are stored as 32-bit ones', async () => {
    for (const make of [(...numbers: number[]) => numbers, Float64Array.of.bind(Float64Array)]) {
      const embedder = { ...plain, embed: async (texts: string[]) => texts.map(() => make(0.6, 0.8)) };
      await using memory = await openMemory({
        path: ':memory:',
        space: 'mine',
        embedder: embedder as unknown as Embedder,
      });
      await memory.remember('likes tea');
      const { hits } = await memory.recall('tea', { strategy: 'vector' });
      expect(hits[0]?.features['similarity']).toBeCloseTo(1, 6);
    }
  });

  it('that throws causes an error with its name and message; an abort stays an abort', async () => {
    const down = new Error('down');
    const failing = (await chooseEmbedder({ ...plain, embed: () => Promise.reject(down) }))!;
    const stopped = { code: 'aborted' };
    const failure = { code: 'embedder_failed', message: 'the embedder mine failed: down', cause: down };
    await expect(failing.embed(['tea'])).rejects.toMatchObject(failure);
    await using memory = await openMemory({ path: ':memory:', space: 'mine', embedder: failing });
    await expect(memory.remember('likes tea')).rejects.toMatchObject(failure);
    await expect(failing.embed(['tea'], { signal: AbortSignal.abort() })).rejects.toMatchObject(stopped);
  });

  it.each([
    [undefined, 'undefined was thrown, with no message'],
    [{ status: 429, key: 'secret' }, 'an object was thrown, with no message'],
    [{ error: 1, message: 'too many requests' }, 'too many requests'],
    [Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    [new TypeError(''), 'TypeError was thrown, with no message'],
    [Object.create(null), 'an object was thrown, with no message'],
    ['down', 'down'],
  ])('that throws %j says what can be said of it', async (thrown, reason) => {
    const failing = (await chooseEmbedder({ ...plain, embed: () => Promise.reject(thrown) }))!;
    const message = `the embedder mine failed: ${reason}`;
    await expect(failing.embed(['tea'])).rejects.toMatchObject({ code: 'embedder_failed', message });
  });

  it('may reuse one buffer', async () => {
    const buffer = new Float32Array(4);
    const reusing = {
      ...plain,
      async embed(texts: readonly string[]) {
        return texts.map((text, at) => {
          const vector = buffer.subarray(2 * at, 2 * at + 2);
          vector.set(text === 'tea' ? [1, 0] : [0, 1]);
          return vector;
        });
      },
    };
    const chosen = (await chooseEmbedder(reusing))!;
    const [tea] = await chosen.embed(['tea']);
    await chosen.embed(['coffee']);
    expect(tea).toEqual(Float32Array.of(1, 0));
  });

  it.each([
    ['fewer vectors than texts', [], 'embedder_failed', '0 vectors for 1 texts; return one a text, in order'],
    [
      'more',
      [
        [1, 0],
        [1, 0],
      ],
      'embedder_failed',
      '2 vectors for 1 texts; return one a text, in order',
    ],
    ['no list', undefined, 'embedder_failed', 'undefined for 1 texts; return one a text, in order'],
    [
      'an object',
      Object.create(null),
      'embedder_failed',
      'an object for 1 texts; return one a text, in order',
    ],
    [
      'integers of 64 bits',
      [BigInt64Array.of(1n, 0n)],
      'embedder_failed',
      'a vector that holds something other than numbers; return a Float32Array',
    ],
    ['texts', ['[1,0]'], 'embedder_failed', 'string as a vector; return a Float32Array, or undefined where'],
    ['null', [null], 'embedder_failed', 'null as a vector; return a Float32Array, or undefined where'],
    ['another length', [[1, 0, 0]], 'embedder_mismatch', 'a vector of 3 numbers, its dimensions are 2'],
    [
      'no unit',
      [[2, 0]],
      'embedder_failed',
      'a vector of length 2, not 1; configure it to return normalised',
    ],
    ['zeros', [[0, 0]], 'embedder_failed', 'a vector of length 0, not 1; return undefined'],
    [
      'NaN',
      [[Number.NaN, 1]],
      'embedder_failed',
      'a vector that holds something other than numbers; return a Float32Array',
    ],
    ['infinity', [[Number.POSITIVE_INFINITY, 1]], 'embedder_failed', 'a vector of length Infinity, not 1'],
  ])(
    'that returns %s fails by name: nothing is written, and a recall says so',
    async (_, vectors, code, what) => {
      let isWrong = false;
      const embedder = {
        ...plain,
        embed: async (texts: readonly string[]) => (isWrong ? vectors : await embed(texts)),
      } as Embedder;
      await using memory = await openMemory({ path: ':memory:', space: 'mine', embedder });
      await memory.remember('likes tea');
      isWrong = true;
      const message = expect.stringContaining(`the embedder mine returned ${what}`);
      await expect(memory.remember('likes coffee')).rejects.toMatchObject({ code, message });
      expect((await memory.stats()).memories).toBe(1);
      const { hits, trace } = await memory.recall('likes');
      expect(hits).toHaveLength(1);
      expect(trace.arms).toContainEqual({ name: 'vector', status: 'failed', reason: message });
      expect((await memory.health()).problems).toEqual([message]);
    },
  );
});

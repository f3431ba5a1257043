import { describe, expect, it } from 'vitest';
import { openMemory } from '../index.ts';
import { chooseEmbedder } from './choose.ts';
import type { Embedder } from './embedder.ts';

const embed: Embedder['embed'] = async (texts) => texts.map(() => Float32Array.of(1, 0));
const plain = { model: 'mine', dimensions: 2, embed } as unknown as Embedder;

describe('an embedder of a program without types', () => {
  it('gets the defaults of what it leaves out', async () => {
    const { calibration, thresholds } = (await chooseEmbedder(plain))!;
    expect(calibration).toEqual({ floor: 0.2, ceiling: 0.9 });
    expect(thresholds).toEqual({ conflict: 0.75, birthLink: 0.4, consolidation: 0.7, similarPair: 0.85 });
    await using memory = await openMemory({ path: ':memory:', space: 'mine', embedder: plain });
    await memory.rememberMany([{ content: 'likes tea' }, { content: 'likes coffee' }]);
    expect((await memory.recall('tea')).hits).toHaveLength(2);
  });

  it('keeps what it says, and what it is called on', async () => {
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
});

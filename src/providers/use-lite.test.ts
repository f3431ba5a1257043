import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useLite } from './use-lite.ts';

const embedder = useLite();

async function embedOne(text: string): Promise<Float32Array | undefined> {
  return (await embedder.embed([text]))[0];
}

function dot(left: Float32Array | undefined, right: Float32Array | undefined): number {
  if (left === undefined || right === undefined) throw new Error('A text without a vector has no cosine.');
  return left.reduce((sum, value, index) => sum + value * (right[index] ?? Number.NaN), 0);
}

describe('useLite', () => {
  it('returns one unit vector of the stated dimensions per text, in order', async () => {
    const texts = ['I like coffee', 'The meeting moved to Tuesday afternoon, I think', 'I like coffee'];
    const vectors = await embedder.embed(texts);
    expect(vectors).toHaveLength(3);
    for (const vector of vectors) {
      expect(vector).toBeInstanceOf(Float32Array);
      expect(vector).toHaveLength(embedder.dimensions);
      expect(dot(vector, vector)).toBeCloseTo(1, 6);
    }
    expect(vectors[0]).toEqual(vectors[2]);
    expect(vectors[0]).not.toEqual(vectors[1]);
  });

  it('returns the same bits alone, among others of any length, from another instance and for a query', async () => {
    const words = ['oat', 'milk', 'the', 'museum', 'opens', '\u72d7', '?!', 'zxqvbn'];
    const text = fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((parts) => parts.join(' '));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 24 }), async (texts) => {
        const together = await useLite().embed(texts, { purpose: 'query' });
        const last = texts.length - 1;
        expect(together[last]).toEqual(await embedOne(texts[last] ?? ''));
        expect(together[0]).toEqual(await embedOne(texts[0] ?? ''));
        expect(together.map((vector) => vector === undefined)).toEqual(
          texts.map((each) => !/[a-y]/.test(each)),
        );
      }),
      { numRuns: 10 },
    );
  });

  it('accepts more texts of one length than it encodes at once', async () => {
    const numbers = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
    const texts = numbers.flatMap((number) =>
      ['dogs', 'cats', 'men', 'books'].map((noun) => `${number} ${noun}`),
    );
    const vectors = await embedder.embed(texts);
    expect(new Set(vectors.map((vector) => vector?.join())).size).toBe(texts.length);
    expect(vectors[39]).toEqual(await embedOne('ten books'));
  });

  it('returns the same for concurrent calls as for sequential ones', async () => {
    const texts = ['The train is late', 'She plays the cello in an orchestra', 'Bread'];
    const at = await Promise.all(texts.map(embedOne));
    expect(at).toEqual(await embedder.embed(texts));
  });

  it('returns no vector for a text without a known word, and none for no text', async () => {
    const unknown = [
      '',
      '   \n',
      '?!',
      '\ud83d\ude80',
      '\u4f60\u597d\u4e16\u754c',
      '\u4f60\u597d, \u4e16\u754c!',
    ];
    expect(await embedder.embed(unknown)).toEqual(unknown.map(() => undefined));
    expect(await embedder.embed([])).toEqual([]);
    expect(await embedOne('\u4f60\u597d, hello')).toBeDefined();
  });

  it('reads the start of a text, and accepts hostile ones', async () => {
    const start = 'The museum of modern art opens at ten. '.repeat(10);
    expect(await embedOne(`${start} Bread`)).not.toEqual(await embedOne(`${start} Trains`));
    const long = start.repeat(3);
    expect(await embedOne(`${long} Bread`)).toEqual(await embedOne(`${long} Trains`));
    const hostile = ['constructor __proto__ toString', '\ud800 lone surrogate', 'word '.repeat(50_000)];
    for (const vector of await embedder.embed(hostile)) expect(dot(vector, vector)).toBeCloseTo(1, 6);
  });

  it('distinguishes word order and negation, which a word table does not', async () => {
    const [dog, man] = await embedder.embed(['the dog bit the man', 'the man bit the dog']);
    expect(dot(dog, man)).toBeLessThan(0.9999);
  });

  it.each([
    [
      'Her car broke down on the highway',
      'The automobile had engine trouble on the road',
      'He bakes bread every Sunday',
    ],
    ['I am allergic to peanuts', 'Nuts make me sick', 'My flight leaves from the second terminal'],
    ['He was promoted at work', 'His boss gave him a better job', 'The cat hides under the bed'],
  ])('puts a paraphrase of %j above an unrelated text', async (text, paraphrase, unrelated) => {
    const [a, b, c] = await embedder.embed([text, paraphrase, unrelated]);
    expect(dot(a, b)).toBeGreaterThan(dot(a, c) + 0.1);
  });

  it('stops when it is aborted, before the first text and between two batches', async () => {
    await expect(embedder.embed(['text'], { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'aborted',
    });
    const looks: boolean[] = [];
    // Aborted at the third look: before the second batch.
    const signal = {
      get aborted() {
        looks.push(true);
        return looks.length > 2;
      },
    } as AbortSignal;
    await expect(embedder.embed(['one', 'one two three four'], { signal })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(looks).toHaveLength(3);
  });

  it('has a floor below its ceiling, and thresholds in ascending order', () => {
    const { calibration, thresholds } = embedder;
    expect(calibration.floor).toBeLessThan(calibration.ceiling);
    expect(thresholds.birthLink).toBeLessThan(thresholds.consolidation);
    expect(thresholds.consolidation).toBeLessThan(thresholds.conflict);
    expect(thresholds.conflict).toBeLessThan(thresholds.similarPair);
  });
});

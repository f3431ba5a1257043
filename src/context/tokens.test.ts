import { describe, expect, test } from 'vitest';
import { loadTokenCounter } from './tokens.ts';

describe('loadTokenCounter', () => {
  // The vocabularies' own examples: OpenAI, "How to count tokens with tiktoken".
  test.each([
    ['cl100k_base', 'antidisestablishmentarianism', 6],
    ['o200k_base', 'antidisestablishmentarianism', 6],
    ['cl100k_base', '2 + 2 = 4', 7],
    ['o200k_base', '2 + 2 = 4', 7],
    ['cl100k_base', 'お誕生日おめでとう', 9],
    ['o200k_base', 'お誕生日おめでとう', 8],
  ] as const)('%s: %s', async (encoding, text, tokens) => {
    const count = await loadTokenCounter(encoding);
    expect(await count([text, '', text])).toEqual([tokens, 0, tokens]);
  });

  test('counts what looks like a control token as text', async () => {
    const count = await loadTokenCounter();
    const [tokens] = await count(['<|endoftext|>']);
    expect(tokens).toBeGreaterThan(1);
  });

  test.each(['a', ' ', '=', '字', '\n', '\u0301'])(
    'counts long runs of %j without taking the square of their length',
    async (character) => {
      const count = await loadTokenCounter();
      const [once, long] = await count([character.repeat(2048), character.repeat(2048 * 32)]);
      expect(long! / once!).toBeCloseTo(32, -1);
    },
  );

  test('counts texts with breaks exactly, however long', async () => {
    const count = await loadTokenCounter();
    const sentence = 'She said that it rained.\n';
    const [once, long] = await count([sentence, sentence.repeat(1000)]);
    expect(long).toBe(1000 * once!);
  });

  test('names the vocabularies that there are', async () => {
    await expect(loadTokenCounter('p50k_base' as 'o200k_base')).rejects.toThrow(/o200k_base, cl100k_base/);
  });
});

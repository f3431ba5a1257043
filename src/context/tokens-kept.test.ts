import { expect, test, vi } from 'vitest';
import { loadTokenCounter } from './tokens.ts';

const asked = vi.hoisted((): string[] => []);
vi.mock('./byte-pairs.ts', async (original) => {
  const { createCounter, ...rest } = await original<typeof import('./byte-pairs.ts')>();
  return {
    ...rest,
    createCounter(...given: Parameters<typeof createCounter>) {
      const count = createCounter(...given);
      return (text: string) => {
        asked.push(text);
        return count(text);
      };
    },
  };
});

test('texts counted recently are not counted again, with a cache of up to 2 MB', async () => {
  const count = await loadTokenCounter();
  const [tea, green] = await count(['tea', 'green tea']);
  expect(await count(['green tea', 'tea', 'tea'])).toEqual([green, tea, tea]);
  expect(asked).toEqual(['tea', 'green tea']);
  expect(await (await loadTokenCounter())(['tea'])).toEqual([tea]);
  const long = 'tea '.repeat(400);
  await count(Array.from({ length: 1000 }, (_, at) => `${at} ${long}`));
  asked.length = 0;
  expect(await count(['tea'])).toEqual([tea]);
  expect(asked).toEqual(['tea']);
});

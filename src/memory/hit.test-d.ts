import { expectTypeOf, test } from 'vitest';
import { type AnyScore, compareScores, type Hit, type MemoryEngine, type Recall } from '../index.ts';

declare const memory: MemoryEngine;

test('a hit without a strategy is the hit of any', async () => {
  const titles = (hits: readonly Hit[]) => hits.map(({ score }) => score.value);
  const { hits } = await memory.recall('x');
  const lexical = (await memory.recall('x', { strategy: 'lexical' })).hits;
  expectTypeOf(hits).toExtend<readonly Hit<'hybrid'>[]>();
  expectTypeOf(titles(hits)).toEqualTypeOf<number[]>();
  titles(lexical);
  titles([...hits, ...lexical]);
  const any: Hit | undefined = hits[0];
  expectTypeOf(any!.score).toEqualTypeOf<AnyScore>();
  const named = (await memory.recall('x', { strategy: 'mine' as string })).hits;
  titles(named);
  named.toSorted((a, b) => compareScores(a.score, b.score));
});

test('hits of several strategies do not compare', async () => {
  const { hits } = await memory.recall('x');
  const lexical = (await memory.recall('x', { strategy: 'lexical' })).hits;
  const mixed: readonly Hit[] = [...hits, ...lexical];
  // @ts-expect-error
  mixed.toSorted((a, b) => compareScores(a.score, b.score));
  // @ts-expect-error
  compareScores(hits[0]!.score, lexical[0]!.score);
  hits.toSorted((a, b) => compareScores(a.score, b.score));
});

test('a function over the hits of one strategy, whichever', () => {
  const best = <Strategy extends string>(recall: Recall<Strategy>) =>
    recall.hits.toSorted((a, b) => compareScores(a.score, b.score))[0];
  expectTypeOf(best<'lexical'>).returns.toExtend<Hit<'lexical'> | undefined>();
  const idsOf = <Strategy extends string>(hits: readonly Hit<Strategy>[]) =>
    hits.map(({ memory: { id } }) => id);
  idsOf([] as readonly Hit<'lexical'>[]);
});

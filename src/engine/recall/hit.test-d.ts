import { expectTypeOf, test } from 'vitest';
import { type AnyScore, compareScores, type Hit, type MemoryEngine, type Recall } from '../../index.ts';

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

test('Hit is the type of a parameter for the hits of every recall', async () => {
  const show = (hit: Hit) => `${hit.score} ${hit.memory.content}`;
  const showAll = (hits: readonly Hit[]) => hits.map(show).join('\n');
  const asked = await memory.recall('x');
  const ambient = await memory.recall(undefined, { strategy: 'ambient' });
  const own = await memory.recall('x', { strategy: 'mine' });
  const either = await memory.recall('x', { strategy: 'bm25' as 'bm25' | 'vector' });
  for (const hit of asked.hits) show(hit);
  for (const hit of ambient.hits) show(hit);
  showAll(asked.hits);
  showAll([...ambient.hits, ...own.hits, ...either.hits]);
  const { memories } = await memory.startSession();
  showAll(memories);
  const { items } = await memory.context('x', { maxTokens: 100 });
  const value = (score: AnyScore) => score.value;
  items.map(({ score }) => value(score));
  // @ts-expect-error
  const compare = (a: Hit, b: Hit) => compareScores(a.score, b.score);
  void compare;
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

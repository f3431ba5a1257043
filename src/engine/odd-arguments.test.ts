import { expect, test } from 'vitest';
import { live } from '../testing/live-memory.ts';
import { expectCode } from '../testing/store-contract/harness.ts';

const circle: Record<string, unknown> = {};
circle['itself'] = circle;
const gap: unknown[] = [];
gap[1] = 'a';

test.each([
  ['a symbol', Symbol('s')],
  ['a BigInt', 10n],
  ['an object without a prototype', Object.create(null)],
  ['an object that holds itself', circle],
  ['a list with a gap', gap],
])('%s where it has no place is an error of ours', async (_, odd) => {
  const { memory } = await live();
  await memory.remember('Coffee is grown in Brazil', { id: 'a' });
  const value = odd as never;
  for (const refused of [
    () => memory.remember('Tea', { ttl: value }),
    () => memory.resolve(value, 'keep-both'),
    () => memory.list({ offset: value }),
    () => memory.recalls({ before: value }),
    () => memory.replay(value),
  ])
    await expectCode(refused(), 'invalid_argument');
  await expectCode(memory.recall('coffee', { strategy: value }), 'unknown_strategy');
  await expectCode(live({ embedder: value }), 'unknown_embedder');
  expect((await memory.list()).total).toBe(1);
});

test('a list with a gap holds no text there', async () => {
  const { memory } = await live();
  await memory.remember('Coffee is grown in Brazil', { id: 'a' });
  const list = gap as string[];
  for (const refused of [
    () => memory.remember('Tea', { tags: list }),
    () => memory.update('a', { tags: list }),
    () => memory.list({ tags: list }),
    () => memory.markUsed(list),
    () => memory.forget(list),
    () => memory.context('coffee', { maxTokens: 500, mustInclude: list }),
  ])
    expect((await expectCode(refused(), 'invalid_argument')).message).toContain(
      ': expected a string, not undefined',
    );
});

import { expect, test } from 'vitest';
import { angleEmbedder } from '../testing/angle-embedder.ts';
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

test('what arguments inherit counts as their own', async () => {
  class Settings {
    get dryRun() {
      return true;
    }
    describe() {
      return 'no field';
    }
  }
  class Statement {
    content = 'Tea is hot';
    get scope() {
      return 'team:a';
    }
  }
  const { memory } = await live();
  const [tea] = await memory.rememberMany([new Statement()]);
  await memory.remember('Coffee is hot', Object.create({ id: 'b', scope: 'team:b' }));
  const scopes = async () => (await memory.list()).memories.map(({ scope }) => scope);
  expect(await scopes()).toEqual(['team:b', 'team:a']);
  expect(await memory.forget(tea!.id, new Settings())).toMatchObject({ dryRun: true, count: 1 });
  expect(await memory.maintain(new Settings())).toMatchObject({ dryRun: true });
  await memory.update('b', Object.create({ title: 'Coffee' }));
  expect((await memory.get('b'))?.title).toBe('Coffee');
  expect(await scopes()).toHaveLength(2);
  await expectCode(memory.forget('b', Object.create({ dryRun: 'no' })), 'invalid_argument');
  await expectCode(memory.list(Object.create({ scoep: 'team:a' })), 'invalid_argument');
  const hidden = Object.defineProperty({}, 'content', { value: 'Milk is hot' }) as { content: string };
  await expectCode(memory.rememberMany([hidden]), 'invalid_argument');
});

test('a method that an option names is called, on its own object', async () => {
  let seen = 0;
  class Watching {
    #times = 0;
    progress() {
      this.#times++;
      seen = this.#times;
    }
    describe() {
      return 'no option';
    }
  }
  const { memory } = await live({ embedder: angleEmbedder({ 'Tea is hot': 0 }) });
  await memory.remember('Tea is hot');
  await memory.reindex(new Watching());
  expect(seen).toBeGreaterThan(0);
});

test('minus zero is zero, as it is in every store once it was read again', async () => {
  const { memory } = await live();
  await memory.remember('Coffee is grown in Brazil', { id: 'a', importance: -0 });
  const { features } = await memory.explain('a', { query: 'coffee' });
  expect(features?.['importance']).toBe(0);
});

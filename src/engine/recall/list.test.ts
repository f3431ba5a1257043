import { expect, test } from 'vitest';
import { FIELD_FILTERS, SORT_NAMES } from '../../domain/fields.ts';
import { VERBS } from '../../domain/verbs.ts';
import { type ListOptions, openMemory } from '../../index.ts';

async function sample() {
  const memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none', clock: () => 0 });
  await memory.importMemories(
    [
      { id: 'a', author: 'Ada', importance: 0.9, sessionId: 's1', createdAt: '2026-01-01T00:00:00.000Z' },
      { id: 'b', author: 'Ben', importance: 0.1, topicKey: 'tea', createdAt: '2026-01-02T00:00:00.000Z' },
      { id: 'c', author: 'Ada', importance: 0.5, core: true, createdAt: '2026-01-03T00:00:00.000Z' },
      { id: 'd', role: 'user', tier: 'cold', source: 'inferred', createdAt: '2026-01-04T00:00:00.000Z' },
    ].map((each) => ({ content: `Statement ${each.id}`, updatedAt: each.createdAt, ...each })) as never,
  );
  return memory;
}

test('every sort and filter of the table of fields is an argument', () => {
  expect(VERBS.list.arguments.sort.enum).toEqual(SORT_NAMES);
  expect(SORT_NAMES.toSorted()).toEqual([
    'accessCount',
    'accessed',
    'confidence',
    'created',
    'importance',
    'inserted',
    'stability',
    'updated',
    'usefulness',
  ]);
  expect(Object.keys(VERBS.list.arguments)).toEqual(expect.arrayContaining(Object.keys(FIELD_FILTERS)));
});

test.each<[string, ListOptions]>([
  ['dcba', {}],
  ['adcb', { sort: 'importance' }],
  ['bcda', { sort: 'importance', direction: 'asc' }],
  ['ca', { author: 'Ada' }],
  ['', { author: 'ada' }],
  ['a', { sessionId: 's1' }],
  ['b', { topicKey: 'tea' }],
  ['c', { core: true }],
  ['dba', { core: false }],
  ['d', { tier: 'cold' }],
  ['d', { role: 'user', source: 'inferred' }],
  ['dc', { createdAfter: '2026-01-03' }],
  ['ba', { createdBefore: new Date('2026-01-03') }],
  ['', { accessedBefore: '2030-01-01' }],
  ['cb', { createdAfter: '2026-01-02', updatedBefore: '2026-01-04' }],
])('finds "%s" by %j', async (expected, options) => {
  await using memory = await sample();
  const { memories, total, position } = await memory.list(options);
  expect(memories.map(({ id }) => id).join('')).toBe(expected);
  expect([total, position]).toEqual([expected.length, 0]);
});

test('a page knows its place, and can begin anywhere', async () => {
  await using memory = await sample();
  const page = await memory.list({ limit: 2, offset: 1 });
  expect(page.memories.map(({ id }) => id)).toEqual(['c', 'b']);
  expect(page).toMatchObject({ position: 1, total: 4 });
  const last = await memory.list({ limit: 2, cursor: page.nextCursor });
  expect(last).toMatchObject({ memories: [{ id: 'a' }], position: 3, total: 4 });
  expect(last.nextCursor).toBeUndefined();
  expect(await memory.list({ limit: 2, offset: 9 })).toEqual({ memories: [], position: 4, total: 4 });
  expect(await memory.list({ limit: 3, around: 'a' })).toMatchObject({ position: 1 });
  const past = await memory.list({ limit: 1, offset: 1, asOf: { known: new Date(0) } });
  expect(past).toMatchObject({ memories: [{ id: 'c' }], position: 1, total: 4, redacted: 0 });
  expect(await memory.list({ author: 'Ada', count: false, limit: 1 })).not.toHaveProperty('total');
});

test.each<[ListOptions | Record<string, unknown>, string]>([
  [{ sort: 'age' }, 'sort: "age" is not one of importance, '],
  [{ direction: 'down' }, 'direction: "down" is not one of asc, desc'],
  [{ core: 'yes' }, 'core: "yes" must be true or false'],
  [{ tier: 'warm' }, 'tier: "warm" is not one of hot, cold, stub'],
  [{ author: '' }, 'author: it must not be empty'],
  [{ createdAfter: 'yesterday' }, 'createdAfter: "yesterday" is not a time'],
  [{ offset: -1 }, 'offset: -1 is not a whole number of at least 0'],
  [{ offset: 1, around: 'a' }, 'around: give offset or around, not both'],
  [{ cursor: 'x', offset: 1 }, 'offset: give cursor or offset, not both'],
  [{ around: 'a', author: 'Ben' }, 'around: memory "a" is not in this list'],
  [{ count: 1 }, 'count: 1 must be true or false'],
])('refuses %j', async (options, message) => {
  await using memory = await sample();
  await expect(memory.list(options as ListOptions)).rejects.toThrow(message);
});

import { expect, test } from 'vitest';
import { type AskedQuestion, type PositiveUse, questionsFromUse } from './from-use.ts';

const minute = (number: number) => new Date(Date.UTC(2026, 2, 1, 10, number)).toISOString();
const recall = (at: number, query: string | undefined, hits: string, more: Partial<AskedQuestion> = {}) => ({
  ...{ at: minute(at), strategy: 'hybrid', query, hits: [...hits].map((id) => ({ id })), ...more },
});
const use = (at: number, ids: string, sessionId?: string): PositiveUse => ({
  ...{ at: minute(at), ids: [...ids], sessionId },
});
const memories = new Set('abcdefghijklmnop');
const make = (recalls: readonly AskedQuestion[], uses: readonly PositiveUse[], more: object = {}) =>
  questionsFromUse({ recalls, uses, memories, ...more });
const none = {
  ...{
    'query-not-recorded': 0,
    'nothing-used': 0,
    'memory-gone': 0,
    'first-of-strategy': 0,
    'asked-again': 0,
  },
};

test('used memories are evidence, and unused ones are no evidence either way', () => {
  const { queries, dropped, unexplained } = make([recall(0, 'tea?', 'abcd')], [use(1, 'bd')]);
  expect(queries).toEqual([
    {
      ...{ id: 'use-1', query: 'tea?', now: Date.UTC(2026, 2, 1, 10), type: 'used' },
      ...{ relevant: ['b', 'd'], stale: [], weight: 2 },
    },
  ]);
  expect([dropped, unexplained]).toEqual([none, 0]);
});

test('a question is asked as of the moment that its recall was computed for', () => {
  const asOf = recall(0, 'tea?', 'ab', { now: '2026-02-01T00:00:00Z' });
  expect(make([asOf], [use(1, 'b')]).queries[0]?.now).toBe(Date.UTC(2026, 1, 1));
});

test('a question whose whole evidence the measured strategy had put first is left out', () => {
  const both = [use(1, 'a')];
  expect(make([recall(0, 'tea?', 'ab')], both)).toMatchObject({
    queries: [],
    dropped: { ...none, 'first-of-strategy': 1 },
  });
  // Of another strategy it is as good as any.
  expect(make([recall(0, 'tea?', 'ab', { strategy: 'bm25' })], both).queries).toHaveLength(1);
  expect(make([recall(0, 'tea?', 'ab')], both, { strategy: 'bm25' }).queries).toHaveLength(1);
  // The first beside a lower one stays evidence.
  expect(make([recall(0, 'tea?', 'ab')], [use(1, 'ab')]).queries[0]).toMatchObject({
    ...{ relevant: ['a', 'b'], weight: 1 },
  });
});

test('what was used when a question was asked again stays evidence, also where the measured strategy had put it first', () => {
  const recalls = [recall(0, 'tea?', 'ab'), recall(10, 'Tea?', 'abc')];
  const uses = [use(1, 'a'), use(11, 'c')];
  // Without it a strategy that still puts it first would be blamed for it.
  expect(make(recalls, uses)).toMatchObject({
    queries: [{ relevant: ['a', 'c'], weight: 1 }],
    dropped: { ...none, 'asked-again': 1 },
  });
  expect(make(recalls.toReversed(), uses).queries).toMatchObject([{ relevant: ['a', 'c'] }]);
  expect(make(recalls, [use(1, 'a'), use(11, 'a')])).toMatchObject({
    queries: [],
    dropped: { ...none, 'first-of-strategy': 2 },
  });
});

test('a memory that was shown twice has the rank at which it was shown first', () => {
  expect(make([recall(0, 'tea?', 'aab')], [use(1, 'a')])).toMatchObject({
    queries: [],
    dropped: { ...none, 'first-of-strategy': 1 },
  });
});

test('a question counts by the best rank of its evidence, at most 10', () => {
  const weightAt = (rank: number) =>
    make([recall(0, 'tea?', 'abcdefghijklmnop')], [use(1, [...memories][rank - 1]!)]).queries[0]!.weight;
  expect([2, 3, 10, 11, 16].map(weightAt)).toEqual([2, 3, 10, 10, 10]);
});

test('a use belongs to the latest recall of the minutes before that showed it', () => {
  const recalls = [recall(0, 'first', 'xab'), recall(10, 'second', 'xb'), recall(20, 'third', 'xc')];
  const relevantOf = (...uses: PositiveUse[]) =>
    Object.fromEntries(make(recalls, uses).queries.map(({ query, relevant }) => [query, relevant]));
  expect(relevantOf(use(21, 'b'))).toEqual({ second: ['b'] });
  expect(relevantOf(use(9, 'b'))).toEqual({ first: ['b'] });
  expect(relevantOf(use(0, 'a'))).toEqual({ first: ['a'] });
  expect(relevantOf(use(30, 'a'))).toEqual({ first: ['a'] });
  expect(make(recalls, [use(31, 'a')])).toMatchObject({ queries: [], unexplained: 1 });
  expect(make(recalls, [use(31, 'a')], { minutes: 31 }).queries).toHaveLength(1);
  expect(make([recall(5, 'later', 'xa')], [use(4, 'a')])).toMatchObject({ queries: [], unexplained: 1 });
  expect(make(recalls, [use(21, 'z')])).toMatchObject({ queries: [], unexplained: 1 });
});

test('sessions must agree where both name one', () => {
  const recalls = [recall(0, 'tea?', 'ab', { sessionId: 'one' })];
  expect(make(recalls, [use(1, 'b', 'two')])).toMatchObject({ queries: [], unexplained: 1 });
  expect(make(recalls, [use(1, 'b', 'one')]).queries).toHaveLength(1);
  expect(make(recalls, [use(1, 'b')]).queries).toHaveLength(1);
});

test('a query that is asked again is one question, with all that was used', () => {
  const recalls = [recall(0, 'Tea?', 'abc', { now: '2026-02-01T00:00:00Z' }), recall(50, ' tea? ', 'xxxb')];
  const { queries, dropped } = make(recalls, [use(1, 'c'), use(51, 'b')]);
  expect(queries).toMatchObject([
    { query: 'Tea?', relevant: ['c', 'b'], weight: 3, now: Date.parse(minute(50)) },
  ]);
  expect(dropped).toEqual({ ...none, 'asked-again': 1 });
});

test('recalls that become no question are counted by reason', () => {
  const recalls = [
    recall(0, 'unused', 'ab'),
    recall(1, undefined, 'xc'),
    recall(2, 'gone', 'xz'),
    recall(3, ' ', 'xd'),
  ];
  const { queries, dropped } = make(recalls, [use(5, 'czd')]);
  expect(queries).toEqual([]);
  expect(dropped).toEqual({ ...none, 'nothing-used': 1, 'query-not-recorded': 2, 'memory-gone': 1 });
});

test('times and minutes are checked', () => {
  expect(() => make([{ ...recall(0, 'tea?', 'a'), at: 'soon' }], [])).toThrow(
    expect.objectContaining({ code: 'invalid_time' }),
  );
  expect(() => make([], [], { minutes: 0 })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
});

test.each([
  ['recalls[0].at', { recalls: [null], uses: [] }],
  ['uses[0].at', { recalls: [], uses: [null] }],
])('what is no line of a log is refused by its place, %s', (field, options) => {
  expect(() => questionsFromUse({ ...options, memories: new Set() } as never)).toThrow(
    expect.objectContaining({ code: 'invalid_time', message: expect.stringContaining(field) }),
  );
});

test.each([
  ['recalls[0].hits[1].id', { hits: [{ id: 'a' }, null] }],
  ['recalls[0].hits[0].id', { hits: [{ id: 7 }] }],
  ['recalls[0].query', { query: 7 }],
])('what is no recall is refused by its place, %s', (field, wrong) => {
  const recalls = [{ ...recall(0, 'tea?', 'a'), ...wrong }] as never;
  expect(() => make(recalls, [use(1, 'a')])).toThrow(
    expect.objectContaining({ code: 'invalid_argument', details: { field } }),
  );
});

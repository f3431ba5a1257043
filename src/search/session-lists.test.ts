import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../domain/slices.ts';
import { indexed } from '../testing/index-oracle.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { createResidentIndex, putMemory, type ResidentIndex, removeMemory } from './resident-index.ts';
import { packing } from './session-lists.ts';

/** The session of each row, 0 for none, and when it was made. */
type Rows = readonly { readonly session: number; readonly at: number }[];

const put = (index: ResidentIndex, key: number, { session, at }: Rows[number]) => {
  const bornIn = session === 0 ? undefined : `s${session}`;
  const memory = sampleMemory({ id: `m${key}`, ordinal: key + 1, bornIn, createdAt: at, updatedAt: at });
  putMemory(index, indexed(key, memory, { terms: new Map(), vector: undefined }));
};

const indexOf = (rows: Rows) => {
  const index = createResidentIndex();
  rows.forEach((row, key) => {
    put(index, key, row);
  });
  return index;
};

const listsOf = ({ sessions }: ResidentIndex, lists = sessions.lists) =>
  new Map(sessions.dictionary.texts.map((text, at) => [text, [...lists.of(at + 1)]]));

/** Rows of each session by creation, then by the order in which they came. */
const expectedLists = (rows: Rows) => {
  const lists = new Map<string, number[]>();
  for (const [row, { session }] of rows.entries()) {
    if (session > 0) lists.set(`s${session}`, [...(lists.get(`s${session}`) ?? []), row]);
  }
  for (const list of lists.values()) list.sort((a, b) => rows[a]!.at - rows[b]!.at || a - b);
  return lists;
};

const row = fc.record({ session: fc.integer({ min: 0, max: 4 }), at: fc.constantFrom(1, 2, 3) });
const following = fc
  .array(fc.tuple(row, fc.integer({ min: 1, max: 6 })), { maxLength: 6 })
  .map((runs) => runs.flatMap(([each, count]) => Array.from({ length: count }, () => each)));

test('turns are in order, wherever their rows are, and follow insertions and removals', () => {
  fc.assert(
    fc.property(fc.oneof(fc.array(row, { maxLength: 30 }), following), fc.array(row), (rows, more) => {
      const index = indexOf(rows);
      expect(listsOf(index)).toEqual(expectedLists(rows));
      index.sessions.lists = atOnce(packing(index));
      expect(listsOf(index)).toEqual(expectedLists(rows));
      more.forEach((each, at) => {
        put(index, rows.length + at, each);
      });
      const all = [...rows, ...more];
      expect(listsOf(index)).toEqual(expectedLists(all));
      for (const key of all.keys()) if (key % 3 === 0) removeMemory(index, key);
      const left = expectedLists(all.map((each, at) => (at % 3 === 0 ? { ...each, session: 0 } : each)));
      expect(new Map([...listsOf(index)].filter(([, list]) => list.length > 0))).toEqual(left);
    }),
  );
});

test('sessions with consecutive rows store no rows', () => {
  const rows = Array.from({ length: 400 }, (_, at) => ({ session: 1 + Math.floor(at / 100), at }));
  const bytes = (each: Rows) => atOnce(packing(indexOf(each))).bytes();
  const following = bytes(rows);
  expect(following).toBeLessThan(100);
  expect(bytes(rows.map(({ at }) => ({ session: 1 + (at % 4), at })))).toBe(following + 4 * 400);
  // One of them is out of order.
  expect(bytes(rows.map((each) => (each.at === 50 ? { ...each, at: 500 } : each)))).toBe(following + 4 * 100);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MemoryRecord } from '../domain/memory.ts';
import type { KeyedRows } from '../store/rows.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { createRecentRows } from './recent-rows.ts';

/** Rows that note what is read of them. */
function notedRows(recordOf: (key: number) => MemoryRecord) {
  const read = {
    records: [] as number[],
    vectors: [] as number[],
    terms: [] as string[],
    ids: [] as number[],
  };
  const rows = {
    records(keys: readonly number[]) {
      read.records.push(...keys);
      return keys.map(recordOf);
    },
    vectors(keys: readonly number[]) {
      read.vectors.push(...keys);
      return keys.map((key) => (key % 5 === 0 ? undefined : Float32Array.of(key, 1)));
    },
    termIds(terms: readonly string[]) {
      read.terms.push(...terms);
      return terms.map((term) => (term === 'nowhere' ? undefined : term.length));
    },
    keysOf: (ids: readonly string[]) => ids.map((id) => Number(id.slice(1))),
    idsOf(keys: readonly number[]) {
      read.ids.push(...keys);
      return keys.map((key) => (key === 9 ? undefined : `m${key}`));
    },
  } as unknown as KeyedRows;
  return { rows, read };
}

const recordOf = (key: number) => sampleMemory({ id: `m${key}`, content: 'x'.repeat(key) });

describe('recent rows', () => {
  test('are read once, in whatever order and company they are asked for', async () => {
    const { rows, read } = notedRows(recordOf);
    const recent = createRecentRows().over(rows);
    expect(await recent.records([1, 2])).toEqual([recordOf(1), recordOf(2)]);
    expect(await recent.records([3, 2, 1, 2])).toEqual([3, 2, 1, 2].map(recordOf));
    expect(read.records).toEqual([1, 2, 3]);
    expect(await recent.vectors([1, 5])).toEqual([Float32Array.of(1, 1), undefined]);
    expect(await recent.vectors([5, 1])).toEqual([undefined, Float32Array.of(1, 1)]);
    // One that has none may get one.
    expect(read.vectors).toEqual([1, 5, 5]);
    expect(await recent.termIds(['tea', 'nowhere'])).toEqual([3, undefined]);
    expect(await recent.termIds(['nowhere', 'tea'])).toEqual([undefined, 3]);
    expect(read.terms).toEqual(['tea', 'nowhere', 'nowhere']);
    expect(await recent.idsOf([1, 9])).toEqual(['m1', undefined]);
    expect(await recent.idsOf([9, 2, 1])).toEqual([undefined, 'm2', 'm1']);
    expect(read.ids).toEqual([1, 9, 9, 2]);
  });

  test('are read again once they have changed', async () => {
    const { rows, read } = notedRows(recordOf);
    const recent = createRecentRows();
    const over = recent.over(rows);
    const readAll = async () => {
      await over.records([1, 2]);
      await over.vectors([1, 2]);
      await over.termIds(['tea']);
      await over.idsOf([1, 2]);
    };
    await readAll();
    recent.forget([2]);
    await readAll();
    expect(read).toEqual({ records: [1, 2, 2], vectors: [1, 2, 2], terms: ['tea'], ids: [1, 2, 2] });
    recent.clear();
    await readAll();
    expect(read).toEqual({
      records: [1, 2, 2, 1, 2],
      vectors: [1, 2, 2, 1, 2],
      terms: ['tea', 'tea'],
      ids: [1, 2, 2, 1, 2],
    });
  });

  test('are counted in bytes, whatever was read of them', async () => {
    const recent = createRecentRows();
    const over = recent.over(notedRows(recordOf).rows);
    let before = recent.bytes();
    for (const readOne of [
      () => over.records([1]),
      () => over.vectors([1]),
      () => over.termIds(['tea']),
      () => over.keysOf(['m1']),
      () => over.idsOf([1]),
    ]) {
      await readOne();
      expect(recent.bytes()).toBeGreaterThan(before);
      before = recent.bytes();
    }
  });

  test('of a store that reads along what is asked for next are its own', () => {
    const rows = { ...notedRows(recordOf).rows, readsAlong: true as const };
    expect(createRecentRows().over(rows)).toBe(rows);
  });

  test('hold what there is room for, and count it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12_000 }),
        fc.array(fc.record({ keys: fc.array(fc.nat(40), { maxLength: 6 }), forgets: fc.array(fc.nat(40)) }), {
          maxLength: 30,
        }),
        async (most, steps) => {
          const { rows } = notedRows(recordOf);
          const recent = createRecentRows(most, most);
          const over = recent.over(rows);
          for (const { keys, forgets } of steps) {
            expect(await over.records(keys)).toEqual(keys.map(recordOf));
            expect(await over.vectors(keys)).toEqual(await rows.vectors(keys));
            expect(recent.bytes()).toBeLessThanOrEqual(2 * most);
            recent.forget(forgets);
            expect(recent.bytes()).toBeGreaterThanOrEqual(0);
          }
          recent.forget(Array.from({ length: 41 }, (_, key) => key));
          expect(recent.bytes()).toBe(0);
        },
      ),
    );
  });

  test('keep those that are asked for, where others have to go', async () => {
    const { rows, read } = notedRows(recordOf);
    const recent = createRecentRows(20_000).over(rows);
    for (let key = 1; key < 200; key++) await recent.records([0, key]);
    expect(read.records.filter((key) => key === 0)).toHaveLength(1);
    expect(read.records).toHaveLength(200);
    await recent.records([1]);
    expect(read.records).toHaveLength(201);
  });
});

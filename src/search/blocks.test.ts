import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BLOCK_SIZE } from '../scoring/compile.ts';
import type { Expression } from '../scoring/operators/index.ts';
import { resolveProfile } from '../scoring/profile.ts';
import { defineProfile } from '../scoring/score.ts';
import type { SearchableMemory } from '../store/state.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import { denseVector, expectSame, indexOf, plainStore } from '../testing/index-oracle.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { SCAN_ROWS } from './kernel/codes.ts';

/**
 * Rows are bounded in blocks. What the first one found decides what is let go of in the next: a store of one block does not
 * show it.
 */

const rankedBy = (score: Expression) =>
  resolveProfile(defineProfile({ name: 'blocks', description: 'One signal.', score }));
const importance = rankedBy({ op: 'signal', name: 'importance' });
const similarity = rankedBy({ op: 'signal', name: 'similarity', missing: 0.3 });

/** Memories that differ in their importance, and in the order in which they were inserted. */
function ofImportance(values: readonly number[]): readonly SearchableMemory[] {
  return values.map((value, at) => ({
    memory: sampleMemory({ id: `m${at}`, ordinal: at + 1, importance: value }),
    terms: new Map(),
    vector: undefined,
  }));
}

function expectFound(memories: readonly SearchableMemory[], limit: number) {
  const request = { profile: importance, query: { terms: [] }, filter: {}, now: ARBITRARY_NOW, limit };
  return expectSame(indexOf(memories), memories, memories, request);
}

describe('more memories than a block holds', () => {
  test.each([1, 7])('that are all alike: the last that were inserted, %i of them', async (limit) => {
    const count = 2 * BLOCK_SIZE + 300;
    const { ids, upperBound } = await expectFound(ofImportance(new Array<number>(count).fill(0.5)), limit);
    expect(ids).toEqual(Array.from({ length: limit }, (_, at) => `m${count - 1 - at}`));
    expect(upperBound).toBe(0.5);
  });

  test('the bound covers the best discarded row, wherever it is in its block', async () => {
    const values = Array.from({ length: 3 * BLOCK_SIZE }, (_, at) =>
      at < 5 ? 0.9 : 0.1 + (at % 100) / 1000,
    );
    for (const at of [BLOCK_SIZE, BLOCK_SIZE + 500, 3 * BLOCK_SIZE - 1]) {
      const { upperBound, scored, ids } = await expectFound(
        ofImportance(values.map((value, row) => (row === at ? 0.5 : value))),
        5,
      );
      expect(ids).toEqual(['m4', 'm3', 'm2', 'm1', 'm0']);
      expect(upperBound).toBeGreaterThanOrEqual(0.5);
      expect(upperBound).toBeLessThan(0.5 + 1e-6);
      expect(scored).toBeLessThan(100);
    }
  });

  test('the bound holds for a score that is added up in another order', async () => {
    const signal = { op: 'signal', name: 'importance' } as const;
    // What reads the query is not kept from one recall to the next, in numbers of 32 bits.
    const unknown = { op: 'signal', name: 'similarity', missing: 0.7 } as const;
    const rounded = rankedBy({ op: 'product', of: [0.1, signal, unknown, 0.3, 0.9] });
    const random = seededRandom(11);
    let above = 0;
    for (let round = 0; round < 60; round++) {
      const [second, first = 0] = [random() / 2, 0.9];
      const memories = ofImportance([first, second]);
      const request = {
        profile: rounded,
        query: { terms: [] },
        filter: {},
        now: ARBITRARY_NOW,
        limit: 1,
      };
      const { upperBound, scored } = await expectSame(indexOf(memories), memories, memories, request);
      expect(upperBound).toBeCloseTo(0.0189 * second, 11);
      if (scored === 1) above++;
    }
    expect(above).toBeGreaterThan(0);
  });

  test('rows skipped in one level do not bound the scores of another level', async () => {
    const signal = (name: 'similarity' | 'importance' | 'confidence') => ({ op: 'signal', name }) as const;
    // Two parts that no query changes are kept as one, and have levels.
    const profile = rankedBy({
      op: 'sum',
      terms: [
        { weight: 0.4, of: signal('similarity') },
        { weight: 0.3, of: signal('importance') },
        { weight: 0.3, of: signal('confidence') },
      ],
    });
    const along = (similarity: number) =>
      Float32Array.from([similarity, Math.sqrt(1 - similarity ** 2), ...new Array<number>(6).fill(0)]);
    const memories = Array.from({ length: 3000 }, (_, at): SearchableMemory => {
      const [level, similarity] = at < 20 ? [0.98, 0.7] : at % 50 === 0 ? [0.97, 0.1] : [0, 0.9];
      const jitter = (at % 17) / 1000;
      return {
        memory: sampleMemory({
          id: `m${at}`,
          ordinal: at + 1,
          importance: level,
          confidence: Math.max(0, level - jitter),
        }),
        terms: new Map(),
        vector: along(similarity - jitter),
      };
    });
    const query = { terms: [], vector: along(1) };
    const request = { profile, query, filter: {}, now: ARBITRARY_NOW, limit: 10 };
    const { scored, hits, upperBound } = await expectSame(indexOf(memories), memories, memories, request);
    expect(scored).toBeLessThan(100);
    expect(upperBound).toBeLessThanOrEqual((hits.at(-1)?.score ?? 0) + 2e-9);
  });

  test('few values, or many that 8 bits blur', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.integer({ min: BLOCK_SIZE - 1, max: 2 * BLOCK_SIZE + 2 }),
        fc.constantFrom(1, 2, 15, 40),
        fc.boolean(),
        async (seed, count, limit, blurred) => {
          const memories = plainStore(seed, count).map((each) => ({
            ...each,
            memory: { ...each.memory, importance: Math.round(each.memory.importance * 3) / 3 },
          }));
          const query = { terms: [], vector: denseVector(seededRandom(~seed)) };
          const profile = blurred ? similarity : importance;
          const request = { profile, query, filter: {}, now: ARBITRARY_NOW, limit };
          await expectSame(indexOf(memories), memories, memories, request);
        },
      ),
      { numRuns: 8 },
    );
  });

  test('few of them within the filter, far from one another', async () => {
    const memories = plainStore(5, 4 * SCAN_ROWS + 900).map((each, at) => ({
      ...each,
      memory: { ...each.memory, type: at % 7 === 0 ? 'decision' : 'fact' },
    }));
    const query = { terms: [], vector: denseVector(seededRandom(6)) };
    const filter = { types: ['decision'] };
    const request = { profile: similarity, query, filter, now: ARBITRARY_NOW, limit: 10 };
    const { eligible } = await expectSame(indexOf(memories), memories, memories, request);
    expect(eligible).toBe(Math.ceil(memories.length / 7));
    expect(eligible).toBeGreaterThan(BLOCK_SIZE);
  });
});

import { expect, test } from 'vitest';
import { signalsRead } from '../scoring/evaluate.ts';
import { resolveProfile } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import type { Inspection, SearchRequest, Snapshot } from '../store/store.ts';
import { readFeatures } from './features.ts';

test('features are read of some memories at a time, and of those alone that may be returned', async () => {
  const profile = resolveProfile(builtinProfile('hybrid'), {});
  const request = { profile, now: 7, query: {}, filter: {} } as unknown as SearchRequest;
  const ids = Array.from({ length: 450 }, (_, at) => `m${at}`);
  const asked: number[] = [];
  const inspect = async (some: readonly string[]): Promise<(Inspection | undefined)[]> => {
    asked.push(some.length);
    return some.map((id) => {
      const number = Number(id.slice(1));
      if (number % 5 === 0) return undefined;
      return {
        ...{
          id,
          ordinal: number,
          bm25: number / 2,
          score: 0,
          words: undefined,
          failedRequirement: undefined,
        },
        signals: { lexical: number / 450, similarity: number % 2 ? undefined : 0.5, type: `t${number}` },
        excluded: number % 3 === 0 ? 'expired' : undefined,
      } as unknown as Inspection;
    });
  };
  const features = await readFeatures({ inspect } as unknown as Snapshot, request, ids);
  expect(asked).toEqual([200, 200, 50]);
  const numbers = ids.flatMap((_, number) => (number % 5 === 0 || number % 3 === 0 ? [] : [number]));
  expect(features.ids).toEqual(numbers.map((number) => `m${number}`));
  expect([...features.ordinal]).toEqual(numbers);
  expect([...features.bm25]).toEqual(numbers.map((number) => number / 2));
  expect([...features.similarity]).toEqual(numbers.map((number) => (number % 2 ? Number.NaN : 0.5)));
  expect([...(features.signals.lexical ?? [])]).toEqual(numbers.map((number) => number / 450));
  expect([...features.updatedAt].every(Number.isNaN)).toBe(true);
  const columns = [features.signals, features.clocks, features.attributes].flatMap(Object.keys);
  expect(columns.sort()).toEqual([...signalsRead(profile)].sort());
  expect(features.now).toBe(7);
});

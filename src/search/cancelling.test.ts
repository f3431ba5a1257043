import { describe, expect, test } from 'vitest';
import { cancels } from '../scoring/compile.ts';
import type { ProfileDefinition } from '../scoring/profile.ts';
import { resolveProfile } from '../scoring/profile.ts';
import { BUILTIN_PROFILE_NAMES, builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile } from '../scoring/score.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import { expectSame, indexOf } from '../testing/index-oracle.ts';
import { sampleMemory } from '../testing/sample-memory.ts';

const importance = { op: 'signal', name: 'importance' } as const;
const one = { op: 'constant', value: 1 } as const;
const clamped = <Of>(of: Of) => ({ op: 'clamp', of, min: 0, max: 1 }) as const;
/** 0 for arithmetic, and 5e-17 or less for float64, by the order in which it is added up. */
const nothing = {
  op: 'sum',
  terms: [
    { weight: 0.3, of: importance },
    { weight: -0.1, of: importance },
    { weight: -0.2, of: importance },
  ],
} as const;
/** Lost where it is added to 1 before the 1 is taken away. */
const lost = {
  op: 'sum',
  terms: [
    { weight: -1, of: importance },
    { weight: 1, of: importance },
    { weight: 1e-20, of: one },
  ],
} as const;

/** The only hit of a formula, held to brute force. */
async function only(score: ProfileDefinition['score']): Promise<number | undefined> {
  const profile = resolveProfile(defineProfile({ name: 'cancelling', description: 'One.', score }));
  expect(cancels(profile.root)).toBe(true);
  const memories = [
    { memory: sampleMemory({ id: 'a', ordinal: 1, importance: 1 }), terms: new Map(), vector: undefined },
  ];
  const request = { profile, query: { terms: [] }, filter: {}, now: ARBITRARY_NOW, limit: 3 };
  const { hits } = await expectSame(indexOf(memories), memories, memories, request);
  return hits[0]?.score;
}

describe('terms that cancel each other out', () => {
  test('leave a score by rounding alone, which is found', async () => {
    expect(await only(clamped(lost))).toBe(1e-20);
    const rounded = 0.3 * 1 + -0.1 * 1 + -0.2 * 1;
    expect(await only(clamped(nothing))).toBe(rounded > 0 ? rounded : undefined);
  });

  test('are the base of a power, which is next to 0 another than at 0', async () => {
    const exponent = { op: 'clamp', of: 0, min: 0, max: 2 } as const;
    expect(await only({ op: 'power', base: clamped(lost), exponent })).toBe(1);
    const little = { op: 'constant', value: 0.01 } as const;
    expect(await only({ op: 'power', base: clamped(lost), exponent: little })).toBeCloseTo(0.63, 2);
  });

  test.each(BUILTIN_PROFILE_NAMES)('is nothing that %s has to be looked through for', (name) => {
    expect(cancels(resolveProfile(builtinProfile(name)).root)).toBe(false);
  });
});

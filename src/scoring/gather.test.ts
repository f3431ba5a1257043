import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ARBITRARY_NOW, arbitraryProfile, arbitrarySignals } from '../testing/arbitrary-profile.ts';
import { evaluate } from './evaluate.ts';
import { gather } from './gather.ts';
import { resolveProfile } from './profile.ts';
import { builtinProfile } from './profiles/index.ts';
import { defineProfile } from './score.ts';

test('a gathered formula has the value of the formula, but for rounding', () => {
  let gathered = 0;
  fc.assert(
    fc.property(arbitraryProfile(), arbitrarySignals(), (definition, signals) => {
      const { root } = resolveProfile(defineProfile(definition));
      const other = gather(root);
      if (JSON.stringify(other) !== JSON.stringify(root)) gathered++;
      const value = valueOf(() => evaluate(root, signals, ARBITRARY_NOW));
      const found = valueOf(() => evaluate(other, signals, ARBITRARY_NOW));
      if (value === undefined) expect(found).toBeUndefined();
      else expect(found).toBeCloseTo(value, 9);
    }),
    { numRuns: 500 },
  );
  expect(gathered).toBeGreaterThan(5);
});

test('what no query changes of a mean is one term of a sum, and of a product one factor', () => {
  const { root } = resolveProfile(builtinProfile('balanced'));
  expect(gather(root)).toMatchObject({
    op: 'sum',
    weights: [0.4, 1],
    of: [{ op: 'ref' }, { op: 'sum', weights: [0.3, 0.3] }],
  });
  const signal = (name: 'similarity' | 'importance' | 'confidence') => ({ op: 'signal', name }) as const;
  const product = resolveProfile(
    defineProfile({
      name: 'product',
      description: 'Three factors.',
      score: { op: 'product', of: [signal('importance'), signal('similarity'), signal('confidence')] },
    }),
  );
  expect(gather(product.root)).toMatchObject({
    op: 'product',
    of: [{ name: 'similarity' }, { op: 'product', of: [{ name: 'importance' }, { name: 'confidence' }] }],
  });
});

test('a formula of which there is nothing to gather is left as it is', () => {
  const { root } = resolveProfile(builtinProfile('bm25'));
  expect(evaluate(gather(root), { lexical: 0.4 } as never, ARBITRARY_NOW)).toBe(0.4);
  expect(gather(root)).toBe(gather(root));
});

function valueOf(work: () => number): number | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ARBITRARY_NOW, arbitrarySignals } from '../testing/arbitrary-profile.ts';
import { evaluate } from './evaluate.ts';
import { gather } from './gather.ts';
import type { Expression, Node } from './operators/index.ts';
import { resolveProfile } from './profile.ts';
import { builtinProfile } from './profiles/index.ts';
import { defineProfile } from './score.ts';

const leaf = fc
  .constantFrom('similarity', 'lexical', 'importance', 'confidence', 'usefulness')
  .map((name): Expression => ({ op: 'signal', name }));

const { formula } = fc.letrec<{ formula: Expression }>((tie) => {
  const terms = fc.array(fc.record({ weight: fc.double({ min: 0.1, max: 2 }), of: tie('formula') }), {
    minLength: 1,
    maxLength: 4,
  });
  return {
    formula: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.constantFrom<Expression>(0.5, 1),
      terms.map((each): Expression => ({ op: 'mean', terms: each })),
      terms.map((each): Expression => {
        const total = each.reduce((sum, { weight }) => sum + weight, 0);
        return { op: 'clamp', of: { op: 'sum', terms: each, total } };
      }),
      fc
        .array(tie('formula'), { minLength: 1, maxLength: 4 })
        .map((of): Expression => ({ op: 'product', of: of as [Expression] })),
    ),
  };
});

test('a gathered formula has the value of the formula, but for rounding', () => {
  let gathered = 0;
  fc.assert(
    fc.property(formula, arbitrarySignals(), (score, signals) => {
      const { formulas } = resolvedOrNone(score);
      for (const root of formulas) {
        const other = gather(root);
        if (JSON.stringify(other) !== JSON.stringify(root)) gathered++;
        expect(evaluate(other, signals, ARBITRARY_NOW)).toBeCloseTo(
          evaluate(root, signals, ARBITRARY_NOW),
          9,
        );
      }
    }),
    { numRuns: 1000, seed: 1 },
  );
  expect(gathered).toBeGreaterThan(20);
});

/** None of a sum whose weights are refused. */
function resolvedOrNone(score: Expression): { readonly formulas: readonly Node[] } {
  try {
    return {
      formulas: [resolveProfile(defineProfile({ name: 'drawn', description: 'Drawn.', score })).root],
    };
  } catch {
    return { formulas: [] };
  }
}

test('what no query changes becomes one term of a mean, and one factor of a product', () => {
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

test('a formula with nothing to gather stays as it is', () => {
  const { root } = resolveProfile(builtinProfile('bm25'));
  expect(evaluate(gather(root), { lexical: 0.4 } as never, ARBITRARY_NOW)).toBe(0.4);
  expect(gather(root)).toBe(gather(root));
});

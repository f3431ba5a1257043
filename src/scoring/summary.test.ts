import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARBITRARY_NOW, arbitraryProfile, arbitrarySignals } from '../testing/arbitrary-profile.ts';
import { BUILTIN_PROFILE_NAMES } from './profiles/index.ts';
import { defineProfile, explain } from './score.ts';
import { summariseExplanation } from './summary.ts';

const now = '2026-04-20T00:00:00Z';

describe('summariseExplanation', () => {
  it('shows the weights of a sum, its parts and their values', () => {
    const tree = explain('lexical', { lexical: 0.9, revisionCount: 5, updatedAt: now }, { now });
    expect(summariseExplanation(tree)).toBe('0.6·lexical 0.90 + 0.25·recency 1.00 + 0.15·revision 0.50');
  });

  it('shows the factors of a product, opens them once, and takes together what has no room', () => {
    const tree = explain('hybrid', { lexical: 0.5, similarity: 0.5, updatedAt: now }, { now });
    expect(summariseExplanation(tree)).toBe(
      'match 0.50 (0.583·words 0.50 + 0.417·calibrated 0.50) × (0.96 + 0.015·confidence 0.80 + …)',
    );
  });

  it('leaves out factors of 1 and terms of 0', () => {
    const scoped = explain('scoped', { similarity: 0.5, scope: 'project:a', updatedAt: now }, { now });
    expect(summariseExplanation(scoped)).toBe('similarity 0.50');
    const retention = explain('retention', { similarity: 0.5, createdAt: now }, { now });
    expect(summariseExplanation(retention)).toBe('relevance 0.50');
    const lexical = explain('lexical', { lexical: 0.9, updatedAt: '2020-01-01' }, { now });
    expect(summariseExplanation(lexical)).toBe('0.6·lexical 0.90 + 0.15·revision 0.10');
  });

  it('does not round a factor to 1 that is not 1', () => {
    const tree = explain('scoped', { similarity: 0.5, weight: 0.999, updatedAt: now }, { now });
    expect(summariseExplanation(tree)).toBe('similarity 0.50 × scopeWeight 0.80 × weight 0.9990');
  });

  it('says 1 or 0 where nothing is left', () => {
    const profile = (score: object) =>
      defineProfile({ name: 'empty', description: 'd', score: score as never });
    const ones = profile({ op: 'product', of: [1, { op: 'signal', name: 'weight' }] });
    expect(summariseExplanation(explain(ones, {}))).toBe('1.00');
    const zeros = profile({ op: 'sum', terms: [{ of: { op: 'signal', name: 'lexical' } }] });
    expect(summariseExplanation(explain(zeros, {}))).toBe('0.00');
  });

  it('shows factors that are as good as 1 each, and not together', () => {
    const near = { op: 'product', of: [0.99996, 0.99996, { op: 'signal', name: 'weight' }] } as const;
    const both = defineProfile({
      name: 'near',
      description: 'Two factors.',
      score: { op: 'product', of: [{ op: 'signal', name: 'lexical' }, near] },
    });
    expect(summariseExplanation(explain(both, { lexical: 0.5 }))).toBe('lexical 0.50 × 0.9999');
  });

  it('lets a single signal stand alone', () => {
    expect(summariseExplanation(explain('bm25', { lexical: 0.25 }))).toBe('lexical 0.25');
  });

  it('counts no terms together that come to nothing', () => {
    const signals = { similarity: 0.000125, accessCount: 1, createdAt: now, updatedAt: now };
    expect(summariseExplanation(explain('five-factor', signals, { now }))).toBe(
      '0.25·recency 1.00 + 0.2·usefulness 0.50 + 0.1·confidence 0.80 + 0.05·frequency 0.02 + …',
    );
  });

  it('shows a term without a name that is nearly 0 with more decimals', () => {
    const days = (count: number) => new Date(now).getTime() - count * 86_400_000;
    const decay = (name: 'createdAt' | 'updatedAt') =>
      ({
        op: 'decay',
        curve: 'exponential',
        age: { op: 'age', of: { latest: [name] } },
        missing: 0,
        rate: 1,
      }) as const;
    const score = {
      op: 'clamp',
      min: 0,
      max: 1,
      of: {
        op: 'sum',
        terms: [
          { weight: 1, of: decay('createdAt') },
          { weight: 1, of: decay('updatedAt') },
        ],
      },
    } as const;
    const profile = defineProfile({ name: 'decays', description: 'Two ages.', score });
    const line = summariseExplanation(explain(profile, { createdAt: days(1), updatedAt: days(7) }, { now }));
    expect(line).toBe('0.37 + 0.0009');
  });

  const expectShort = (line: string) => {
    expect(line.length).toBeLessThanOrEqual(94);
    expect(line).not.toBe('');
    expect(line).not.toMatch(/× 1\.00(?![\d.])|(?:^| )[−+] 0\.00(?![\d.])|(?<![\d.])\.\d|NaN|undefined/);
  };

  it.each(BUILTIN_PROFILE_NAMES)('fits into a line for %s', (name) => {
    fc.assert(
      fc.property(arbitrarySignals(), (signals) => {
        const known = { createdAt: ARBITRARY_NOW, updatedAt: ARBITRARY_NOW, ...signals };
        expectShort(summariseExplanation(explain(name, known, { now: ARBITRARY_NOW })));
      }),
      { numRuns: 100 },
    );
  });

  it('fits into a line for any formula', () => {
    fc.assert(
      fc.property(arbitraryProfile({ depth: 4 }), arbitrarySignals(), (definition, signals) => {
        const tree = explain(defineProfile(definition), signals, { now: ARBITRARY_NOW });
        expectShort(summariseExplanation(tree));
      }),
      { numRuns: 500 },
    );
  });
});

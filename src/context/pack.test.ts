import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PackCandidate } from './candidate.ts';
import { explainOmission } from './omission.ts';
import { type PackOptions, pack } from './pack.ts';

function memory(id: string, score: number, tokens: number, more: Partial<PackCandidate> = {}): PackCandidate {
  return { id, score, tokens, content: `about ${id}`, type: 'fact', at: 0, source: 'stated', ...more };
}

const ids = (memories: readonly { readonly id: string }[]) => memories.map(({ id }) => id);

const candidates: fc.Arbitrary<readonly PackCandidate[]> = fc
  .array(
    fc.record({
      score: fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 0.25, 0.5)),
      tokens: fc.integer({ min: 0, max: 40 }),
      mustInclude: fc.oneof(
        { weight: 5, arbitrary: fc.constant(false) },
        { weight: 1, arbitrary: fc.constant(true) },
      ),
      section: fc.constantFrom(undefined, 'a', 'b', 'c'),
    }),
    { maxLength: 9 },
  )
  .map((all) => all.map((each, at) => memory(`m${at}`, each.score, each.tokens, each)));

const options: fc.Arbitrary<PackOptions> = fc.record({
  maxTokens: fc.nat(160),
  minScore: fc.constantFrom(0, 0.2),
  maxItems: fc.constantFrom(undefined, 0, 2, 5),
  duplicates: fc.constant('keep' as const),
  shares: fc.constantFrom(undefined, { a: 1 }, { a: 2, b: 1, c: 1 }, { b: 0.3, c: 0.1 }),
});

function bestOf(all: readonly PackCandidate[], tokens: number, places: number): number {
  const [first, ...rest] = all;
  if (first === undefined) return 0;
  const without = bestOf(rest, tokens, places);
  if (first.tokens > tokens || places < 1) return without;
  return Math.max(without, first.score + bestOf(rest, tokens - first.tokens, places - 1));
}

describe('pack', () => {
  test('optimal without shares is the best of all choices', () => {
    fc.assert(
      fc.property(candidates, options, (all, { shares: _, ...given }) => {
        const { included, totalScore, tokens, lossBound } = pack(all, given);
        const must = included.filter(({ mustInclude }) => mustInclude);
        const open = all.filter(
          ({ mustInclude, score }) => !mustInclude && score > 0 && score >= (given.minScore ?? 0),
        );
        const best = bestOf(
          open,
          given.maxTokens - must.reduce((sum, each) => sum + each.tokens, 0),
          Math.max(0, (given.maxItems ?? 99) - must.length),
        );
        expect(tokens).toBeLessThanOrEqual(given.maxTokens);
        expect(totalScore).toBeCloseTo(best + must.reduce((sum, { score }) => sum + score, 0), 8);
        expect(lossBound).toBe(0);
      }),
      { numRuns: 1000 },
    );
  });

  test('optimal is never worse than greedy', () => {
    fc.assert(
      fc.property(candidates, options, (all, given) => {
        const optimal = pack(all, { ...given, strategy: 'optimal' });
        const greedy = pack(all, { ...given, strategy: 'greedy' });
        expect(optimal.totalScore).toBeGreaterThanOrEqual(greedy.totalScore - 1e-9);
        expect(greedy.tokens).toBeLessThanOrEqual(given.maxTokens);
      }),
      { numRuns: 1000 },
    );
  });

  test('every memory is included or has its reason, whatever their order', () => {
    fc.assert(
      fc.property(candidates, options, fc.constantFrom('optimal', 'greedy'), (all, given, strategy) => {
        const packed = pack(all, { ...given, strategy });
        expect([...ids(packed.included), ...ids(packed.omitted)].sort()).toEqual(ids(all).sort());
        for (const each of packed.omitted) expect(explainOmission(each)).toMatch(/^[A-Z].+\.$/);
        expect(pack([...all].reverse(), { ...given, strategy })).toEqual(packed);
      }),
      { numRuns: 500 },
    );
  });

  test('if everything fits, everything is taken', () => {
    fc.assert(
      fc.property(candidates, options, (all, { maxItems: _, ...given }) => {
        const needed = all.reduce((sum, { tokens }) => sum + tokens, 0);
        const packed = pack(all, { ...given, maxTokens: needed });
        expect(packed.omitted.filter(({ reason }) => reason !== 'below-minimum-score')).toEqual([]);
      }),
    );
  });

  test('a section gets at least the best choice within its share of the room', () => {
    fc.assert(
      fc.property(candidates, options, (all, given) => {
        const { included } = pack(all, given);
        const shares: Readonly<Record<string, number>> = given.shares ?? {};
        const must = included.filter(({ mustInclude }) => mustInclude);
        const open = all.filter(
          ({ mustInclude, score }) => !mustInclude && score > 0 && score >= (given.minScore ?? 0),
        );
        const room = given.maxTokens - must.reduce((sum, { tokens }) => sum + tokens, 0);
        const places = Math.max(0, (given.maxItems ?? 99) - must.length);
        const there = Object.keys(shares).filter((name) => open.some(({ section }) => section === name));
        const sum = there.reduce((total, name) => total + shares[name]!, 0);
        for (const name of there) {
          const part = shares[name]! / sum;
          const mine = included.filter(({ section, mustInclude }) => section === name && !mustInclude);
          const least = bestOf(
            open.filter(({ section }) => section === name),
            Math.floor(part * room),
            Math.floor(part * places),
          );
          expect(mine.reduce((total, { score }) => total + score, 0)).toBeGreaterThanOrEqual(least - 1e-8);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('greedy goes by score, skips what does not fit and stops after three in a row', () => {
    const packed = pack(
      [
        memory('a', 0.9, 50),
        memory('b', 0.8, 60),
        memory('c', 0.7, 70),
        memory('d', 0.6, 10),
        memory('e', 0.5, 90),
        memory('f', 0.4, 90),
        memory('g', 0.3, 90),
        memory('h', 0.2, 1),
      ],
      { maxTokens: 100, strategy: 'greedy' },
    );
    expect(ids(packed.included)).toEqual(['a', 'd']);
    expect(packed.omitted.map(({ id, reason }) => `${id} ${reason}`)).toEqual([
      'b does-not-fit',
      'c does-not-fit',
      'e does-not-fit',
      'f does-not-fit',
      'g does-not-fit',
      'h stopped',
    ]);
    expect(packed.lossBound).toBeUndefined();
  });

  test('optimal gives two good ones for a better one', () => {
    const packed = pack([memory('a', 0.6, 100), memory('b', 0.5, 50), memory('c', 0.4, 50)], {
      maxTokens: 100,
    });
    expect(ids(packed.included)).toEqual(['b', 'c']);
    expect(packed).toMatchObject({ tokens: 100, totalScore: 0.9, totalValue: 0.9 });
    expect(packed.omitted).toEqual([{ id: 'a', reason: 'worse-value', score: 0.6, tokens: 100 }]);
    expect(packed.omitted.map(explainOmission)).toEqual([
      'Its score 0.6 for 100 tokens is worth less than what took its place.',
    ]);
  });

  test('says each reason', () => {
    const packed = pack(
      [
        memory('must', 0.01, 30, { mustInclude: true }),
        memory('large must', 0.01, 1000, { mustInclude: true }),
        memory('good', 0.9, 30),
        memory('same', 0.8, 30, { content: 'about good' }),
        memory('large', 0.7, 900),
        memory('third', 0.6, 30),
        memory('weak', 0.012345, 30),
      ],
      { maxTokens: 100, minScore: 0.1, maxItems: 2 },
    );
    expect(ids(packed.included)).toEqual(['must', 'good']);
    expect(packed.omitted).toEqual([
      { id: 'large must', reason: 'does-not-fit', tokens: 1000, tokensLeft: 100 },
      { id: 'same', reason: 'duplicate', of: 'good' },
      { id: 'large', reason: 'does-not-fit', tokens: 900, tokensLeft: 70 },
      { id: 'third', reason: 'too-many', maxItems: 2 },
      { id: 'weak', reason: 'below-minimum-score', score: 0.012345, minScore: 0.1 },
    ]);
    expect(packed.omitted.map(explainOmission).at(-1)).toBe('Its score 0.0123 is below the minimum of 0.1.');
  });

  test.each(['optimal', 'greedy'] as const)('what is not a hit never enters: %s', (strategy) => {
    const { included, omitted } = pack([memory('no hit', 0, 1)], { maxTokens: 10, strategy });
    expect(included).toEqual([]);
    expect(omitted).toEqual([{ id: 'no hit', reason: 'below-minimum-score', score: 0, minScore: 0 }]);
    expect(omitted.map(explainOmission)).toEqual(['Its score is 0: it is not a hit.']);
  });

  test.each(['optimal', 'greedy'] as const)(
    'more must-includes than the most memories leave no place for others: %s',
    (strategy) => {
      const must = ['a', 'b'].map((id) => memory(id, 0.1, 10, { mustInclude: true }));
      const packed = pack([...must, memory('c', 0.9, 10)], { maxTokens: 100, maxItems: 1, strategy });
      expect(ids(packed.included)).toEqual(['a', 'b']);
      expect(packed.omitted).toEqual([{ id: 'c', reason: 'too-many', maxItems: 1 }]);
    },
  );

  test('greedy takes no repetition of a must-include or of what has its share', () => {
    const packed = pack(
      [
        memory('must', 0.1, 10, { mustInclude: true }),
        memory('as must', 0.9, 10, { content: 'about must' }),
        memory('shared', 0.5, 10, { section: 'facts', at: 1 }),
        memory('as shared', 0.8, 10, { content: 'about shared' }),
        memory('large', 0.4, 90),
      ],
      { maxTokens: 100, strategy: 'greedy', shares: { facts: 1 } },
    );
    expect(ids(packed.included)).toEqual(['must', 'shared']);
    expect(packed.omitted.map(({ id, reason }) => `${id} ${reason}`)).toEqual([
      'as must duplicate',
      'as shared duplicate',
      'large does-not-fit',
    ]);
  });

  test.each([
    ['a must-include', { mustInclude: true }],
    ['what has its share', { section: 'facts' }],
  ])('a repetition of %s takes no room from others', (_, fields) => {
    const packed = pack(
      [
        memory('said', 0.9, 10, fields),
        memory('again', 0.8, 10, { content: 'about said' }),
        memory('other', 0.5, 85),
      ],
      { maxTokens: 100, shares: { facts: 1 } },
    );
    expect(ids(packed.included)).toEqual(['said', 'other']);
    expect(packed.omitted).toEqual([{ id: 'again', reason: 'duplicate', of: 'said' }]);
  });

  test('what lacks both a place and room is not said to lack a place only', () => {
    const packed = pack([memory('a', 0.9, 10), memory('b', 0.8, 10)], { maxTokens: 15, maxItems: 1 });
    expect(packed.omitted).toEqual([{ id: 'b', reason: 'worse-value', score: 0.8, tokens: 10 }]);
  });

  test('what could have been in its share of the room is worth less, and does not lack room', () => {
    const packed = pack(
      [
        memory('best', 0.9, 40, { section: 'facts' }),
        memory('other', 0.8, 50, { section: 'rules' }),
        memory('less', 0.2, 30, { section: 'facts' }),
        memory('larger', 0.1, 60, { section: 'facts' }),
      ],
      { maxTokens: 100, shares: { facts: 1, rules: 1 } },
    );
    expect(ids(packed.included)).toEqual(['best', 'other']);
    expect(packed.omitted).toEqual([
      { id: 'less', reason: 'worse-value', score: 0.2, tokens: 30 },
      { id: 'larger', reason: 'does-not-fit', tokens: 60, tokensLeft: 50 },
    ]);
  });

  test('shares keep a small section from being crowded out', () => {
    const facts = Array.from({ length: 20 }, (_, at) => memory(`fact ${at}`, 0.9, 10, { section: 'facts' }));
    const rule = memory('rule', 0.2, 10, { section: 'rules' });
    const given = { maxTokens: 100, duplicates: 'keep' } as const;
    expect(ids(pack([...facts, rule], given).included)).not.toContain('rule');
    const { included, totalScore } = pack([...facts, rule], { ...given, shares: { facts: 0.6, rules: 0.4 } });
    expect(ids(included)).toContain('rule');
    expect(totalScore).toBeCloseTo(9 * 0.9 + 0.2, 8);
  });

  test.each([
    [[memory('a', Number.NaN, 1)], {}, /candidates\[0\]\.score/],
    [[memory('a', -1, 1)], {}, /candidates\[0\]\.score/],
    [[memory('a', 1, 1, { worth: Number.NaN })], {}, /candidates\[0\]\.worth/],
    [[memory('a', 1, 1.5)], {}, /candidates\[0\]\.tokens/],
    [[memory('a', 1, 1), memory('a', 1, 1)], {}, /"a" is there twice/],
    [[], { maxTokens: -1 }, /maxTokens/],
    [[], { minScore: Number.NaN }, /minScore/],
    [[], { maxItems: 0.5 }, /maxItems/],
    [[], { shares: { facts: 0 } }, /shares\.facts/],
    [[], { strategy: 'best' as 'optimal' }, /strategy.*optimal, greedy/],
  ])('refuses what is out of range: %j %j', (all, given, message) => {
    expect(() => pack(all, { maxTokens: 10, ...given })).toThrow(message);
  });
});

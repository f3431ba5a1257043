import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agreementOf } from './agreement.ts';

/** Tau-b as (C − D) ⁄ √((P − ties in a)(P − ties in b)), pair by pair, by the four cases of Fagin, Kumar and Sivakumar. */
function naiveTau(a: readonly string[], b: readonly string[]): number | undefined {
  const all = [...new Set([...a, ...b])];
  const order = (list: readonly string[], i: string, j: string): 'i' | 'j' | 'tie' => {
    if (list.includes(i) && list.includes(j)) return list.indexOf(i) < list.indexOf(j) ? 'i' : 'j';
    if (list.includes(i)) return 'i';
    return list.includes(j) ? 'j' : 'tie';
  };
  const pairs = all.flatMap((i, at) => all.slice(at + 1).map((j) => [order(a, i, j), order(b, i, j)]));
  const count = (keep: (a: string | undefined, b: string | undefined) => boolean) =>
    pairs.filter(([inA, inB]) => keep(inA, inB)).length;
  const concordant = count((inA, inB) => inA !== 'tie' && inA === inB);
  const discordant = count((inA, inB) => inA !== 'tie' && inB !== 'tie' && inA !== inB);
  const [tiesA, tiesB] = [count((inA) => inA === 'tie'), count((_, inB) => inB === 'tie')];
  if (pairs.length === tiesA || pairs.length === tiesB) return undefined;
  return (concordant - discordant) / Math.sqrt((pairs.length - tiesA) * (pairs.length - tiesB));
}

const ids = fc.uniqueArray(fc.constantFrom(...'abcdefghij'), { maxLength: 8 });

describe('agreementOf', () => {
  it('is what the definition says, pair by pair, and the same both ways', () => {
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        const { shared, overlap, tau } = agreementOf(a, b);
        const expected = naiveTau(a, b);
        if (expected === undefined) expect(tau).toBeUndefined();
        else expect(tau).toBeCloseTo(expected, 12);
        expect(shared).toBe(a.filter((id) => b.includes(id)).length);
        if (a.length + b.length === 0) expect(overlap).toBeUndefined();
        else expect(overlap).toBe(shared / Math.max(a.length, b.length));
        expect(agreementOf(b, a)).toEqual({ shared, overlap, tau });
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['the same order', 'abc', 'abc', { shared: 3, overlap: 1, tau: 1 }],
    ['the opposite order', 'abc', 'cba', { shared: 3, overlap: 1, tau: -1 }],
    // Of six pairs one is turned round.
    ['neighbours that change places', 'abcd', 'bacd', { shared: 4, overlap: 1, tau: 4 / 6 }],
    ['a ranking and the two that it begins with', 'abc', 'ab', { shared: 2, overlap: 2 / 3, tau: 1 }],
    // Ten pairs: a–b is in agreement, a and b before c in one and before d in the other; c–d is turned round.
    ['a shared beginning', 'abc', 'abd', { shared: 2, overlap: 2 / 3, tau: 4 / 6 }],
    ['one memory each', 'a', 'b', { shared: 0, overlap: 0, tau: -1 }],
    ['nothing in common', 'abc', 'def', { shared: 0, overlap: 0, tau: -6 / 8 }],
    ['one memory, the same', 'a', 'a', { shared: 1, overlap: 1 }],
    ['nothing and something', '', 'ab', { shared: 0, overlap: 0 }],
    ['nothing and nothing', '', '', { shared: 0 }],
  ])('%s', (_, a, b, expected) => {
    expect(agreementOf([...a], [...b])).toEqual({ overlap: undefined, tau: undefined, ...expected });
  });

  it('of two rankings without a common memory is -2n / (3n - 1)', () => {
    for (const n of [1, 2, 10, 100]) {
      const list = (prefix: string) => Array.from({ length: n }, (_, at) => `${prefix}${at}`);
      expect(agreementOf(list('a'), list('b')).tau).toBeCloseTo((-2 * n) / (3 * n - 1), 12);
    }
  });
});

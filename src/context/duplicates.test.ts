import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextCandidate } from './candidate.ts';
import { removeNearDuplicates } from './duplicates.ts';

function memory(id: string, content: string, more: Partial<ContextCandidate> = {}): ContextCandidate {
  return { id, content, type: 'fact', at: 0, source: 'stated', score: 0.5, ...more };
}

/** A unit vector in a direction of 64 dimensions, turned by an angle towards the next. */
function direction(at: number, angle = 0): Float32Array {
  const vector = new Float32Array(64);
  vector[at] = Math.cos(angle);
  vector[at + 1] = Math.sin(angle);
  return vector;
}

function duplicatesOf(...ranked: readonly ContextCandidate[]) {
  return removeNearDuplicates(ranked).duplicates;
}

describe('removeNearDuplicates', () => {
  test('compares vectors, and names the better one', () => {
    const found = duplicatesOf(
      memory('a', 'She likes dark roast', { vector: direction(40) }),
      memory('b', 'Her favourite is a dark roast', { vector: direction(40, 0.2) }),
      memory('c', 'She likes a light roast', { vector: direction(40, 0.3) }),
    );
    expect(found).toEqual([{ id: 'b', of: 'a', by: 'cosine', similarity: expect.closeTo(Math.cos(0.2), 5) }]);
  });

  test('compares words where one has no vector', () => {
    const found = duplicatesOf(
      memory('a', 'Alice moved to Paris in spring', { vector: direction(1) }),
      memory('b', 'In spring, Alice moved to PARIS!'),
      memory('c', 'Alice moved to London in spring'),
    );
    expect(found).toEqual([{ id: 'b', of: 'a', by: 'words', similarity: 1 }]);
  });

  test('sees words in scripts that do not part them', () => {
    expect(duplicatesOf(memory('a', '我喜欢喝黑咖啡'), memory('b', '我喜欢喝黑咖啡。'))).toHaveLength(1);
    expect(duplicatesOf(memory('a', '我喜欢喝黑咖啡'), memory('b', '他住在北京'))).toEqual([]);
  });

  test.each([
    ['a number', 'The budget is 500 euros', 'The budget is 700 euros'],
    [
      'a denial',
      'Bob likes tea from the corner shop in Leeds',
      'Bob no likes tea from the corner shop in Leeds',
    ],
    ['a contraction', 'You must sign it', "You mustn't sign it"],
  ])('keeps apart what differs in %s, though the vectors are the same', (_, a, b) => {
    const vector = direction(3);
    expect(duplicatesOf(memory('a', a, { vector }), memory('b', b, { vector }))).toEqual([]);
  });

  test('keeps must-includes, and lets others be their duplicates', () => {
    const found = duplicatesOf(
      memory('a', 'Never deploy on Friday', { mustInclude: true }),
      memory('b', 'Never deploy on Friday', { mustInclude: true }),
      memory('c', 'Never deploy on Friday'),
    );
    expect(found.map(({ id, of }) => [id, of])).toEqual([['c', 'a']]);
  });

  test('gives up early only where the threshold is out of reach', () => {
    const component = fc.double({ min: -1, max: 1, noNaN: true });
    const unit = fc
      .array(component, { minLength: 70, maxLength: 70 })
      .filter((all) => all.some((each) => Math.abs(each) > 0.01))
      .map((all) => Float32Array.from(all, (each) => each / Math.hypot(...all)));
    fc.assert(
      fc.property(unit, unit, fc.double({ min: 0.01, max: 1, noNaN: true }), (a, noise, cosine) => {
        const mixed = a.map((each, at) => each + 0.3 * noise[at]!);
        const b = mixed.map((each) => each / Math.hypot(...mixed));
        const exact = a.reduce((sum, each, at) => sum + each * b[at]!, 0);
        fc.pre(Math.abs(exact - cosine) > 1e-5);
        const { duplicates } = removeNearDuplicates(
          [memory('a', 'one', { vector: a }), memory('b', 'two', { vector: b })],
          { cosine },
        );
        expect(duplicates.length).toBe(exact >= cosine ? 1 : 0);
      }),
    );
  });

  test('counts shared words as the Jaccard coefficient does', () => {
    const words = fc.uniqueArray(fc.constantFrom(...'abcdefghijklmnop'), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(words, words, fc.double({ min: 0.05, max: 1, noNaN: true }), (a, b, threshold) => {
        const shared = a.filter((each) => b.includes(each)).length;
        const jaccard = shared / (a.length + b.length - shared);
        fc.pre(Math.abs(jaccard - threshold) > 1e-6);
        const { duplicates } = removeNearDuplicates([memory('a', a.join(' ')), memory('b', b.join(' '))], {
          words: threshold,
        });
        expect(duplicates.map(({ similarity }) => similarity)).toEqual(jaccard >= threshold ? [jaccard] : []);
      }),
    );
  });
});

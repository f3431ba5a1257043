import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from './sha256.ts';

describe('sha256', () => {
  it('gives the digest that Node gives, for any text', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 });
    fc.assert(
      fc.property(text, (each) => {
        expect(sha256(each)).toBe(createHash('sha256').update(each).digest('hex'));
      }),
    );
  });

  it('pads texts of every length around a block', () => {
    for (let length = 0; length < 130; length++) {
      const text = 'a'.repeat(length);
      expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalisedContent } from './statement.ts';

const slowly = (content: string) => content.normalize('NFC').replace(/\s+/gu, ' ').trim();

describe('normalisedContent', () => {
  it('composes characters and makes white space single', () => {
    expect(normalisedContent('  caf\u0065\u0301 \n\t au  lait ')).toBe('caf\u00e9 au lait');
  });

  it('is the same for what is told at first sight', () => {
    const unit = fc.constantFrom('a', 'Z', '~', '!', ' ', ' ', '\t', '\u00a0', '\u00e9', 'e\u0301', '\u007f');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (content) => {
        expect(normalisedContent(content)).toBe(slowly(content));
      }),
      { numRuns: 2000 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsOf, cutToWidth, displayWidth, padToWidth, plainBlock, plainLine } from './terminal-text.ts';

const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

describe('plainLine', () => {
  it('returns one line, with unsafe characters escaped', () => {
    expect(plainLine(' a\n\tb\r\n c ')).toBe('a b c');
    expect(plainLine('\u001b[31mred\u0007')).toBe('\\u{1b}[31mred\\u{7}');
    expect(plainLine('abc\u202edef\u2066')).toBe('abc\\u{202e}def\\u{2066}');
    expect(plainLine('half \ud800 a pair')).toBe('half \\u{d800} a pair');
    expect(plainLine('第二 ✓ 👩‍🚀')).toBe('第二 ✓ 👩‍🚀');
  });

  it('never returns an unsafe character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(plainLine(text)).not.toMatch(unsafe);
        expect(plainBlock(text).replace(/[\n\t]/g, '')).not.toMatch(unsafe);
      }),
    );
  });
});

describe('columnsOf', () => {
  it.each([
    [{ isTTY: true, columns: 120 }, 120],
    [{ isTTY: true, columns: 1 }, 1],
    // As in `docker exec -t`, expect and many build servers.
    [{ isTTY: true, columns: 0 }, 80],
    [{ isTTY: true }, 80],
    [{ isTTY: false }, Number.POSITIVE_INFINITY],
    [{}, Number.POSITIVE_INFINITY],
  ])('of %o is %d', (stream, columns) => {
    expect(columnsOf(stream)).toBe(columns);
  });
});

describe('plainBlock', () => {
  it('keeps only line breaks and tabs', () => {
    expect(plainBlock('a\r\n\tb\rc\u001b')).toBe('a\n\tb\\u{d}c\\u{1b}');
  });
});

describe('widths', () => {
  it('counts columns like a terminal', () => {
    expect(displayWidth('plain')).toBe(5);
    expect(displayWidth('日本')).toBe(4);
    expect(displayWidth('한')).toBe(2);
    expect(displayWidth('e\u0301')).toBe(1);
    expect(displayWidth('👩‍🚀')).toBe(2);
    // As `wcwidth` of the C library: a vowel beside a letter takes a column, one above or below it takes none.
    expect(['ทำงาน', 'น้ำ', 'हिन्दी', 'தமிழ்', 'ｶﾞ', 'שָׁלוֹם'].map(displayWidth)).toEqual([5, 2, 5, 4, 2, 4]);
    expect(displayWidth('█▉…·')).toBe(4);
  });

  it('is the same with and without the segmenter', () => {
    const different: number[] = [];
    for (let unit = 0x20; unit < 0xd800; unit++) {
      const character = String.fromCharCode(unit);
      // The wide character rules the short cut out; the line break keeps the two apart.
      if (displayWidth(character) !== displayWidth(`한\n${character}`) - 3) different.push(unit);
    }
    expect(different).toEqual([]);
  });

  it('is never exceeded by a cut text, which is a beginning of the whole', () => {
    expect(cutToWidth('a long line', 6)).toBe('a lon…');
    expect(cutToWidth('日本語', 4)).toBe('日…');
    expect(cutToWidth('fits', 4)).toBe('fits');
    expect(cutToWidth('abc', Number.POSITIVE_INFINITY)).toBe('abc');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 30 }), (text, columns) => {
        const cut = cutToWidth(text, columns);
        expect(displayWidth(cut)).toBeLessThanOrEqual(columns);
        expect(text.startsWith(cut.replace(/…$/, ''))).toBe(true);
      }),
    );
  });

  it('are padded on either side', () => {
    expect(padToWidth('日', 4)).toBe('日  ');
    expect(padToWidth('7', 3, 'right')).toBe('  7');
    expect(padToWidth('long', 2)).toBe('long');
  });
});

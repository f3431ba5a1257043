import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseParagraphs, splitLong } from './plain-text.ts';

test('paragraphs are runs of lines that are not blank', () => {
  expect(parseParagraphs('\uFEFF\r\n one\r\ntwo  \r\n \t\r\n\r\nthree')).toEqual([
    { content: ' one\ntwo', line: 2 },
    { content: 'three', line: 6 },
  ]);
  expect(parseParagraphs(' \n\n')).toEqual([]);
});

test('a long text is cut at the gentlest border that fits', () => {
  expect(splitLong('one\n\ntwo\n\nthree', 100)).toEqual(['one\n\ntwo\n\nthree']);
  expect(splitLong('one\n\ntwo\n\nthree', 10)).toEqual(['one\n\ntwo', 'three']);
  expect(splitLong('a line\nb line\nc line', 14)).toEqual(['a line\nb line', 'c line']);
  expect(splitLong('He came. She went. They met.', 20)).toEqual(['He came. She went.', 'They met.']);
  expect(splitLong('one two three four', 9)).toEqual(['one two', 'three', 'four']);
  expect(splitLong('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
  expect(splitLong('😀😀😀', 7)).toEqual(['😀', '😀', '😀']);
  expect(splitLong('今日は雨です。明日は晴れです。', 24)).toEqual(['今日は雨です。', '明日は晴れです。']);
});

test('an indented block keeps its indentation', () => {
  expect(splitLong('text text\n\n    code', 12)).toEqual(['text text', '    code']);
});

test('pieces fit, and only white space is lost', () => {
  const text = fc
    .array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\n\n', '\n', ' ', '. ', '。')), {
      maxLength: 60,
    })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 80 }), (source, limit) => {
      const pieces = splitLong(source, limit);
      const dense = (value: string) => value.replace(/\s/g, '');
      expect(dense(pieces.join(''))).toBe(dense(source));
      for (const piece of pieces) expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(limit);
      expect(pieces.every((piece) => piece.isWellFormed())).toBe(source.isWellFormed());
    }),
  );
});

test('a megabyte without a border takes linear time', () => {
  const pieces = splitLong('x'.repeat(1_000_000), 1000);
  expect(pieces).toHaveLength(1000);
  expect(splitLong('word and so on, '.repeat(62_500), 32_768)).toHaveLength(31);
});

test('a limit that cannot hold every character is refused', () => {
  for (const limit of [3, 0, Number.NaN]) {
    expect(() => splitLong('text', limit)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  }
});

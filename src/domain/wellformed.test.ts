import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findTextProblem } from './wellformed.ts';

test('ordinary text has no problem', () => {
  expect(findTextProblem('')).toBeUndefined();
  expect(findTextProblem('Line one\r\n\tline two, naïve 東京 😀 \u00a0\u2028')).toBeUndefined();
});

test('half of a surrogate pair is refused, wherever it stands', () => {
  for (const text of ['\ud83d', 'a\ude00', '\ude00\ud83d', 'ok \ud83d ok']) {
    expect(findTextProblem(text)).toBe('invalid-utf16');
  }
});

test('exactly the control characters other than tab, line feed and carriage return are refused', () => {
  const refused: number[] = [];
  for (let code = 0; code <= 0x2ff; code++) {
    if (findTextProblem(`a${String.fromCharCode(code)}b`) === 'control-character') refused.push(code);
  }
  const range = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index);
  expect(refused).toEqual([...range(0, 8), 0x0b, 0x0c, ...range(0x0e, 0x1f), ...range(0x7f, 0x9f)]);
});

test('the surrogate is reported first', () => {
  expect(findTextProblem('\u0000\ud83d')).toBe('invalid-utf16');
});

test('what has no problem survives UTF-8', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }), (codes) => {
      const text = String.fromCharCode(...codes);
      const survives =
        new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text)) === text;
      expect(findTextProblem(text) === 'invalid-utf16').toBe(!survives);
    }),
  );
});

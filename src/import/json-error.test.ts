import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findUnexpectedToken } from './json-error.ts';

test.each([
  ['', 0],
  ['{"a":', 5],
  ['{"a": x}', 6],
  ['{"a":1,}', 7],
  ['[1,,2]', 3],
  ['[,1]', 1],
  ['[1 2]', 3],
  ['[1] x', 4],
  ['{"a" 1}', 5],
  ['{1:2}', 1],
  ['{"a":1 "b":2}', 7],
  ['{"a":[true, nul]}', 12],
  ['["a\\"b", "c', 11],
  ['[1}', 2],
  ['[1]]', 3],
  ['[12abc]', 1],
])('%j goes wrong at %i', (text, place) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  expect(findUnexpectedToken(text)).toBe(place);
});

test('a document that was cut off goes wrong at its end, or at the word that was cut', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.nat(), (json, cut) => {
      const text = `[${json}]`;
      const part = text.slice(0, cut % text.length);
      const place = findUnexpectedToken(part);
      expect(/^(?:|[a-z]+|-|-?\d[\d.eE+-]*)$/.test(part.slice(place))).toBe(true);
      expect(findUnexpectedToken(text)).toBe(text.length);
    }),
  );
});

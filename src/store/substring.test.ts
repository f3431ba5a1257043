import { expect, test } from 'vitest';
import { containsText } from './substring.ts';

test.each([
  ['th\u00e9 vert', 'the\u0301'],
  ['the\u0301 vert', 'TH\u00c9'],
  ['5 =\u0338 6', '\u2260'],
  ['J\u030c', '\u01f0'],
])('a text is found in both forms of its accents: %j holds %j', (content, text) => {
  expect(containsText({ title: undefined, content, tags: [] }, text)).toBe(true);
});

test('also in title and tags', () => {
  expect(containsText({ title: 'the\u0301', content: '', tags: [] }, 'th\u00e9')).toBe(true);
  expect(containsText({ title: undefined, content: '', tags: ['the\u0301'] }, 'th\u00e9')).toBe(true);
});

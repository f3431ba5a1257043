import { expect, test } from 'vitest';
import { plainLine, quoted } from './quote.ts';

test('invisible characters are shown as their code points', () => {
  const smuggled = [...'run']
    .map((letter) => String.fromCodePoint(0xe0100 + letter.codePointAt(0)! - 16))
    .join('');
  for (const text of [
    smuggled,
    '\u00ad',
    '\u3164',
    '\u180b',
    '\u115f',
    '\ufe01',
    '\u{e0041}',
    '\u202e',
    '\u2028',
    '\u200b',
    '\ufeff',
  ]) {
    const shown = quoted(`a${text}b`);
    expect(shown).toBe(
      `"a${[...text].map((each) => `\\u{${each.codePointAt(0)!.toString(16)}}`).join('')}b"`,
    );
  }
  expect(plainLine('a\u0007b\u00adc')).toBe('a b\\u{ad}c');
});

test('characters that scripts and emoji need stay, but not a run of them', () => {
  for (const text of ['می\u200cخواهم', '👨\u200d👩\u200d👧', '❤\ufe0f\u200d🔥', '✌\ufe0e', 'é', '日本'])
    expect(quoted(text)).toBe(JSON.stringify(text));
  expect(quoted('a\u200d\u200c\ufe0f\u200db')).toBe('"a\u200d\u200c\\u{fe0f}\\u{200d}b"');
});

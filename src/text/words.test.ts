import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAnalyzer } from './analyze.ts';
import { findRuns, splitRun } from './words.ts';
import { writtenWords } from './written.ts';

const refused = () => {
  throw new Error('no segmenter is needed');
};

const ascii = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "o'neil's",
        'u.s.a',
        'c++',
        'f#',
        '1,234.5',
        '12,34',
        "summer'69",
        '3.14',
        'v1.2',
        'x.y',
        'C#',
      ),
      fc.constantFrom('.', ',', "'", ' ', '+', '#', 'a', 'x', 'Z', '7', '-', '_'),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

test('ASCII is split into the same words alone as within a Unicode text', () => {
  fc.assert(
    fc.property(ascii, (text) => {
      expect(findRuns(text)).toEqual(findRuns(`${text} é`).slice(0, -1));
      for (const run of findRuns(text)) {
        const accented = run.replaceAll('x', 'é');
        expect(splitRun(accented, refused)).toEqual(
          splitRun(run, refused).map((word) => word.replaceAll('x', 'é')),
        );
      }
    }),
    { numRuns: 2000 },
  );
});

test('the words that terms come from are the same too', () => {
  const analyzer = createAnalyzer();
  fc.assert(
    fc.property(ascii, (text) => {
      const alone = [...writtenWords(text, analyzer)];
      const within = [...writtenWords(`${text} é`, analyzer)].filter(([, word]) => word !== 'é');
      expect(alone).toEqual(within);
    }),
    { numRuns: 500 },
  );
});

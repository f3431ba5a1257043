import type { Analyzer } from './analyze.ts';
import { hasUnspacedScript, isAscii, segments } from './words.ts';

const wordIn = (text: string) =>
  isAscii(text)
    ? /[A-Za-z0-9]+(?:['.,][A-Za-z0-9]+)*(?:\+\+|#)?/g
    : /[\p{L}\p{M}\p{N}]+(?:['’.,][\p{L}\p{M}\p{N}]+)*(?:\+\+|#)?/gu;

/**
 * Returns the word that each term of a text comes from, as it is written. If there are several, the first one.
 *
 * @example
 * ```ts
 * writtenWords('Which Coffees?', createAnalyzer()).get('coffe'); // 'Coffees'
 * ```
 */
export function writtenWords(text: string, analyzer: Analyzer): ReadonlyMap<string, string> {
  const written = new Map<string, string>();
  let segmenter: Intl.Segmenter | undefined;
  for (const [run] of text.matchAll(wordIn(text))) {
    let words = [run];
    if (hasUnspacedScript(run)) {
      segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
      words = segments(run, segmenter).map(({ segment }) => segment);
    }
    for (const word of words) {
      for (const term of analyzer.analyze(word)) if (!written.has(term)) written.set(term, word);
    }
  }
  return written;
}

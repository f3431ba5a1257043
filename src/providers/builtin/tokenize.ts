import type { WordTable } from './table.ts';

/**
 * Splits a text into words for the table: runs of letters and digits in lower case, with apostrophes inside kept
 * ("don't" is one word). Compatibility forms and letters with marks are reduced to their base ("Café" → "cafe").
 */
export function tokenize(text: string): readonly string[] {
  return foldToPlain(text).match(/[\p{L}\p{N}]+(?:'\p{L}+)*/gu) ?? [];
}

function foldToPlain(text: string): string {
  // Most text is ASCII, and normalisation costs more than the rest of the work.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII as a whole.
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replaceAll('\u2019', "'")
    .toLowerCase();
}

/** Endings of English inflection and what may replace them in the base form, tried in order. */
const endings: readonly (readonly [ending: string, replacements: readonly string[]])[] = [
  ['ies', ['y']],
  ['es', ['e', '']],
  ['s', ['']],
  ['ied', ['y']],
  ['ed', ['', 'e']],
  ['ing', ['', 'e']],
  ['ly', ['']],
  ['er', ['', 'e']],
  ['est', ['', 'e']],
];
const shortestStem = 3;

/**
 * Returns the number of a word, or of its base form if the table lacks the inflected one; −1 if it has neither. Unknown
 * words get no vector, because an invented one would push the text in a random direction.
 */
export function findWord(table: Pick<WordTable, 'find'>, word: string): number {
  const number = table.find(word);
  if (number >= 0) return number;
  const apostrophe = word.indexOf("'");
  if (apostrophe > 0) return findWord(table, word.slice(0, apostrophe));
  for (const [ending, replacements] of endings) {
    if (!word.endsWith(ending) || word.length - ending.length < shortestStem) continue;
    const stem = word.slice(0, -ending.length);
    for (const replacement of replacements) {
      const base = table.find(stem + replacement);
      if (base >= 0) return base;
    }
    const last = stem.length - 1;
    if (stem[last] === stem[last - 1] && last > shortestStem - 1) {
      const undoubled = table.find(stem.slice(0, last));
      if (undoubled >= 0) return undoubled;
    }
  }
  return -1;
}

import type { Analyzer } from './analyze.ts';

/** The values that a text gives for one unit, as written, without signs and thousands separators. */
export interface Values {
  readonly all: ReadonlySet<string>;
  /** The values in sentences about a change. */
  readonly changed: ReadonlySet<string>;
}

/**
 * The values in a text, by unit. A unit is a currency sign, `%`, the stem of the word after a number, or `<` and the
 * stem of the word before.
 */
export type Quantities = ReadonlyMap<string, Values>;

const SENTENCE_END = /(?<=[.!?])\s+|\n+/u;
const NUMBER_OF_A_LIST = /^\s*\d+[.)]\s/u;
const TOKEN = /[$€£¥]?\d[\d.,:]*%?|[\p{L}\p{M}'’]+/gu;
const CURRENCY = /^[$€£¥]/u;
const DIGIT = /\d/u;

/** A longer number is a key or a code. */
const MAXIMUM_NUMBER_LENGTH = 32;

/** English words for a change. Other languages are not recognised. */
const CHANGE =
  /\b(?:now|new(?:ly)?|updat\w*|chang\w*|increas\w*|decreas\w*|reduc\w*|exten[ds]\w*|shorten\w*|reschedul\w*|postpon\w*|mov(?:e|ed|es|ing)|delay\w*|adjust\w*|rais(?:e|ed|es|ing)|lower(?:ed|s|ing)?|revis\w*|switch\w*|instead|anymore|no longer|replac\w*|correct(?:ed|ion))\b/iu;

/** Finds the numbers of a text that have a unit, and those in sentences about a change. */
export function quantitiesOf(text: string, analyzer: Analyzer): Quantities {
  const found = new Map<string, { readonly all: Set<string>; readonly changed: Set<string> }>();
  // A token that is not a word, or is a stop word, has no stem.
  const stemOf = (token: string | undefined): string =>
    token === undefined || DIGIT.test(token) ? '' : (analyzer.analyze(token)[0] ?? '');
  for (const sentence of text.split(SENTENCE_END)) {
    if (!DIGIT.test(sentence)) continue;
    const tokens = sentence.replace(NUMBER_OF_A_LIST, '').match(TOKEN) ?? [];
    const isChange = CHANGE.test(sentence);
    for (const [at, token] of tokens.entries()) {
      if (!DIGIT.test(token) || token.length > MAXIMUM_NUMBER_LENGTH) continue;
      const number = token.replace(/[.,:]+$/u, '');
      const unit = signOf(number) || stemOf(tokens[at + 1]) || before(stemOf(tokens[at - 1]));
      if (unit === '') continue;
      const values = found.get(unit) ?? { all: new Set(), changed: new Set() };
      const value = number.replace(/[$€£¥%,]/gu, '');
      values.all.add(value);
      if (isChange) values.changed.add(value);
      found.set(unit, values);
    }
  }
  return found;
}

/**
 * Whether a newer text may update a quantity of an older one. For a unit that both have, the newer text must give a
 * value that the older one lacks, in a sentence about a change, and the older text a value that the newer one lacks.
 */
export function mayUpdate(newer: Quantities, older: Quantities): boolean {
  for (const [unit, { all, changed }] of newer) {
    const before = older.get(unit)?.all;
    if (before && holdsOther(changed, before) && holdsOther(before, all)) return true;
  }
  return false;
}

function signOf(number: string): string {
  if (CURRENCY.test(number)) return number.charAt(0);
  return number.endsWith('%') ? '%' : '';
}

function before(stem: string): string {
  return stem === '' ? '' : `<${stem}`;
}

function holdsOther(values: ReadonlySet<string>, known: ReadonlySet<string>): boolean {
  return [...values].some((value) => !known.has(value));
}

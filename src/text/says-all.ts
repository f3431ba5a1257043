import { createAnalyzer } from './analyze.ts';
import { UNSPACED } from './names.ts';

const words = createAnalyzer({ language: 'simple' });

/** Shorter statements mean too many other things once a word is added: "Ben quit", "Ben quit smoking". */
const FEWEST_WORDS = 4;

const ARTICLES = new Set(['a', 'an', 'the']);

/** Signs that change what is said though they are no words: currencies, minus, percent, emoji, a question mark. */
const SIGN = /\p{S}|[%‰?؟]|[-‐-―](?=\p{N})/gu;
const SIGN_WORD = 'zzsign';
const QUESTION = new RegExp(`^${SIGN_WORD}(?:3f|61f)$`);

/** What turns the words before it into their opposite, or into what was once so. */
const TURNING =
  /^(?:not?|never|none|nothing|neither|nor|without|cannot|\w+n['’]?t|until|till|unless|if|anymore|longer|before|former(?:ly)?|nicht|kein\w*|nie(?:mals)?|pas|jamais|nunca|nessuno|mai|ikke|niet|geen|bis|jusqu\w*|hasta)$/;

/** An accent: it tells one word from another ("bánh bò", "bánh bơ"), and the analyzer drops it. */
const ACCENT = /(?<=\p{Script=Latin}\p{M}*)\p{M}/gu;
const ACCENT_LETTERS = 'zzaccent';

/** A text as it is compared: its words in order, each followed by a space, and how many they are. */
export interface Reading {
  readonly text: string;
  readonly count: number;
}

/** The words of a text, without case, articles and punctuation; signs that change what is said count as words. */
export function readStatement(content: string): Reading {
  const marked = content
    .normalize('NFKC')
    .replace(SIGN, (sign) => ` ${SIGN_WORD}${sign.codePointAt(0)!.toString(16)} `)
    .normalize('NFD')
    .replace(ACCENT, (mark) => `${ACCENT_LETTERS}${mark.codePointAt(0)!.toString(16)}`);
  const found = words.analyze(marked).filter((word) => !ARTICLES.has(word));
  return { text: found.map((word) => `${word} `).join(''), count: found.length };
}

/**
 * Whether one text says all that another one says: the same words, or its words first and then more that does not take
 * them back. Every number, name and sign of the other one is in it then, in the same order. What is worded differently
 * is never the same here: that takes a judge.
 */
export function saysAll(long: Reading, short: Reading): boolean {
  if (short.count === 0 || !long.text.startsWith(short.text)) return false;
  if (long.count === short.count) return true;
  const more = long.text.slice(short.text.length).trimEnd().split(' ');
  // Without spaces a sentence may go on into its opposite: 飲む, 飲むことはない.
  if (UNSPACED.test(more[0]!) && UNSPACED.test(short.text.trimEnd().split(' ').at(-1)!)) return false;
  return short.count >= FEWEST_WORDS && !more.some((word) => TURNING.test(word) || QUESTION.test(word));
}

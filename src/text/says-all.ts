import { createAnalyzer } from './analyze.ts';
import { UNSPACED } from './names.ts';

const words = createAnalyzer({ language: 'simple' });

/** Shorter statements can mean something else once a word is added: "Ben quit", "Ben quit smoking". */
const FEWEST_WORDS = 4;

const ARTICLES = new Set(['a', 'an', 'the']);

/**
 * Signs that change the meaning although they are not words: currencies, minus, percent, emoji, a question mark. That of
 * Greek is a semicolon, and that of Armenian stands within the word that is asked for.
 */
const SIGN = /\p{S}|[%‰?؟\u055e]|[-‐-―](?=\p{N})|(?<=\p{Script=Greek}\p{M}*[»")]*);/gu;
const SIGN_WORD = 'zzsign';
const QUESTION = new RegExp(`^${SIGN_WORD}(?:3f|61f|3b|55e)$`);

/** Words that negate the words before them, or put them in the past: "não" and "değil" with their accents as letters. */
const TURNING =
  /^(?:not?|never|none|nothing|neither|nor|without|cannot|\w+n['’]?t|until|till|unless|if|anymore|longer|before|former(?:ly)?|nicht|kein\w*|nie(?:mals)?|ohne|pas|jamais|sans|nunca|sin|nessuno|mai|senza|nazzaccent303o|sem|ikke|inte|niet|geen|zonder|degzzaccent306il|не|нет|без|δεν|χωρίς|नहीं|لا|ليس|לא|bis|jusqu\w*|hasta)$/;

/** A combining accent. It distinguishes words ("bánh bò", "bánh bơ"), but the analyzer drops it. */
const ACCENT = /(?<=\p{Script=Latin}\p{M}*)\p{M}/gu;
const ACCENT_LETTERS = 'zzaccent';

/** A text prepared for comparison: its words in order, each followed by a space, and their number. */
export interface Reading {
  readonly text: string;
  readonly count: number;
}

/** Reads the words of a text, without case, articles and punctuation. Signs that change the meaning count as words. */
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
 * Whether one text says everything that another one says: it has the same words, or begins with them and does not
 * negate them afterwards. So it contains every number, name and sign of the other text, in the same order. Texts worded
 * differently never count as the same: judging those needs a model.
 */
export function saysAll(long: Reading, short: Reading): boolean {
  if (short.count === 0 || !long.text.startsWith(short.text)) return false;
  if (long.count === short.count) return true;
  const more = long.text.slice(short.text.length).trimEnd().split(' ');
  // Without spaces, a sentence may continue into its opposite: 飲む, 飲むことはない.
  if (UNSPACED.test(more[0]!) && UNSPACED.test(short.text.trimEnd().split(' ').at(-1)!)) return false;
  return short.count >= FEWEST_WORDS && !more.some((word) => TURNING.test(word) || QUESTION.test(word));
}

import { englishStopWords } from './stop-words/english.ts';

/**
 * Returns the authors that a query names: those whose name has a word of at least two characters that occurs in it.
 * Case, a possessive ending and the form of an apostrophe are ignored. A word that is also a common one ("Will", "Rose")
 * counts only with a capital letter, and not at the beginning. A name in a script without spaces counts wherever it
 * occurs.
 *
 * @example
 * ```ts
 * namedAuthors("What did Ann's brother Will say?", ['Ann Lee', 'Will', 'Bob']); // ['Ann Lee', 'Will']
 * ```
 */
export function namedAuthors(query: string, authors: readonly string[]): readonly string[] {
  if (authors.length === 0) return [];
  const words = wordsOf(query);
  const all = new Set(words.map(({ word }) => word));
  const asName = new Set(words.filter(({ isName }) => isName).map(({ word }) => word));
  return authors.filter((author) =>
    wordsOf(author).some(({ word }) => {
      if ([...word].length < 2) return false;
      if (UNSPACED.test(word)) return fold(query).includes(word);
      return isCommon(word) ? asName.has(word) : all.has(word);
    }),
  );
}

const WORD = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*/gu;
const POSSESSIVE = /'s?$/u;
/** What keyboards and word processors write for an apostrophe. */
const APOSTROPHE = /[‘’ʼ]/gu;
/** What precedes the first word of a text or of a sentence. */
const BEGINNING = /(?:^|[.!?…])[^\p{L}\p{N}]*$/u;
/** Scripts that do not separate words by spaces. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

interface NameWord {
  readonly word: string;
  /** Whether it begins with a capital letter but does not begin a sentence. */
  readonly isName: boolean;
}

function wordsOf(text: string): readonly NameWord[] {
  const normal = text.normalize('NFC').replace(APOSTROPHE, "'");
  return [...normal.matchAll(WORD)].map(({ 0: written, index }) => ({
    word: fold(written).replace(POSSESSIVE, ''),
    isName: /^\p{Lu}/u.test(written) && !BEGINNING.test(normal.slice(0, index)),
  }));
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** Words for the role of an author whose name is not known. */
const ROLES = new Set(
  `admin agent ai anonymous assistant bot chatbot client customer developer everyone function guest host human me
  member model moderator narrator nobody operator other someone speaker staff support system team tool unknown
  user visitor you`.split(/\s+/u),
);
const LONGEST_NAME = 60;

/**
 * Whether an author looks like the name of a person: letters with spaces, and a capital letter if the script has them.
 * Roles (`User 2`, `Assistant`), handles and addresses do not.
 *
 * @example
 * ```ts
 * ['Ann Lee', 'ann_99', 'Assistant', '美咲'].map(isNameOfPerson); // [true, false, false, true]
 * ```
 */
export function isNameOfPerson(author: string): boolean {
  const name = author.normalize('NFC').trim();
  if ([...name].length < 2 || name.length > LONGEST_NAME) return false;
  if (!/^\p{L}[\p{L}\p{M} .,'’-]*$/u.test(name)) return false;
  if (name === name.toLowerCase() && name !== name.toUpperCase()) return false;
  return !wordsOf(name).every(({ word }) => ROLES.has(word));
}

/** Whether a name is also a common English word. Case does not matter. */
export function isCommonWord(word: string): boolean {
  return isCommon(word.toLowerCase());
}

function isCommon(word: string): boolean {
  return englishStopWords.has(word) || COMMON_WORDS.has(word);
}

/** English words that are also given names or family names. */
const COMMON_WORDS = new Set(
  `
  able ace agent amber angel april art ash assistant aster august autumn baker banks barber bay bear bee bell
  berry best bill bird bishop black bloom blue bond bot brand bright brook brown buck bud bush butler carpenter
  carter case cash chance charity chase chip church clay cliff coach cook cooper coral count cross crystal
  customer daisy dash dawn day dean destiny dog dot drew earl early east ebony eve ever faith farmer field
  fisher flint flora flowers ford forest forrest foster fox frank free friday frost gay ginger glory gold good
  grace grant gray green grey guy hall happy harmony hazel heart heather herb hill hold holly honey honor hope
  house human hunt hunter ivory ivy jade jasmine jewel joy judge july june justice king knight lake lamb land
  lane lark law leaf lee liberty light lily little london long love lucky major march mark marks marsh max may
  melody mercy merit miles mill miller moon moss noble north oak ocean olive opal page park parker parson pat
  patience peace peak pearl peg penny pepper pierce piper poet poppy porter power price prince queen rain ray
  red reed rich river rivers rob rock rod rose ruby rusty sage sailor saturday scarlet scout season serenity
  shade shepherd silver singer sky sloan smart snow south star stark stella stem sterling stone storm strong
  sue summer summers sunday sunny swan swift system temple thorn tiger tool town trace tree trinity trip true
  turner user victory violet wade walker ward warren waters way weaver west white wild will willow winter wise
  wolf wood woods woody wren york young
  `
    .trim()
    .split(/\s+/u),
);

import { isCommonWord, UNSPACED } from './names.ts';

/** Something that has names. */
export interface Named {
  readonly id: string;
  /** The names as they are written. */
  readonly names: readonly string[];
  /** `person`, `place` or another word, if it is known. */
  readonly kind?: string | undefined;
}

/** A place where a text names something: characters of its NFC form, from `start` to before `end`. */
export interface Mention {
  readonly id: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Finds which of these things a text names, by words alone: whole words, with the capital letters of the name, with or
 * without a possessive ending. It is cautious, because a wrong mention connects unrelated things:
 *
 * - A name that two things share names neither.
 * - A name without a capital letter or a digit is ignored, except in scripts without case.
 * - A word that is also a common one ("Will", "May") is ignored where every word has a capital: at the beginning of a
 *   sentence, unless what follows it can only follow a name.
 * - A part of a longer name ("Jordan River", "Michael Jordan"), of an address or of a hyphenated word is ignored.
 *
 * @example
 * ```ts
 * mentionsIn("Ada's brother Will came", [{ id: 'a', names: ['Ada'] }, { id: 'w', names: ['Will'] }]);
 * // [{ id: 'a', start: 0, end: 3 }, { id: 'w', start: 14, end: 18 }]
 * ```
 */
export function mentionsIn(text: string, things: readonly Named[]): readonly Mention[] {
  return finderOf(things)(text);
}

/** Returns the same function for many texts, which prepares the names only once. */
export function finderOf(things: readonly Named[]): (text: string) => readonly Mention[] {
  const byName = new Map<string, Named | undefined>();
  for (const thing of things) {
    for (const name of new Set(thing.names.map(normal))) {
      if (!isName(name)) continue;
      const key = name.toLowerCase();
      byName.set(key, byName.has(key) && byName.get(key) !== thing ? undefined : thing);
    }
  }
  // Longest first, so that the longest name that fits is found.
  const names = [...byName.keys()].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  if (names.length === 0) return () => [];
  const written = new Map(
    things.flatMap(({ names: given }) => given.map((name) => [normal(name).toLowerCase(), normal(name)])),
  );
  // Uses the names as written: no pattern matches "İ" by its lower case, which has two characters.
  const pattern = new RegExp(names.map((name) => escaped(written.get(name) ?? name)).join('|'), 'giu');
  return (given) => {
    const text = normal(given);
    return finderIn(text, pattern, byName, written);
  };
}

function finderIn(
  text: string,
  pattern: RegExp,
  byName: ReadonlyMap<string, Named | undefined>,
  written: ReadonlyMap<string, string>,
): readonly Mention[] {
  const found: Mention[] = [];
  for (const { 0: match, index: start } of text.matchAll(pattern)) {
    const said = match.replace(/\s+/gu, ' ');
    const thing = byName.get(said.toLowerCase());
    const name = written.get(said.toLowerCase()) ?? said;
    const end = start + match.length;
    if (thing && isMeant({ text, match: said, name, start, end, kind: thing.kind }))
      found.push({ id: thing.id, start, end });
  }
  return found;
}

interface Place {
  readonly text: string;
  readonly match: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly kind: string | undefined;
}

const makePatterns = () => ({
  possessive: /^['’](?:s(?![\p{L}\p{N}])|(?![\p{L}\p{N}]))/u,
  /** Characters that join a name to something other than a sentence: an address, a flag, a file, a hyphenated word. */
  joinedBefore: /(?:[\p{L}\p{N}\p{M}_@#/\\.\-–'’]|--)$/u,
  joinedAfter: /^(?:[\p{L}\p{N}\p{M}_@/\\]|[-–](?=[\p{L}\p{N}])|[.:](?=[\p{L}\p{N}])|['’](?=[\p{L}\p{N}]))/u,
  /** What precedes the first word of a text, a line or a sentence. */
  beginning: /(?:^|[.!?…:;\n])[\s"'“”„«»‘(*\-–—[\d.]*$/u,
  titles: /(?:^|\s)(?:mr|mrs|ms|dr|prof|sir|lady|herr|frau|uncle)\.?\s$/iu,
  wordBefore: /([\p{L}\p{M}\p{N}'’]+)[ \t]$/u,
  wordAfter: /^[ \t]([\p{L}\p{M}'’]+)/u,
  daysAndMonths:
    /^(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|i|i'm|i’m|i'll|i’ll)$/iu,
  /** Verbs and other words that follow a name, but hardly ever a common word at the beginning of a sentence. */
  afterAName:
    /^(?:is|was|has|had|does|did|says|said|asked|told|likes|loves|hates|wants|works|worked|lives|lived|moved|came|went|thinks|knows|knew|prefers|plays|played|met|called|bought|sold|wrote|won|resigned|taught|and|or|opens|opened|raised|owns|borders|to)$/u,
});

let made: ReturnType<typeof makePatterns> | undefined;

/** Compiled on first use: V8 takes a while to compile patterns for the letters of all scripts. */
function patterns() {
  made ??= makePatterns();
  return made;
}

function isMeant({ text, match, name, start, end, kind }: Place): boolean {
  const before = text.slice(0, start);
  const after = text.slice(end);
  if (UNSPACED.test(name)) return !isWithinLonger(text, start, end);
  // A word in capitals throughout is emphasis, not a name.
  const shouted = match === name.toUpperCase() && match !== name;
  if (match !== name && (!shouted || name.length < 4 || isCommonWord(name) || isShouted(text))) return false;
  if (patterns().joinedBefore.test(before)) return false;
  const rest = patterns().possessive.test(after) ? after.replace(patterns().possessive, '') : after;
  const isPossessive = rest !== after;
  // In German, a possessive s follows a name without an apostrophe.
  if (!isPossessive && patterns().joinedAfter.test(after)) return false;
  if (name.includes(' ')) return !continues(rest);
  return standsAlone(before, rest, isPossessive, name, kind);
}

/** Whether a name of one word is meant as a name. */
function standsAlone(
  before: string,
  rest: string,
  isPossessive: boolean,
  name: string,
  kind: string | undefined,
): boolean {
  const previous = patterns().wordBefore.exec(before)?.[1];
  const next = patterns().wordAfter.exec(rest)?.[1];
  const titled = patterns().titles.test(before);
  const isFirst = !titled && patterns().beginning.test(before);
  if (!isPossessive && continues(rest)) return false;
  if (previous !== undefined && isCapitalised(previous) && !titled) {
    // "Tell Jordan" begins a sentence, and so does "Michael Jordan".
    const begins = patterns().beginning.test(before.slice(0, before.length - previous.length - 1));
    if (!patterns().daysAndMonths.test(previous) && !(begins && BEGINNERS.has(previous.toLowerCase())))
      return false;
  }
  if (previous !== undefined && DETERMINERS.has(previous.toLowerCase())) return false;
  if (kind === 'person' && previous !== undefined && PLACES.has(previous.toLowerCase())) return false;
  if (kind === 'person' && /^[ \t]\d/u.test(rest)) return false;
  if (isFirst && !isPossessive && mayBeAWord(name, kind)) {
    const last = /\s$/u.test(before) || before === '' ? next : undefined;
    if (last === undefined)
      return /^(?:[,]? (?:and|or)\b|, [\p{Lu}]|[.?!]?\s*$)/u.test(rest) && before !== '';
    return patterns().afterAName.test(last);
  }
  return true;
}

/** Whether another capitalised word continues a name. */
function continues(rest: string): boolean {
  const next = patterns().wordAfter.exec(rest)?.[1];
  return next !== undefined && isCapitalised(next) && !patterns().daysAndMonths.test(next);
}

/** Words that precede a common word, or the name of a river, a novel or a team. */
const DETERMINERS = new Set([
  'the',
  'a',
  'an',
  'no',
  'any',
  'each',
  'every',
  'another',
  'der',
  'die',
  'das',
  'ein',
  'eine',
]);
const PLACES = new Set(['in', 'at', 'since', 'until', 'last', 'next', 'during', 'this', 'of']);
/** Words that begin sentences and are not names. */
const BEGINNERS = new Set(
  `after and as ask at because before both but by call did do does each every for from had has have he her here his how i
  if in is it its last later let maybe meet my neither next no nor now on once only or our perhaps please poor see she since
  so some tell thank that the their then there these they this those though thus to today tomorrow tonight under until was we
  were what when where which while who whom whose why with without yesterday yet you your dear hi hello hey love regards
  dinner lunch team still also again ich wir`
    .trim()
    .split(/\s+/u),
);

/** Whether a word at the beginning of a sentence may not be a name: names of products and companies are often words. */
function mayBeAWord(name: string, kind: string | undefined): boolean {
  return isCommonWord(name) || (kind !== 'person' && kind !== 'place');
}

function isCapitalised(word: string): boolean {
  return /^\p{Lu}/u.test(word);
}

function isShouted(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? [];
  return letters.filter((letter) => /\p{Lu}/u.test(letter)).length > letters.length * 0.7;
}

/** Whether a match is part of a longer word, in scripts without spaces. */
function isWithinLonger(text: string, start: number, end: number): boolean {
  segmenter ??= new Intl.Segmenter('ja', { granularity: 'word' });
  const segments = [...segmenter.segment(text)];
  return (
    !segments.some(({ index }) => index === start) ||
    !(end === text.length || segments.some(({ index }) => index === end))
  );
}

// Created on first use: it loads a dictionary, which would add 13 ms to every start.
let segmenter: Intl.Segmenter | undefined;

function isName(name: string): boolean {
  const characters = [...name].length;
  if (characters < 2) return false;
  return UNSPACED.test(name) || /[\p{Lu}\p{N}]/u.test(name) || name.toLowerCase() === name.toUpperCase();
}

function normal(text: string): string {
  return text.normalize('NFC').replaceAll('’', "'");
}

function escaped(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&').replaceAll(' ', '\\s+');
}

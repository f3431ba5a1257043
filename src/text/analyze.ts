import { stem } from 'porter2';
import { type Language, type LoadedLanguage, loadedLanguages, loadLanguage, simple } from './languages.ts';
import { englishStopWords } from './stop-words/english.ts';
import { findRuns, isAscii, splitRun } from './words.ts';

/** A language whose analyzer needs nothing loaded. `simple` has neither stemmer nor stop words. */
export type IncludedLanguage = 'english' | 'simple';

/** Every language that {@link loadAnalyzer} knows. */
export type AnalyzerLanguage = IncludedLanguage | LoadedLanguage;
export const ANALYZER_LANGUAGES: readonly AnalyzerLanguage[] = ['english', 'simple', ...loadedLanguages];

/** Turns text into terms. The same text always gives the same terms. */
export interface Analyzer {
  /**
   * Identity of the rules: language, stemmer, stop list, version. Terms stored under another identity are stale and
   * must be rebuilt.
   */
  readonly id: string;
  /** Terms in the order of the text, repetitions included, after stop words and stemming. */
  readonly analyze: (text: string) => string[];
}

/** Must be raised whenever a text may give other terms than before. */
const VERSION = 1;

/** Longer words (a key, an encoded file) are cut: nobody types them, and terms are kept in memory. */
const MAXIMUM_TERM_LENGTH = 128;

/** How many distinct runs are cached with their terms. A conversation of 3,000 turns has about 6,000. */
const CACHE_SIZE = 20_000;
const MAXIMUM_CACHED_LENGTH = 32;

/** Soft hyphens, joiners, direction marks; but not the zero-width space, which separates words. */
const INVISIBLE = /(?!\u200b)\p{Cf}/gu;

const english: Language = {
  id: 'english-porter2-nltk',
  stem,
  stopWords: englishStopWords,
  contractions: true,
};

/**
 * The analyzer of an included language. Default is English: Porter2 stems, NLTK's stop words.
 *
 * | text | terms | rule |
 * | --- | --- | --- |
 * | Ｆｉｌｅ ① | file 1 | Unicode NFKC, lower case |
 * | Zoë's résumé | zoe resum | accents of Latin letters and possessive endings are dropped |
 * | don't, it's, they'd've | – | a contraction is a stop word, or what is left of it is |
 * | O'Brien | obrien | any other apostrophe is dropped |
 * | long-term, snake_case, a/b | long term, snake case, b | every other sign parts words |
 * | jane@example.com | jane exampl com | so that each part can be searched for |
 * | U.S.A., e.g. | usa, eg | initials are one word |
 * | C++, C#, F# | c++, c#, f# | one letter keeps `++` or `#` |
 * | 1,000 3.14 v1.2.3 10:30 | 1000 3.14 v1.2.3 10 30 | full stops between digits stay |
 * | 東京都に住む | 東京 都 住む … | words of unspaced scripts by `Intl.Segmenter` (ICU's dictionaries) |
 *
 * Emoji and other symbols are no terms. Words longer than 128 characters are cut and not stemmed.
 */
export function createAnalyzer(options: { readonly language?: IncludedLanguage | undefined } = {}): Analyzer {
  return analyzerOf(options.language === 'simple' ? simple : english);
}

/**
 * The analyzer of any known language; stemmers other than English are loaded on demand.
 *
 * Outside English an apostrophe parts two words (l'avion: l, avion), accents are removed only after stemming,
 * and there is no stop list.
 */
export async function loadAnalyzer(language: AnalyzerLanguage): Promise<Analyzer> {
  if (language === 'english' || language === 'simple') return createAnalyzer({ language });
  return analyzerOf(await loadLanguage(language));
}

/** The language of the analyzer with this {@link Analyzer.id}, of whatever version; `undefined` for one that is not known. */
export function languageOf(id: string): AnalyzerLanguage | undefined {
  return ANALYZER_LANGUAGES.find((language) => id.startsWith(`${language}-`));
}

/** How often each term occurs, in the order of first occurrence. */
export function termCounts(terms: Iterable<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

function analyzerOf(language: Language): Analyzer {
  const cache = new Map<string, readonly string[]>();
  let segmenter: Intl.Segmenter | undefined;
  const lazySegmenter = () => {
    // The locale is fixed, so that the machine's own does not change the terms.
    segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
    return segmenter;
  };

  const termsOf = (run: string): readonly string[] => {
    const terms: string[] = [];
    for (const word of splitRun(run, lazySegmenter)) {
      const parts = language.contractions || !word.includes("'") ? [word] : word.split("'");
      for (const part of parts) {
        const term = termOf(part, language);
        if (term !== '') terms.push(term);
      }
    }
    return terms;
  };

  const analyze = (text: string): string[] => {
    const terms: string[] = [];
    for (const run of findRuns(normalize(text))) {
      let found = cache.get(run);
      if (found === undefined) {
        // V8 keeps the whole text alive for a slice of 13 characters or more.
        const detached = run.length < 13 ? run : detach(run);
        found = termsOf(detached);
        if (detached.length <= MAXIMUM_CACHED_LENGTH) {
          if (cache.size >= CACHE_SIZE) cache.clear();
          cache.set(detached, found);
        }
      }
      for (const term of found) terms.push(term);
    }
    return terms;
  };

  return { id: `${language.id}-${VERSION}`, analyze };
}

function normalize(text: string): string {
  // ASCII is already in normal form, so the usual case skips the work.
  if (isAscii(text)) return text.toLowerCase();
  return text.replace(INVISIBLE, '').normalize('NFKC').toLowerCase().replace(/[‘’ʼ]/g, "'");
}

/** Returns the term of one word, or '' if it is a stop word. */
function termOf(word: string, language: Language): string {
  const plain = language.contractions ? expandContraction(removeAccents(word), language.stopWords) : word;
  if (language.stopWords.has(plain)) return '';
  if (plain.length > MAXIMUM_TERM_LENGTH) return cut(plain);
  return removeAccents(language.stem(plain));
}

function expandContraction(word: string, stopWords: ReadonlySet<string>): string {
  if (!word.includes("'") || stopWords.has(word)) return word;
  const base = word.replace(/(?:'(?:s|re|ve|ll|d|m)){1,2}$/, '');
  return stopWords.has(base) ? base : base.replaceAll("'", '');
}

/** Removes only marks on Latin letters: in most other scripts a mark is part of the letter. */
function removeAccents(word: string): string {
  if (isAscii(word)) return word;
  return word
    .normalize('NFD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC');
}

function cut(word: string): string {
  const head = word.slice(0, MAXIMUM_TERM_LENGTH);
  return detach(head.isWellFormed() ? head : head.slice(0, -1));
}

function detach(slice: string): string {
  return JSON.parse(JSON.stringify(slice)) as string;
}

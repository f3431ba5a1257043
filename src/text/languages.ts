/** How the words of one language become terms. */
export interface Language {
  /** Names the stemmer and the stop list; part of the analyzer's identity. */
  readonly id: string;
  /** Returns the stem of a lower-case word. */
  readonly stem: (word: string) => string;
  /** Lower-case words that never become terms. */
  readonly stopWords: ReadonlySet<string>;
  /** Whether English contractions and possessives are resolved; else an apostrophe separates two words. */
  readonly contractions: boolean;
}

/** No stemming, no stop words: for text in several languages, or in one without a stemmer. */
export const simple: Language = {
  id: 'simple',
  stem: (word) => word,
  stopWords: new Set(),
  contractions: false,
};

interface StemmerModule {
  readonly stemmer: (word: string) => string;
}

/**
 * The stemmers, each loaded on first use. Only languages whose stems agree with Snowball's own (Dutch: with its
 * `dutch_porter`). English is not included: its stemmer is Porter's first algorithm, which drops an s or t before -ion
 * (definition: defini).
 */
const stemmers = {
  arabic: () => import('@orama/stemmers/arabic'),
  armenian: () => import('@orama/stemmers/armenian'),
  danish: () => import('@orama/stemmers/danish'),
  dutch: () => import('@orama/stemmers/dutch'),
  finnish: () => import('@orama/stemmers/finnish'),
  french: () => import('@orama/stemmers/french'),
  german: () => import('@orama/stemmers/german'),
  greek: () => import('@orama/stemmers/greek'),
  hindi: () => import('@orama/stemmers/indian'),
  hungarian: () => import('@orama/stemmers/hungarian'),
  indonesian: () => import('@orama/stemmers/indonesian'),
  irish: () => import('@orama/stemmers/irish'),
  italian: () => import('@orama/stemmers/italian'),
  lithuanian: () => import('@orama/stemmers/lithuanian'),
  norwegian: () => import('@orama/stemmers/norwegian'),
  portuguese: () => import('@orama/stemmers/portuguese'),
  romanian: () => import('@orama/stemmers/romanian'),
  russian: () => import('@orama/stemmers/russian'),
  spanish: () => import('@orama/stemmers/spanish'),
  swedish: () => import('@orama/stemmers/swedish'),
  turkish: () => import('@orama/stemmers/turkish'),
} as const satisfies Record<string, () => Promise<StemmerModule>>;

/** A language whose stemmer is loaded on demand. */
export type LoadedLanguage = keyof typeof stemmers;

/** The languages whose stemmer is loaded on demand, in alphabetical order. */
export const loadedLanguages = Object.keys(stemmers) as readonly LoadedLanguage[];

/** Loads the stemmer of a language. These languages have no stop list. */
export async function loadLanguage(name: LoadedLanguage): Promise<Language> {
  const { stemmer } = await stemmers[name]();
  return { id: `${name}-snowball`, stem: stemmer, stopWords: simple.stopWords, contractions: false };
}

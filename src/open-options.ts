import { callback, flag, invalidArgument, listOf, number, oneOf, text, wholeNumber } from './domain/check.ts';
import { describe } from './domain/describe.ts';
import { keysOf, onlyKeys } from './domain/options.ts';
import { REINFORCEMENT, type ReinforcementRates } from './engine/recall/reinforce.ts';
import type { BatchOptions } from './engine/types.ts';
import type { OpenOptions } from './open.ts';
import { ANALYZER_LANGUAGES } from './text/analyze.ts';

/** The names of all options of `openMemory`. */
export const OPEN_OPTIONS = keysOf<OpenOptions>()({
  path: true,
  space: true,
  embedder: true,
  fading: true,
  timeZone: true,
  recordRecalls: true,
  singleValued: true,
  people: true,
  language: true,
  profiles: true,
  maxContentBytes: true,
  maxMetadataBytes: true,
  synchronous: true,
  languageModel: true,
  reranker: true,
  tokenCounter: true,
  conflictThreshold: true,
  dateReader: true,
  reinforcement: true,
  readOnly: true,
  reindex: true,
  clock: true,
  newId: true,
  store: true,
});

const reindexKeys = keysOf<BatchOptions>()({ signal: true, now: true, progress: true });

/** Checks the options of `openMemory` before anything is opened. Throws `invalid_argument` naming the option. */
export function checkOpenOptions(options: OpenOptions): void {
  onlyKeys(options, OPEN_OPTIONS, 'openMemory');
  const { path, space, maxContentBytes, maxMetadataBytes, synchronous, conflictThreshold, reindex } = options;
  const { language, profiles, store, languageModel, reranker, readOnly } = options;
  if (store === undefined) text(path, 'path');
  if (space === undefined) {
    throw invalidArgument(
      'space',
      'required: it says whose memory this is, for example openMemory({ path: "./memory", space: "alice" })',
    );
  }
  if (maxContentBytes !== undefined) number(maxContentBytes, 'maxContentBytes', 1, Infinity);
  if (maxMetadataBytes !== undefined) number(maxMetadataBytes, 'maxMetadataBytes', 1, Infinity);
  if (synchronous !== undefined) oneOf(synchronous, 'synchronous', ['full', 'normal']);
  if (conflictThreshold !== undefined) number(conflictThreshold, 'conflictThreshold', 0, 1);
  if (typeof reindex === 'object') {
    onlyKeys(reindex, reindexKeys, 'reindex');
    if (reindex.progress !== undefined) callback(reindex.progress, 'reindex.progress');
  } else if (reindex !== undefined) flag(reindex, 'reindex');
  if (readOnly !== undefined) flag(readOnly, 'readOnly');
  if (language !== undefined && !ANALYZER_LANGUAGES.includes(language))
    throw invalidArgument(
      'language',
      `${describe(language)} is not one of ${ANALYZER_LANGUAGES.join(', ')}; use "simple" for every other language`,
    );
  if (profiles !== undefined) listOf(profiles, 'profiles');
  for (const name of ['clock', 'newId', 'tokenCounter', 'dateReader'] as const)
    if (options[name] !== undefined) callback(options[name], name);
  if (languageModel !== undefined && typeof languageModel?.generate !== 'function')
    throw invalidArgument(
      'languageModel',
      'expected a model, such as openAiCompatibleModel({ baseUrl, model }) or aiSdkModel(model) makes',
    );
  if (reranker !== undefined && typeof reranker?.rerank !== 'function')
    throw invalidArgument('reranker', 'expected an object with a function rerank(query, passages)');
  if (store !== undefined && typeof store?.openSpace !== 'function')
    throw invalidArgument('store', 'expected a store, such as postgres(url) or createSqliteStore() makes');
}

/** Merges the given rates of learning by use with the defaults. Throws `invalid_argument` naming the rate. */
export function reinforcementOf(given: OpenOptions['reinforcement']): ReinforcementRates {
  if (given === undefined) return REINFORCEMENT;
  onlyKeys(given, Object.keys(REINFORCEMENT), 'reinforcement');
  const share = (name: keyof ReinforcementRates) =>
    number(given[name] ?? REINFORCEMENT[name], `reinforcement.${name}`, 0, 1);
  const count = (name: keyof ReinforcementRates) =>
    wholeNumber(given[name] ?? REINFORCEMENT[name], `reinforcement.${name}`, 0, Number.MAX_SAFE_INTEGER);
  return {
    direct: share('direct'),
    associative: share('associative'),
    link: share('link'),
    coreAccessCount: count('coreAccessCount'),
    coreStability: share('coreStability'),
    coreSessions: count('coreSessions'),
  };
}

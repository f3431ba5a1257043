import { loadTokenCounter, type TokenCounter } from './context/tokens.ts';
import { text } from './domain/check.ts';
import { SalienceError, thrownBy } from './domain/errors.ts';
import type { FadingOption, RecallRecordingOption } from './domain/settings.ts';
import { parseSpaceName } from './domain/space.ts';
import { type Clock, checkedClock, type Instant } from './domain/time.ts';
import type { Dependencies } from './engine/dependencies.ts';
import { createMemoryEngine } from './engine/engine.ts';
import { createWatch, type Timer } from './engine/looking/watch.ts';
import type { MemoryEngine } from './engine/memory-engine.ts';
import type { ReinforcementRates } from './engine/recall/reinforce.ts';
import type { BatchOptions } from './engine/types.ts';
import { checkSettings, withSettings } from './engine/upkeep/configure.ts';
import { modelReranker } from './language/rerank.ts';
import { checkOpenOptions, reinforcementOf } from './open-options.ts';
import { chooseEmbedder, type EmbedderChoice } from './providers/choose.ts';
import type { LanguageModel } from './providers/language-model.ts';
import { withQueryCache } from './providers/query-cache.ts';
import type { Reranker } from './providers/reranker.ts';
import { takenName } from './scoring/faults.ts';
import { checkProfile, type Profile, type ProfileDefinition } from './scoring/profile.ts';
import { BUILTIN_PROFILE_NAMES, builtinProfile } from './scoring/profiles/index.ts';
import type { SpaceStore, Store } from './store/store.ts';
import { type AnalyzerLanguage, languageOf, loadAnalyzer } from './text/analyze.ts';
import { type DateReader, readEnglishDates } from './text/dates/dates.ts';
import { createUuids } from './uuids.ts';

export interface OpenOptions {
  /**
   * The directory of the files, one for each space; created if it does not exist. `:memory:` keeps everything in memory
   * until the memory is closed. Required unless `store` is given.
   */
  readonly path?: string | undefined;
  /** Whose memory this is: 1–200 characters. No default, so that nobody opens another's memory by mistake. */
  readonly space: string;
  /** `builtin` (default), `none`, or an embedder such as `openAiCompatibleEmbedder({…})` makes. */
  readonly embedder?: EmbedderChoice | undefined;
  /**
   * How memories fade: `off` (default), or `retention`. A setting of the space: it is stored when the space is created,
   * `configure` changes it, and opening an existing space with another value throws `settings_mismatch`.
   */
  readonly fading?: FadingOption | undefined;
  /** The IANA time zone in which days begin and end. A setting of the space, as `fading`. Default is `UTC`. */
  readonly timeZone?: string | undefined;
  /** Whether recalls are recorded: `off` (default), or `{ days, texts }`. A setting of the space, as `fading`. */
  readonly recordRecalls?: RecallRecordingOption | undefined;
  /** The relations that have one value at a time. A setting of the space, as `fading`. Default is {@link SINGLE_VALUED}. */
  readonly singleValued?: readonly string[] | undefined;
  /** Whether authors are stored as entities: `off` (default), or `authors`. A setting of the space, as `fading`; see `configure`. */
  readonly people?: 'off' | 'authors' | undefined;
  /**
   * The language of the words: their stems and stop words. Default is that of the space; English for a new one. Another
   * one needs `reindex`, which keeps the vectors.
   */
  readonly language?: AnalyzerLanguage | undefined;
  /**
   * Finds the dates that a query names, for signals such as `dateMatch`. Default is {@link readEnglishDates} for English,
   * none for other languages.
   */
  readonly dateReader?: DateReader | undefined;
  /** Custom strategies: profile definitions, or the results of `defineProfile`. */
  readonly profiles?: readonly ProfileDefinition[] | undefined;
  /** The maximum size of a content in bytes of UTF-8; `Infinity` for no limit. Default is 32 KiB. */
  readonly maxContentBytes?: number | undefined;
  /** The maximum size of the metadata of a memory, as bytes of JSON in UTF-8; `Infinity` for no limit. Default is 16 KiB. */
  readonly maxMetadataBytes?: number | undefined;
  /** `full` (default): acknowledged writes survive a power failure. `normal`: they survive the end of the process. */
  readonly synchronous?: 'full' | 'normal' | undefined;
  /** Judges conversations, contradictions, consolidations and rankings. Default is none: rules alone decide. */
  readonly languageModel?: LanguageModel | undefined;
  /** Reorders direct hits if a recall requests it. Default is the language model, if there is one. */
  readonly reranker?: Reranker | undefined;
  /** Counts the tokens of contexts. Default is the vocabulary of GPT-4o and later. */
  readonly tokenCounter?: TokenCounter | undefined;
  /** The cosine above which a new statement may contradict a known one, 0–1. Default is that of the embedder. */
  readonly conflictThreshold?: number | undefined;
  /** Rates of learning by use that replace the defaults: stabilities and weights 0–1, counts whole numbers from 0. */
  readonly reinforcement?: Partial<ReinforcementRates> | undefined;
  /** Opens the space without writing anything. Default is false. */
  readonly readOnly?: boolean | undefined;
  /**
   * Recomputes terms if the stored ones come from another analyzer, and vectors too if theirs come from another model, or
   * if there are memories but no vectors. An object sets the options of the reindex. Default is false, which throws
   * `embedder_mismatch` instead.
   */
  readonly reindex?: boolean | BatchOptions | undefined;
  /** Returns whole milliseconds since 1970, in the years 0 to 9999. Default is the system clock. */
  readonly clock?: Clock | undefined;
  /** Returns the id of a new memory. Default is a UUIDv7. */
  readonly newId?: ((now: Instant) => string) | undefined;
  /** A store to use instead of files, such as `postgres(url)`. It stays open when the memory is closed. */
  readonly store?: Store | undefined;
}

/**
 * Opens the memory of a space, and creates the space if it does not exist. Close it, or open it with `await using`.
 *
 * @throws `invalid_argument`: an option is unknown, missing or out of range. `invalid_space_name`, `unknown_embedder`,
 * `invalid_profile`. `embedder_mismatch`: the space was written with another embedder or analyzer, see `reindex`.
 * `settings_mismatch`: it has other settings. `not_found`: it does not exist, with `readOnly`. `not_a_store`,
 * `newer_store` and the codes that begin with `store_`: its file cannot be used.
 * @example
 * ```ts
 * await using memory = await openMemory({ path: './memory', space: 'bob' });
 * await memory.remember('Prefers dark roast coffee', { type: 'preference' });
 * const { hits } = await memory.recall('what coffee does she like?');
 * console.log(hits[0]?.memory.content); // Prefers dark roast coffee
 * ```
 */
export async function openMemory(options: OpenOptions): Promise<MemoryEngine> {
  checkOpenOptions(options);
  const name = parseSpaceName(options.space);
  const reinforcement = reinforcementOf(options.reinforcement);
  const profiles = gatherProfiles(options.profiles ?? []);
  const chosen = await chooseEmbedder(options.embedder ?? 'builtin');
  const embedder = chosen && withQueryCache(chosen);
  // A reader needs no ids.
  const newId = options.newId ? checkedIds(options.newId) : options.readOnly ? refuseId : await createUuids();
  const { languageModel } = options;
  const settings = withSettings(options);
  const store = options.store ?? (await openStore(options));
  try {
    const space = await store.openSpace(name, { readOnly: options.readOnly, settings });
    await checkSettings(space, options);
    const derivation = await space.derivation();
    const language = options.language ?? storedLanguage(derivation) ?? 'english';
    const analyzer = await loadAnalyzer(language);
    const engine: Dependencies = {
      space,
      embedder,
      analyzer,
      languageNamed: options.language !== undefined,
      dateReader: options.dateReader ?? (language === 'english' ? readEnglishDates : undefined),
      clock: checkedClock(options.clock ?? Date.now),
      newId,
      limits: {
        maxContentBytes: options.maxContentBytes ?? 32 * 1024,
        maxMetadataBytes: options.maxMetadataBytes ?? 16 * 1024,
      },
      profiles,
      languageModel,
      newNonce,
      reranker: options.reranker ?? (languageModel && modelReranker(languageModel, { newNonce })),
      tokenCounter: once(async () => options.tokenCounter ?? (await loadTokenCounter())),
      randomBytes,
      watch: createWatch(space, timer),
      conflictThreshold: options.conflictThreshold,
      reinforcement,
      readOnly: options.readOnly === true,
    };
    const memory = createMemoryEngine(engine, timer, async () => {
      if (!options.store) await store.close();
    });
    await agree(memory, engine, derivation, options);
    return memory;
  } catch (error) {
    if (!options.store) await store.close();
    throw error;
  }
}

/** The store that `path` names. Throws `invalid_argument` without one. */
export async function openStore({
  path,
  synchronous,
}: Pick<OpenOptions, 'path' | 'synchronous'>): Promise<Store> {
  const { createSqliteStore } = await import('./stores/sqlite/index.ts');
  return createSqliteStore({ directory: text(path, 'path'), synchronous });
}

type Derivation = Awaited<ReturnType<SpaceStore['derivation']>>;

function storedLanguage({ analyzer }: Derivation): AnalyzerLanguage | undefined {
  return analyzer === undefined ? undefined : languageOf(analyzer);
}

/** Vectors of two models are never mixed, terms of two analyzers never either. */
async function agree(
  memory: MemoryEngine,
  { space, embedder, analyzer }: Dependencies,
  { embedding, analyzer: stored }: Derivation,
  { reindex, readOnly }: OpenOptions,
): Promise<void> {
  const otherModel = embedding && embedder && embedding.model !== embedder.model;
  const otherAnalyzer = stored !== undefined && stored !== analyzer.id;
  const mayReindex = reindex && !readOnly;
  const lacksVectors = mayReindex && embedder && !embedding && (await space.info()).memories > 0;
  if (!otherModel && !otherAnalyzer && !lacksVectors) return;
  if (mayReindex) {
    return memory.reindex(reindex === true ? {} : reindex);
  }
  const [found, mend] = otherModel
    ? [
        `holds vectors of the model ${embedding.model}, and the embedder in use is ${embedder.model}`,
        'compute them again',
      ]
    : [
        `was indexed by the analyzer ${stored}, and the one in use is ${analyzer.id}`,
        'index its words again (its vectors are kept)',
      ];
  throw new SalienceError(
    'embedder_mismatch',
    `space ${JSON.stringify(space.name)} ${found}: open it with the former, or ${mend} with openMemory({ reindex: true }) or "salience reindex"`,
    {
      details: {
        space: space.name,
        field: otherModel ? 'embedder' : 'analyzer',
        stored: otherModel ? embedding.model : stored,
      },
    },
  );
}

/** Collects the profiles by name. Built-in ones are parsed on first use, since parsing all of them takes long. */
function gatherProfiles(definitions: readonly ProfileDefinition[]): ReadonlyMap<string, () => Profile> {
  const profiles = new Map<string, () => Profile>(
    BUILTIN_PROFILE_NAMES.map((name) => [name, () => builtinProfile(name)]),
  );
  for (const definition of definitions) {
    const profile = checkProfile(definition, (name) => profiles.get(name)?.());
    if (profiles.has(profile.name)) throw takenName(profile.name);
    profiles.set(profile.name, () => profile);
  }
  return profiles;
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Wraps `newId` so that it throws `invalid_argument` if it does not return an id. */
function checkedIds(newId: (now: Instant) => string): (now: Instant) => string {
  const made = (now: Instant) => {
    try {
      return newId(now);
    } catch (cause) {
      throw thrownBy('newId', cause);
    }
  };
  return (now) => text(made(now), 'newId');
}

function refuseId(): never {
  throw new SalienceError(
    'store_read_only',
    'the memory was opened read-only; open it without readOnly to write',
  );
}

const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
const timer: Timer = (run, milliseconds) => {
  const set = setTimeout(run, milliseconds);
  return () => clearTimeout(set);
};
const newNonce = () => Buffer.from(randomBytes(16)).toString('hex');

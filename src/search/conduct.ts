import { SalienceError } from '../domain/errors.ts';
import type { Tier } from '../domain/memory.ts';
import { inSlices, type Slices, startSlices } from '../domain/slices.ts';
import type { Instant } from '../domain/time.ts';
import { evaluate, signalsRead } from '../scoring/evaluate.ts';
import { gather } from '../scoring/gather.ts';
import type { ResolvedProfile } from '../scoring/profile.ts';
import { failedRequirement, signalsRanked } from '../scoring/score.ts';
import { EXACT_SIGNALS, type Signals } from '../scoring/signals.ts';
import { cosine } from '../scoring/similarity.ts';
import type { CountedWords } from '../scoring/word-counts.ts';
import type { Relations } from '../store/belief-state.ts';
import { checkQueryVector } from '../store/derived.ts';
import { type Eligibility, exclusionOf } from '../store/eligibility.ts';
import type { KeyedRows } from '../store/rows.ts';
import type {
  Exclusion,
  Inspection,
  MemoryFilter,
  PreparedQuery,
  ScoredMemory,
  SearchAnswer,
  SearchRequest,
  Spelling,
} from '../store/store.ts';
import { mayBegin } from '../text/spelling.ts';
import { columnsOf, signalsForQuery } from './belief-columns.ts';
import { keptParts, partWithLevels } from './ceilings.ts';
import { coldCount, ELIGIBLE, eligibleRows, standings } from './eligible.ts';
import { type AskedWord, frequencyAmong, isAmong, queryWords } from './lexical.ts';
import {
  NOTHING_FOUND,
  type QueryColumns,
  queryColumns,
  querySignals,
  WORD_SIGNALS,
} from './query-columns.ts';
import type { ResidentIndex } from './resident-index.ts';
import { searchIndex } from './search.ts';
import { returnsAll, type View, viewOf } from './view.ts';
import { type FoundStandIn, standIns, vocabularyOf } from './vocabulary.ts';
import { type Counting, countedRow, countedWords } from './word-counts.ts';
import { noWordScores, scoresOneByOne, substringScores, wordScores } from './word-scores.ts';

/** The resident index, and the point in the log up to which it is current. */
export interface ResidentState {
  readonly index: ResidentIndex;
  /** By key. */
  readonly relations: Relations<number>;
  /** The sequence of the last event that the index has applied. */
  readonly sequence: number;
  /** See {@link SearchAnswer}. */
  readonly rebuilt?: boolean | undefined;
}

/** Bounds are kept between recalls only if a recall ranks more than 1/8 of the rows of the index. */
const KEPT_SHARE = 8;

/** Sizes from which a search uses its shortcuts. Tests pass smaller ones. */
export interface Sizes {
  /** Fewer rows than this are bounded one by one: preparing to skip rows would take longer. */
  readonly skimFrom: number;
  /** At least this many of the rows that contain words of the query are never skipped. */
  readonly fewestStrong: number;
  /**
   * If at least this many rows contain a word, or nothing but a common word, rows are selected before their words are
   * counted.
   */
  readonly commonFrom: number;
}

const SIZES: Sizes = { skimFrom: 2048, fewestStrong: 256, commonFrom: 2048 };

/**
 * Computes, in steps, the bounds that a first recall needs for every row, so that ranking itself does not pause. If
 * rows are skimmed, the part with levels is computed for all rows.
 */
function* keepAhead(
  index: ResidentIndex,
  { belief, keepAhead }: View,
  { root, floor }: SearchRequest['profile'],
  now: Instant,
  skims: boolean,
): Generator<undefined, void> {
  const leveled = skims ? partWithLevels(gather(root)) : undefined;
  for (const each of floor ? [root, floor.node] : [root]) {
    for (const part of keptParts(gather(each))) {
      const steps = keepAhead(now, part, columnsOf(index.columns, belief), part === leveled);
      if (steps) yield* steps;
    }
  }
}

/**
 * Prepares what a search needs besides vectors: what it can see, the words of the query, and bounds that are kept. Views
 * cache the slow parts, so that the same search need not prepare them again.
 */
export async function prepareSearch(
  { index, relations }: Pick<ResidentState, 'index' | 'relations'>,
  source: KeyedRows,
  { profile, query, filter, now }: SearchRequest,
  sizes = SIZES,
  slices: Slices = startSlices(),
) {
  checkVector(index, query);
  const view = viewOf(index, relations, filter, now);
  const { belief } = view;
  const within = await keysWithMetadata(source, filter);
  const looked = returnsAll(filter) ? view : eligibleRows(index, belief, filter, now, within);
  const { rows } = looked;
  const afterEligible = performance.now();
  const skims = filter.cold !== true && rows.length >= sizes.skimFrom;
  const columns = await columnsOfQuery(index, source, view, query, profile, { sizes, skims });
  const afterLexical = performance.now();
  // Kept bounds take space for every row of the index: too expensive for a recall of few rows.
  const kept = rows.length > index.size / KEPT_SHARE ? view.kept(now) : undefined;
  if (kept) await inSlices(keepAhead(index, view, profile, now, skims), slices);
  return { belief, looked, skims, columns, kept, afterEligible, afterLexical };
}

/**
 * Finds the exact top k. Every store that has a resident index searches with this. `sizes` lets tests skim small
 * stores.
 */
export async function conductSearch(
  { index, relations, sequence, rebuilt }: ResidentState,
  source: KeyedRows,
  request: SearchRequest,
  sizes = SIZES,
  slices: Slices = startSlices(),
): Promise<SearchAnswer> {
  const started = performance.now();
  const { belief, looked, skims, columns, kept, afterEligible, afterLexical } = await prepareSearch(
    { index, relations },
    source,
    request,
    sizes,
    slices,
  );
  const { rows, standing, filtered } = looked;
  const { profile, query, now, limit } = request;
  const { vector } = query;
  const search = { profile, rows, standing, belief, kept, skims, columns, vector, now, limit };
  const answer = await searchIndex(index, search, source);
  const afterScore = performance.now();
  const keys = answer.hits.map(({ key }) => key);
  const memories = await source.records(keys);
  const words = await wordsOf(index, source, columns.counting, keys);
  const hits = answer.hits.map(({ signals, bm25, score }, at): ScoredMemory => {
    return { memory: memories[at]!, signals, bm25, score, words: words[at] };
  });
  const ended = performance.now();
  const found: SearchAnswer = {
    hits,
    completeness: 'exact',
    upperBound: answer.upperBound,
    total: index.size - index.dead,
    filtered,
    cold: coldCount(index),
    eligible: rows.length,
    lexicalMatches: answer.lexicalMatches,
    withVector: answer.withVector,
    candidates: answer.candidates,
    belowFloor: profile.floor ? answer.belowFloor : undefined,
    scored: answer.scored,
    sequence,
    indexRebuilt: rebuilt ? true : undefined,
    spelling: (columns.counting?.words.asked ?? []).flatMap(spellingOf),
    durations: {
      eligible: afterEligible - started,
      lexical: afterLexical - afterEligible,
      vector: answer.scanMs,
      score: afterScore - afterLexical - answer.scanMs,
      hydrate: ended - afterScore,
    },
  };
  return found;
}

/** Scores the given memories as a search would, in order. Only their vectors are read; everything else is resident. */
export async function conductInspection(
  { index, relations }: ResidentState,
  source: KeyedRows,
  ids: readonly string[],
  { profile, query, filter, now }: Omit<SearchRequest, 'limit'>,
): Promise<readonly (Inspection | undefined)[]> {
  checkVector(index, query);
  const view = viewOf(index, relations, filter, now);
  const { belief } = view;
  const within = await keysWithMetadata(source, filter);
  const keys = await source.keysOf(ids);
  const found = keys.filter((key) => key !== undefined);
  // Without words in the query, nothing has to be computed for every row of the index.
  const read = signalsRead(profile);
  const hasWords = query.terms.length > 0 || query.substring !== undefined;
  const columns =
    hasWords || EXACT_SIGNALS.some((name) => read.has(name))
      ? await columnsOfQuery(index, source, view, query, profile, { among: found })
      : undefined;
  const vectors = query.vector ? await source.vectors(found) : [];
  const vectorOf = new Map(found.map((key, at) => [key, vectors[at]]));
  const words = await wordsOf(index, source, columns?.counting, found);
  const wordsByKey = new Map(found.map((key, at) => [key, words[at]]));
  return ids.map((id, at): Inspection | undefined => {
    const key = keys[at];
    if (key === undefined) return undefined;
    const row = rowOf(index, key, id);
    const vector = vectorOf.get(key);
    const similarity = query.vector && vector ? cosine(query.vector, vector) : undefined;
    const found = columns ? querySignals(columns, row, similarity) : { ...NOTHING_FOUND, similarity };
    const signals = signalsForQuery(index, belief, row, found);
    return {
      id,
      ordinal: index.ordinals[row]!,
      signals,
      bm25: columns ? columns.lexical.bm25(row) : 0,
      score: evaluate(profile.root, signals, now),
      words: wordsByKey.get(key),
      excluded: withMetadata(exclusionOf(eligibilityOf(index, row, signals), filter, now), within, key),
      failedRequirement: failedRequirement(profile, signals, now),
    };
  });
}

/** Returns those of `ids` that a recall with this filter may see, in order. */
export async function conductVisibility(
  { index, relations }: ResidentState,
  source: KeyedRows,
  ids: readonly string[],
  { filter, now }: Pick<SearchRequest, 'filter' | 'now'>,
): Promise<readonly string[]> {
  const { belief } = viewOf(index, relations, filter, now);
  const standingOf = standings(index, belief, filter, now, await keysWithMetadata(source, filter));
  const keys = await source.keysOf(ids);
  return ids.filter((id, at) => {
    const key = keys[at];
    return key !== undefined && standingOf(rowOf(index, key, id)) === ELIGIBLE;
  });
}

/**
 * The columns of the last query. Following links and updates asks for them again. The key is the view because it lives
 * long: a value held under a young key would survive the collections of young objects along with it.
 */
const lastColumns = new WeakMap<
  View,
  {
    readonly query: PreparedQuery;
    readonly index: ResidentIndex;
    readonly version: number;
    readonly read: ReadonlySet<string>;
    readonly columns: QueryColumns;
  }
>();

function sameNames(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}

interface ColumnOptions {
  readonly sizes?: Sizes;
  readonly skims?: boolean;
  /** Keys of the only memories that are asked for. Default is all. */
  readonly among?: readonly number[];
}

/** Computes the query's columns for all rows, or at least for the memories with the keys `among`. */
async function columnsOfQuery(
  index: ResidentIndex,
  source: KeyedRows,
  view: View,
  query: PreparedQuery,
  profile: ResolvedProfile,
  { sizes = SIZES, skims = false, among }: ColumnOptions,
): Promise<QueryColumns> {
  const { terms, substring } = query;
  const read = signalsRead(profile);
  if (terms.length > 0) {
    const { version } = index;
    const known = lastColumns.get(view);
    if (
      known?.query === query &&
      known.index === index &&
      known.version === version &&
      sameNames(known.read, read)
    )
      return known.columns;
    const ids = await source.termIds(terms);
    const standIns = await standInsOf(index, source, view, query, ids);
    const words = queryWords(index, terms, ids, (term) => standIns.get(term) ?? []);
    const turns = read.has('contextLexical') ? view.turns : undefined;
    const ranked = signalsRanked(profile);
    const scores =
      skims && !WORD_SIGNALS.some((name) => ranked.has(name))
        ? scoresOneByOne(index, words, turns)
        : wordScores(index, words, turns, skims ? sizes : undefined);
    const columns = queryColumns(index, view, query, scores, words, read, sizes.fewestStrong);
    lastColumns.set(view, { query, index, version, read, columns });
    return columns;
  }
  const lexical =
    substring === undefined
      ? noWordScores()
      : substringScores(index, await source.keysContaining(substring, among));
  return queryColumns(index, view, query, lexical, undefined, read, sizes.fewestStrong);
}

/**
 * Finds stand-ins for the terms that no visible memory contains. Memories that the recall cannot see neither hide nor
 * supply one.
 */
async function standInsOf(
  index: ResidentIndex,
  source: KeyedRows,
  { rows }: View,
  { terms, written }: PreparedQuery,
  ids: readonly (number | undefined)[],
): Promise<ReadonlyMap<string, readonly FoundStandIn[]>> {
  const nowhere = terms.filter((term, at) => {
    const id = ids[at];
    if (!mayBegin(term)) return false;
    return id === undefined || !isAmong(rows, index.postings.get(id));
  });
  if (nowhere.length === 0) return new Map();
  const vocabulary = await vocabularyOf(index, source);
  const frequencyOf = (id: number) => frequencyAmong(rows, index.postings.get(id));
  return new Map(nowhere.map((term) => [term, standIns(vocabulary, term, frequencyOf, written?.get(term))]));
}

/**
 * Returns the words of these memories. They are counted when somebody reads them; only their neighbours are looked up
 * now.
 */
async function wordsOf(
  index: ResidentIndex,
  source: KeyedRows,
  counting: Counting | undefined,
  keys: readonly number[],
): Promise<readonly (CountedWords | undefined)[]> {
  if (!counting) return [];
  const rows = keys.map((key) => {
    const row = index.rowOfKey.get(key);
    return row === undefined ? undefined : countedRow(index, counting, row);
  });
  const beside = [...new Set(rows.flatMap((each) => each?.neighbours ?? []).map(({ key }) => key))];
  const ids = beside.length === 0 ? [] : await source.idsOf(beside);
  const names = new Map(beside.map((key, at) => [key, ids[at]]));
  return rows.map((each) => each && countedWords(counting, each, (key) => names.get(key)));
}

function spellingOf({ term, standIns }: AskedWord): readonly Spelling[] {
  return standIns.length === 0
    ? []
    : [{ term, standIns: standIns.map((each) => ({ term: each.term, distance: each.distance })) }];
}

async function keysWithMetadata(
  source: KeyedRows,
  { metadata = [] }: MemoryFilter,
): Promise<ReadonlySet<number> | undefined> {
  return metadata.length === 0 ? undefined : source.keysWithMetadata(metadata);
}

/**
 * Adds the metadata filter to the reason for exclusion. Metadata has no column, so excluded memories are known by key.
 * The filters of scope, type and tag are reported before it; all other reasons after it.
 */
function withMetadata(
  excluded: Exclusion | undefined,
  within: ReadonlySet<number> | undefined,
  key: number,
): Exclusion | undefined {
  if (within === undefined || within.has(key)) return excluded;
  const before: readonly (Exclusion | undefined)[] = ['scope', 'elsewhere', 'type', 'tag'];
  return before.includes(excluded) ? excluded : 'metadata';
}

/** Returns what the eligibility conditions read of a row, whose signals are complete. */
function eligibilityOf(index: ResidentIndex, row: number, signals: Signals): Eligibility {
  return {
    scope: signals.scope!,
    type: signals.type!,
    tags: index.tagsOfRow.get(row) ?? [],
    tier: signals.tier as Tier,
    core: signals.core!,
    superseded: signals.superseded!,
    invalidatedAt: signals.invalidatedAt,
    consolidatedAt: signals.consolidatedAt,
    expiresAt: signals.expiresAt,
    validFrom: signals.validFrom,
    validUntil: signals.validUntil,
  };
}

/** Returns the row of a memory. Throws `store_corrupt` if the log does not contain it. */
function rowOf(index: ResidentIndex, key: number, id: string): number {
  const row = index.rowOfKey.get(key);
  if (row !== undefined) return row;
  throw new SalienceError(
    'store_corrupt',
    `memory ${JSON.stringify(id)} exists but has no entry in the log. Run doctor, then restore the space from a backup`,
    { details: { id } },
  );
}

/** Throws `embedder_mismatch` if the query's vector cannot be compared with the space's vectors. */
function checkVector(index: ResidentIndex, { vector }: PreparedQuery): void {
  if (vector && index.dimensions > 0) checkQueryVector(vector, index.dimensions);
}

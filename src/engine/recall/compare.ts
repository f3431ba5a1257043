import { invalidArgument, texts } from '../../domain/check.ts';
import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import { unknown, unknownStrategy } from '../../domain/options.ts';
import { pauseIfDue } from '../../domain/slices.ts';
import type { Embedder } from '../../providers/embedder.ts';
import type { ParameterOverrides } from '../../scoring/profile.ts';
import { findBuiltinProfile } from '../../scoring/profiles/index.ts';
import type { Snapshot } from '../../store/store.ts';
import { type Dependencies, limitOf, momentOf } from '../dependencies.ts';
import type { FilterOptions, Memory, OperationOptions, RecallOptions } from '../types.ts';
import { agreementOf, type RankAgreement } from './agreement.ts';
import { hitOf } from './hit.ts';
import { asKnown } from './past.ts';
import { rankIn } from './pipeline.ts';
import { checkQuery } from './prepare.ts';
import {
  MOST_CHARACTERS_ANSWERED,
  type PreparedRecall,
  prepareRecall,
  termsLookedFor,
  withinSize,
} from './recall.ts';
import { resolveStrategy, takesQuery } from './strategy.ts';
import type { Arm } from './trace.ts';

export interface CompareOptions
  extends FilterOptions,
    OperationOptions,
    Pick<RecallOptions, 'deep' | 'includeExpired' | 'asOf'> {
  /** At least two names. Default is every strategy of the engine except the presets of `balanced`. */
  readonly strategies?: readonly string[] | undefined;
  /** Values for parameters of strategies, by their names: `{ hybrid: { 'weights.similarity': 9 } }`. Default is none. */
  readonly parameters?: Readonly<Record<string, ParameterOverrides | undefined>> | undefined;
  /** Most memories per strategy, 1–100. Default is 10, whatever the default of the strategy. */
  readonly limit?: number | undefined;
}

/** The separate rankings of several strategies for one query. */
export interface Comparison {
  readonly query: string;
  /** Most memories of each ranking. */
  readonly limit: number;
  /** In the order in which the strategies were named. */
  readonly rankings: readonly StrategyRanking[];
  /** One entry for every two strategies that could rank. */
  readonly agreement: readonly StrategyAgreement[];
}

/** The first memories of one strategy, or why it has none. */
export interface StrategyRanking {
  readonly strategy: string;
  /** Whether it ranks by the query. `ambient`, for one, does not: its hits are unrelated to the query. */
  readonly takesQuery: boolean;
  /** Best first. Absent when the strategy could not rank. */
  readonly hits?: readonly RankedHit[] | undefined;
  /**
   * The ids that no other strategy with `takesQuery` found, best first. Absent if `takesQuery` is false or there are no
   * `hits`.
   */
  readonly alone?: readonly string[] | undefined;
  /** Why it could not rank. */
  readonly failure?: string | undefined;
  /** Which ways of searching ran, and which could not. */
  readonly arms: readonly Arm[];
}

/** A memory with its rank. It has no score, because scores of different strategies do not compare. */
export interface RankedHit {
  /** From 1. */
  readonly rank: number;
  readonly memory: Memory;
  /** Found through links of direct hits. */
  readonly isAssociative: boolean;
  /** The words around the matches, as in a hit; absent if nothing matched. */
  readonly snippet?: string | undefined;
}

/** How much the rankings of two strategies agree. */
export interface StrategyAgreement extends RankAgreement {
  /** The names of the two strategies. */
  readonly between: readonly [string, string];
}

/**
 * Ranks by several strategies within one snapshot, at one moment. Throws only if no strategy can rank; otherwise a
 * failure is reported in the ranking. Writes nothing.
 */
export async function compare(
  engine: Dependencies,
  query: string,
  options: CompareOptions = {},
): Promise<Comparison> {
  return asKnown(engine, options, (engineAsOf, rest) => compareAsOf(engineAsOf, query, rest));
}

async function compareAsOf(
  engine: Dependencies,
  query: string,
  { strategies, parameters = {}, ...shared }: CompareOptions,
): Promise<Comparison> {
  const names = namesOf(engine, strategies);
  checkParameters(parameters, names);
  checkQuery(query, 'compare needs a query: pass the text to search for');
  const limit = limitOf(shared.limit, 10, 100);
  // One moment for all strategies.
  const now = new Date(momentOf(engine, shared));
  const options = { ...shared, limit, track: false, now };
  const asking = { ...engine, embedder: engine.embedder && askedOnce(engine.embedder) };
  const prepared = await Promise.all(
    names.map((name) => prepare(asking, query, name, { ...options, parameters: parameters[name] })),
  );
  const failed = prepared.flatMap(({ error }) => (error === undefined ? [] : [error]));
  if (failed.length === prepared.length) throw failed[0];
  const rankedHits = async (snapshot: Snapshot, ready: PreparedRecall): Promise<readonly RankedHit[]> => {
    const answer = withinSize(await rankIn(snapshot, ready.plan), MOST_CHARACTERS_ANSWERED / prepared.length);
    const terms = termsLookedFor(ready, answer);
    return answer.ranked.map((hit, at): RankedHit => {
      const { memory, isAssociative, snippet } = hitOf(engine, ready, hit, terms, options);
      return { rank: at + 1, memory, isAssociative, ...(snippet === undefined ? {} : { snippet }) };
    });
  };
  const rankings = await engine.space.snapshot(async (snapshot) => {
    const ranked: StrategyRanking[] = [];
    const errors = [...failed];
    for (const each of prepared) {
      await pauseIfDue();
      throwIfAborted(options.signal);
      const { strategy, takesQuery, ready, failure } = each;
      const arms = ready?.preparation.arms ?? [];
      if (!ready || failure !== undefined) {
        ranked.push({ strategy, takesQuery, failure, arms });
        continue;
      }
      try {
        ranked.push({ strategy, takesQuery, hits: await rankedHits(snapshot, ready), arms });
      } catch (error) {
        if (!isOfFormula(error)) throw error;
        errors.push(error);
        ranked.push({ strategy, takesQuery, failure: error.message, arms });
      }
    }
    if (errors.length === prepared.length) throw errors[0];
    return ranked;
  });
  return { query, limit, rankings: withAlone(rankings), agreement: agreements(rankings) };
}

/** Wraps an embedder so that the query is embedded once for all strategies, failures included. */
function askedOnce(embedder: Embedder): Embedder {
  const { model, dimensions, calibration, thresholds } = embedder;
  let answer: ReturnType<Embedder['embed']> | undefined;
  const embed: Embedder['embed'] = (texts, options) => {
    answer ??= embedder.embed(texts, options);
    return answer;
  };
  return { model, dimensions, calibration, thresholds, embed };
}

function namesOf(engine: Dependencies, strategies: CompareOptions['strategies']): readonly string[] {
  const known = [...engine.profiles.keys()];
  if (strategies === undefined) return known.filter((name) => !isPreset(name));
  const names = texts(strategies, 'strategies', 100, 200);
  if (names.length < 2) {
    throw invalidArgument('strategies', 'name at least two different strategies to compare');
  }
  const strange = names.find((name) => !engine.profiles.has(name));
  if (strange !== undefined) throw unknownStrategy(strange, known);
  return names;
}

function checkParameters(
  parameters: NonNullable<CompareOptions['parameters']>,
  names: readonly string[],
): void {
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) {
    throw invalidArgument('parameters', 'expected an object: the parameters of a strategy under its name');
  }
  const strange = Object.keys(parameters).find((name) => !names.includes(name));
  if (strange === undefined) return;
  throw invalidArgument('parameters', unknown('compared strategy', strange, names));
}

/** Whether a name is a built-in profile that only sets parameters of another one. */
function isPreset(name: string): boolean {
  return (findBuiltinProfile(name)?.lineage.length ?? 0) > 1;
}

interface Prepared extends Pick<StrategyRanking, 'strategy' | 'takesQuery' | 'failure'> {
  readonly ready?: PreparedRecall;
  readonly error?: unknown;
}

async function prepare(
  engine: Dependencies,
  query: string,
  strategy: string,
  options: RecallOptions,
): Promise<Prepared> {
  let reads = true;
  try {
    const profile = engine.profiles.get(strategy)?.();
    if (!profile) throw unknownStrategy(strategy, [...engine.profiles.keys()]);
    reads = takesQuery(resolveStrategy(profile, undefined, engine.embedder?.calibration));
    const ready = await prepareRecall(engine, reads ? query : undefined, { ...options, strategy });
    return { strategy, takesQuery: reads, ready, failure: failureOf(ready.preparation.arms) };
  } catch (error) {
    throwIfAborted(options.signal);
    if (!SalienceError.isInstance(error)) throw error;
    return { strategy, takesQuery: reads, error, failure: error.message };
  }
}

/**
 * Returns why none of the searches of a strategy ran, so that its ranking would be unrelated to the query; `undefined`
 * if one ran.
 */
function failureOf(arms: readonly Arm[]): string | undefined {
  const used = arms.filter(({ name, status }) => name !== 'dates' && status !== 'not-used');
  if (used.length === 0 || used.some(({ status }) => status === 'ran')) return undefined;
  return used.map(({ name, status, reason }) => reason ?? `${name}: ${status}`).join('; ');
}

/** Whether a formula has no value for some memory. Other strategies can still rank. */
function isOfFormula(error: unknown): error is SalienceError {
  return (
    SalienceError.isInstance(error) && (error.code === 'missing_signal' || error.code === 'non_finite_score')
  );
}

function withAlone(rankings: readonly StrategyRanking[]): readonly StrategyRanking[] {
  const found = new Map<string, number>();
  for (const { takesQuery, hits = [] } of rankings) {
    if (takesQuery) for (const { memory } of hits) found.set(memory.id, (found.get(memory.id) ?? 0) + 1);
  }
  return rankings.map((ranking) => {
    if (!ranking.takesQuery || !ranking.hits) return ranking;
    const ids = ranking.hits.map(({ memory }) => memory.id);
    return { ...ranking, alone: ids.filter((id) => found.get(id) === 1) };
  });
}

function agreements(rankings: readonly StrategyRanking[]): readonly StrategyAgreement[] {
  const ranked = rankings.flatMap(({ strategy, hits }) =>
    hits ? [{ strategy, ids: hits.map(({ memory }) => memory.id) }] : [],
  );
  return ranked.flatMap((a, at) =>
    ranked.slice(at + 1).map((b) => ({
      between: [a.strategy, b.strategy] as const,
      ...agreementOf(a.ids, b.ids),
    })),
  );
}

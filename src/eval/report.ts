import { finiteNumbers, list } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import {
  aggregate,
  forbiddenAboveEvidence,
  type Metrics,
  measure,
  updatedAboveStale,
} from '../fit/metrics.ts';
import type { Difference } from './compare.ts';

/** The output of `salience eval --json`. */
export interface EvaluationReport {
  readonly results: readonly EvaluationResult[];
  /** The differences of every other strategy from the baseline. Absent with a single strategy. */
  readonly differences?: readonly Difference[];
}

/** The result of one strategy on one dataset. */
export interface EvaluationResult {
  readonly dataset: string;
  readonly strategy: string;
  readonly embedder: string;
  /** The number of queries that `metrics` covers. */
  readonly n: number;
  /** `recall@k`, `hit@k`, `all@k`, `ndcg@k`, `mrr@k` for every k, and the uncut `mrr`: means over `n` queries. */
  readonly metrics: Metrics;
  /** The metrics of each type of query with a right answer, by name, including types that `metrics` leaves out. */
  readonly byType: Readonly<Record<string, TypeResult>>;
  readonly updatedAboveStale: {
    /** Queries whose best relevant memory is ranked, and above the best stale one. */
    readonly won: number;
    /** Queries covered by `metrics` that name stale memories. */
    readonly of: number;
  };
  /**
   * Counts for `stale` and `mustNot` memories, which must not be returned. Absent if no query in `metrics` names any.
   */
  readonly forbidden?: ForbiddenResult;
  /** Queries covered by `metrics` with an empty answer, of all of them. */
  readonly falseRefusals: { readonly empty: number; readonly of: number };
  /** Tokens of the contexts built from the answers. Absent unless contexts were requested. */
  readonly tokens?: { readonly mean: number; readonly p50: number; readonly p95: number };
  /** Over all queries. */
  readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number };
  /** Types that only `byType` reports. Absent if there are none. */
  readonly reportedApart?: readonly string[];
  /** Queries for which nothing should be found; no metric counts them. Absent if there are none. */
  readonly abstention?: {
    readonly n: number;
    /** Those with a hit nevertheless. */
    readonly answered: number;
  };
}

/** Counts of queries, of those in `metrics` that name stale or forbidden memories. */
export interface ForbiddenResult {
  readonly of: number;
  /** Queries with such a memory above the best relevant one, or without any relevant one. */
  readonly above: number;
  /** Queries with such a memory among the first k, by k. */
  readonly returned: Readonly<Record<string, number>>;
}

/** The metrics of one type of query, and the number of its queries as `n`. */
export type TypeResult = Metrics & { readonly n: number };

/** The outcome of one query. */
export interface QueryOutcome {
  readonly type: string;
  /** Distinct ids, best first. Covers the whole space if `mrr` or `stale` depend on it. */
  readonly ranking: readonly string[];
  readonly relevant: readonly string[];
  readonly stale?: readonly string[] | undefined;
  /** Ids that must not be returned at all, besides `stale`. Default is none. */
  readonly mustNot?: readonly string[] | undefined;
  /** How many ids of `ranking` were returned; the rest was only ranked. Default is all. */
  readonly returned?: number | undefined;
  /** Its weight in means. Default is 1. */
  readonly weight?: number | undefined;
  /** The space of the query; answers from one space are not independent. Default is one space for all. */
  readonly space?: string | undefined;
  readonly milliseconds: number;
  /** Tokens of the context built from the answer. */
  readonly tokens?: number | undefined;
}

export interface SummariseOptions {
  readonly dataset: string;
  readonly strategy: string;
  readonly embedder: string;
  readonly ks: readonly number[];
  /** Types that only `byType` reports. Default is `TYPES_REPORTED_APART`. */
  readonly excludeTypes?: readonly string[] | undefined;
}

const optionKeys = keysOf<SummariseOptions>()({
  dataset: true,
  strategy: true,
  embedder: true,
  ks: true,
  excludeTypes: true,
});

/**
 * The types of queries that the headline leaves out by default. LoCoMo's adversarial questions ask for something that
 * was never said, so finding their evidence turns is no success. Source: Maharana et al., 2024, arXiv:2402.17753.
 */
export const TYPES_REPORTED_APART: readonly string[] = ['adversarial'];

/** Returns the queries that the headline counts: those with a right answer and of no type in `excludeTypes`. */
export function countedOutcomes<Outcome extends Pick<QueryOutcome, 'relevant' | 'type'>>(
  outcomes: readonly Outcome[],
  excludeTypes: readonly string[] = TYPES_REPORTED_APART,
): readonly Outcome[] {
  list(excludeTypes, 'excludeTypes');
  return outcomes.filter(({ relevant, type }) => relevant.length > 0 && !excludeTypes.includes(type));
}

/**
 * Computes the result of a strategy on a dataset from the outcome of each query. Throws `invalid_argument` for a ranking
 * that holds an id twice.
 *
 * @example
 * ```ts
 * const outcomes = [{ type: 'fact', ranking: ['m1', 'm2'], relevant: ['m1'], milliseconds: 3 }];
 * const result = summarise(outcomes, { dataset: 'mine', strategy: 'bm25', embedder: 'none', ks: [1, 5] });
 * console.log(result.metrics['recall@1']); // 1
 * ```
 */
export function summarise(outcomes: readonly QueryOutcome[], options: SummariseOptions): EvaluationResult {
  for (const [at, outcome] of list(outcomes, 'outcomes').entries()) {
    list(outcome?.ranking, `outcomes[${at}].ranking`);
    list(outcome.relevant, `outcomes[${at}].relevant`);
  }
  onlyKeys(options, optionKeys, 'summarise');
  const { dataset, strategy, embedder, ks, excludeTypes = TYPES_REPORTED_APART } = options;
  const answerable = outcomes.filter(({ relevant }) => relevant.length > 0);
  const counted = countedOutcomes(answerable, excludeTypes);
  const types = [...new Set(answerable.map(({ type }) => type))].sort();
  const apart = types.filter((type) => excludeTypes.includes(type));
  const contests = counted.filter(({ stale = [] }) => stale.length > 0);
  const won = contests.filter(({ ranking, relevant, stale }) =>
    updatedAboveStale(ranking, new Set(relevant), new Set(stale)),
  );
  const milliseconds = outcomes.map((outcome) => outcome.milliseconds);
  const tokens = outcomes.flatMap((outcome) => outcome.tokens ?? []);
  const forbidden = summariseForbidden(counted, ks);
  const unanswerable = outcomes.filter(({ relevant }) => relevant.length === 0);
  return {
    dataset,
    strategy,
    embedder,
    n: counted.length,
    metrics: meanMetrics(counted, ks),
    byType: Object.fromEntries(
      types.map((type) => {
        const ofType = answerable.filter((outcome) => outcome.type === type);
        return [type, { n: ofType.length, ...meanMetrics(ofType, ks) }];
      }),
    ),
    updatedAboveStale: { won: won.length, of: contests.length },
    ...(forbidden && { forbidden }),
    falseRefusals: {
      empty: counted.filter((outcome) => answerOf(outcome).length === 0).length,
      of: counted.length,
    },
    ...(tokens.length > 0 && {
      tokens: {
        mean: tokens.reduce((sum, each) => sum + each, 0) / tokens.length,
        p50: percentile(tokens, 50),
        p95: percentile(tokens, 95),
      },
    }),
    latencyMs: {
      p50: percentile(milliseconds, 50),
      p95: percentile(milliseconds, 95),
      p99: percentile(milliseconds, 99),
    },
    ...(apart.length > 0 && { reportedApart: apart }),
    ...(unanswerable.length > 0 && {
      abstention: {
        n: unanswerable.length,
        answered: unanswerable.filter((outcome) => answerOf(outcome).length > 0).length,
      },
    }),
  };
}

/** Returns the part of a ranking that was returned. */
export function answerOf({
  ranking,
  returned,
}: Pick<QueryOutcome, 'ranking' | 'returned'>): readonly string[] {
  return returned === undefined ? ranking : ranking.slice(0, returned);
}

function summariseForbidden(
  counted: readonly QueryOutcome[],
  ks: readonly number[],
): ForbiddenResult | undefined {
  const cases = counted.flatMap((outcome) => {
    const forbidden = new Set([...(outcome.stale ?? []), ...(outcome.mustNot ?? [])]);
    return forbidden.size === 0 ? [] : [{ forbidden, answer: answerOf(outcome), relevant: outcome.relevant }];
  });
  if (cases.length === 0) return undefined;
  const countWithin = (k: number) =>
    cases.filter(({ answer, forbidden }) => answer.slice(0, k).some((id) => forbidden.has(id))).length;
  return {
    of: cases.length,
    above: cases.filter(({ answer, relevant, forbidden }) =>
      forbiddenAboveEvidence(answer, new Set(relevant), forbidden),
    ).length,
    returned: Object.fromEntries(ks.map((k) => [String(k), countWithin(k)])),
  };
}

/** Returns the metrics of each query, in order. */
export function measureOutcomes(
  outcomes: readonly QueryOutcome[],
  ks: readonly number[],
): readonly Metrics[] {
  return outcomes.map(({ ranking, relevant }) => measure(ranking, new Set(relevant), ks));
}

/**
 * Returns the nearest-rank percentile: the smallest value that at least `percent` per cent of the values do not exceed,
 * or 0 without values. Throws `invalid_argument` unless `percent` is above 0 and at most 100 and all values are finite.
 *
 * @example
 * ```ts
 * percentile([12, 15, 9, 40], 50); // 12
 * percentile([12, 15, 9, 40], 95); // 40
 * ```
 */
export function percentile(values: readonly number[], percent: number): number {
  if (!(percent > 0 && percent <= 100)) {
    throw new SalienceError('invalid_argument', `percent is ${percent}; it must be above 0 and at most 100`, {
      details: { field: 'percent' },
    });
  }
  const sorted = [...finiteNumbers(values, 'values')].sort((left, right) => left - right);
  return sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? 0;
}

function meanMetrics(outcomes: readonly QueryOutcome[], ks: readonly number[]): Metrics {
  return aggregate(
    measureOutcomes(outcomes, ks),
    outcomes.map(({ weight = 1 }) => weight),
  );
}

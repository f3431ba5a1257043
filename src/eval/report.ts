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

/** What `salience eval --json` prints. */
export interface EvaluationReport {
  readonly results: readonly EvaluationResult[];
  /** Of every other strategy from the baseline. Absent with a single strategy. */
  readonly differences?: readonly Difference[];
}

/** How well one strategy answered one dataset. */
export interface EvaluationResult {
  readonly dataset: string;
  readonly strategy: string;
  readonly embedder: string;
  /** Queries behind `metrics`. */
  readonly n: number;
  /** `recall@k`, `hit@k`, `all@k`, `ndcg@k`, `mrr@k` for every k, and the uncut `mrr`: means over `n` queries. */
  readonly metrics: Metrics;
  /** Every type of query that has a right answer, also those that `metrics` leaves out, by name. */
  readonly byType: Readonly<Record<string, TypeResult>>;
  readonly updatedAboveStale: {
    /** Queries whose best relevant memory is ranked, and above the best stale one. */
    readonly won: number;
    /** Queries behind `metrics` that name stale memories. */
    readonly of: number;
  };
  /** What must not be returned: `stale` and `mustNot` memories. Absent when no query behind `metrics` names any. */
  readonly forbidden?: ForbiddenResult;
  /** Queries behind `metrics` to which nothing at all was returned. */
  readonly falseRefusals: { readonly empty: number; readonly of: number };
  /** Of the contexts that were made of the answers. Absent unless contexts were asked for. */
  readonly tokens?: { readonly mean: number; readonly p50: number; readonly p95: number };
  /** Over all queries. */
  readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number };
  /** Types that are only in `byType`. Absent when there are none. */
  readonly reportedApart?: readonly string[];
  /** Queries to which nothing should be found, which no metric counts. Absent when there are none. */
  readonly abstention?: {
    readonly n: number;
    /** Those to which something was returned all the same. */
    readonly answered: number;
  };
}

/** Numbers of queries, of those behind `metrics` that name stale or forbidden memories. */
export interface ForbiddenResult {
  readonly of: number;
  /** With one of these memories above the best relevant one, or with no relevant one beside it. */
  readonly above: number;
  /** With one of them among the first k, by k. */
  readonly returned: Readonly<Record<string, number>>;
}

/** The metrics of one type of query, and the number of its queries as `n`. */
export type TypeResult = Metrics & { readonly n: number };

/** What one query came to. */
export interface QueryOutcome {
  readonly type: string;
  /** Distinct ids, best first. Reaches to the end of the space where `mrr` or `stale` depend on it. */
  readonly ranking: readonly string[];
  readonly relevant: readonly string[];
  readonly stale?: readonly string[] | undefined;
  /** What must not be returned at all, besides `stale`. Default is none. */
  readonly mustNot?: readonly string[] | undefined;
  /** How many of the ranking were returned; what follows was only ranked. Default is all. */
  readonly returned?: number | undefined;
  /** How much it counts in means. Default is 1. */
  readonly weight?: number | undefined;
  /** Which space it was asked in: answers from one space are alike. Default is one for all. */
  readonly space?: string | undefined;
  readonly milliseconds: number;
  /** Of the context that was made of the answer. */
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
 * LoCoMo's adversarial questions ask for what was never said, so finding the turns that they name as evidence is no
 * success; results are reported without them. Source: Maharana et al., 2024, arXiv:2402.17753.
 */
export const TYPES_REPORTED_APART: readonly string[] = ['adversarial'];

/** The queries that the headline counts: those with a right answer, of the types that are not reported apart. */
export function countedOutcomes<Outcome extends Pick<QueryOutcome, 'relevant' | 'type'>>(
  outcomes: readonly Outcome[],
  excludeTypes: readonly string[] = TYPES_REPORTED_APART,
): readonly Outcome[] {
  list(excludeTypes, 'excludeTypes');
  return outcomes.filter(({ relevant, type }) => relevant.length > 0 && !excludeTypes.includes(type));
}

/**
 * The result of a strategy on a dataset from what each query came to.
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

/** What was returned of a ranking. */
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

/** The measures of each query, in order. */
export function measureOutcomes(
  outcomes: readonly QueryOutcome[],
  ks: readonly number[],
): readonly Metrics[] {
  return outcomes.map(({ ranking, relevant }) => measure(ranking, new Set(relevant), ks));
}

/**
 * The smallest of the values that at least `percent` per cent of them do not exceed (nearest rank); 0 without
 * values. `percent` is above 0 and at most 100, and the values are finite, else `invalid_argument` is
 * thrown.
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

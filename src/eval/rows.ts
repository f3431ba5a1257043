import { createHash } from 'node:crypto';
import { keysOf, onlyKeys } from '../domain/options.ts';
import { type Metrics, measure } from '../fit/metrics.ts';
import { checkDatasets, checkRuns } from './checks.ts';
import { groupRuns } from './compare.ts';
import type { Dataset } from './dataset.ts';
import type { EvaluationResult } from './report.ts';
import type { EvaluatedQuery, EvaluationRun, RankedHit } from './run.ts';

/** The first line of a file of rows. */
export interface RowsHeader {
  readonly kind: 'evaluation';
  readonly version: 1;
  /** How it was made, for readers. */
  readonly about?: Readonly<Record<string, unknown>>;
  readonly ks: readonly number[];
  /** The types that the headline leaves out; absent for `TYPES_REPORTED_APART`. */
  readonly excludeTypes?: readonly string[];
  /** The datasets in their order, with a hash of their memories and queries. */
  readonly datasets: readonly { readonly name: string; readonly sha256: string }[];
  /** Those that answered every dataset; absent in what an older version wrote. */
  readonly strategies?: readonly string[];
}

/** What one strategy returned to one question, and what it is worth. */
export interface AnswerRow {
  readonly kind: 'answer';
  /** The place of the dataset in the header. */
  readonly dataset: number;
  readonly strategy: string;
  readonly space: string;
  readonly id: string;
  readonly type: string;
  /** What was returned, best first. */
  readonly hits: readonly RankedHit[];
  /** Ids ranked below, as far as the first relevant one; absent when the answer holds what it needs. */
  readonly below?: readonly string[];
  /** Ids of the memories that answer the question, as the store kept them. */
  readonly evidence: readonly string[];
  readonly stale?: readonly string[];
  readonly mustNot?: readonly string[];
  /** See `EvaluatedQuery.sameAs`. */
  readonly sameAs?: Readonly<Record<string, string>>;
  readonly weight?: number;
  /** Empty for a question without an answer. */
  readonly metrics: Metrics;
  readonly ms: number;
  readonly tokens?: number;
}

/** A result, as it follows from the rows of its dataset and strategy. */
export interface SummaryRow {
  readonly kind: 'summary';
  readonly dataset: number;
  readonly result: EvaluationResult;
}

export type EvaluationRow = RowsHeader | AnswerRow | SummaryRow;

export interface RowsOptions {
  readonly datasets: readonly Dataset[];
  readonly excludeTypes?: readonly string[] | undefined;
  readonly about?: Readonly<Record<string, unknown>> | undefined;
}

const optionKeys = keysOf<RowsOptions>()({ datasets: true, excludeTypes: true, about: true });

/**
 * The runs of one call of `evaluate` as rows, one JSON object each: a header, then for each dataset and strategy its
 * answers and its summary. `verifyRows` recomputes them.
 *
 * @example
 * ```ts
 * await using engine = await createEvaluationEngine();
 * const datasets = [await readDataset('./questions.jsonl')];
 * const runs = await evaluate({ datasets, strategies: ['bm25'], embedder: 'builtin' }, engine);
 * const lines = [...rowsOf(runs, { datasets })].map((row) => JSON.stringify(row));
 * ```
 */
export function* rowsOf(runs: readonly EvaluationRun[], options: RowsOptions): Generator<EvaluationRow> {
  checkRuns(runs);
  onlyKeys(options, optionKeys, 'rowsOf');
  const { datasets, excludeTypes, about } = options;
  checkDatasets(datasets);
  yield {
    kind: 'evaluation',
    version: 1,
    ...(about && { about }),
    ks: runs[0]?.ks ?? [],
    ...(excludeTypes && { excludeTypes }),
    datasets: datasets.map((dataset) => ({ name: dataset.name, sha256: hashOf(dataset) })),
    strategies: [...new Set(runs.map(({ result }) => result.strategy))],
  };
  for (const [dataset, group] of groupRuns(runs).entries()) {
    for (const { result, outcomes, ks } of group) {
      for (const outcome of outcomes) yield rowOf(outcome, dataset, result.strategy, ks);
      yield { kind: 'summary', dataset, result };
    }
  }
}

function rowOf(outcome: EvaluatedQuery, dataset: number, strategy: string, ks: readonly number[]): AnswerRow {
  const { space, id, type, hits, ranking, relevant, stale = [], mustNot = [], sameAs, weight } = outcome;
  const below = belowOf(ranking.slice(hits.length), relevant);
  return {
    kind: 'answer',
    ...{ dataset, strategy, space, id, type, hits },
    ...(below.length > 0 && { below }),
    evidence: relevant,
    ...(stale.length > 0 && { stale }),
    ...(mustNot.length > 0 && { mustNot }),
    ...(Object.keys(sameAs).length > 0 && { sameAs }),
    ...(weight !== undefined && { weight }),
    metrics: relevant.length === 0 ? {} : measure(ranking, new Set(relevant), ks),
    ms: outcome.milliseconds,
    ...(outcome.tokens !== undefined && { tokens: outcome.tokens }),
  };
}

/** No measure depends on what is ranked below the returned ones and below the first relevant one. */
function belowOf(deeper: readonly string[], relevant: readonly string[]): readonly string[] {
  const first = deeper.findIndex((id) => relevant.includes(id));
  return deeper.slice(0, first + 1);
}

/** A hash of what a dataset says, whatever its file looks like. */
export function hashOf({ spaces }: Dataset): string {
  return createHash('sha256')
    .update(JSON.stringify([...spaces]))
    .digest('hex');
}

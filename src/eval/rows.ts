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
  /** How the file was made, for readers. */
  readonly about?: Readonly<Record<string, unknown>>;
  readonly ks: readonly number[];
  /** The types that the headline leaves out. Default is `TYPES_REPORTED_APART`. */
  readonly excludeTypes?: readonly string[];
  /** The datasets in their order, with a hash of their memories and queries. */
  readonly datasets: readonly { readonly name: string; readonly sha256: string }[];
  /** The strategies, each of which answered every dataset. Absent in files of older versions. */
  readonly strategies?: readonly string[];
}

/** The answer of one strategy to one question, with its metrics. */
export interface AnswerRow {
  readonly kind: 'answer';
  /** The index of the dataset in the header. */
  readonly dataset: number;
  readonly strategy: string;
  readonly space: string;
  readonly id: string;
  readonly type: string;
  /** The hits that were returned, best first. */
  readonly hits: readonly RankedHit[];
  /** Ids ranked below the hits, up to the first relevant one. Absent if no metric needs them. */
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

/** The result computed from the answers of a strategy on a dataset. */
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
 * Yields the runs of one call of `evaluate` as rows of JSON: a header, then for each dataset and strategy the answers
 * and a summary. `verifyRows` checks them.
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

/** Returns the ids up to the first relevant one: no metric depends on those after it. */
function belowOf(deeper: readonly string[], relevant: readonly string[]): readonly string[] {
  const first = deeper.findIndex((id) => relevant.includes(id));
  return deeper.slice(0, first + 1);
}

/** Returns a hash of the memories and queries of a dataset, independent of the formatting of its file. */
export function hashOf({ spaces }: Dataset): string {
  return createHash('sha256')
    .update(JSON.stringify([...spaces]))
    .digest('hex');
}

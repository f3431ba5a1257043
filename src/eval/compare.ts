import type { Metrics } from './metrics.ts';
import { countedOutcomes, measureOutcomes } from './report.ts';
import type { EvaluationRun } from './run.ts';
import { pairedRandomisationTest, type RandomisationOptions } from './significance.ts';

/** How a strategy differs from the baseline in one metric of a dataset's headline. */
export interface Difference {
  readonly dataset: string;
  readonly baseline: string;
  readonly strategy: string;
  readonly metric: string;
  /** The strategy's mean minus the baseline's. */
  readonly difference: number;
  /** Of the paired randomisation test, two-sided, not corrected for the number of comparisons. */
  readonly p: number;
}

export interface CompareOptions extends RandomisationOptions {
  /** The types that the headline left out. Default is `TYPES_REPORTED_APART`. */
  readonly excludeTypes?: readonly string[] | undefined;
}

/**
 * Compares every strategy with the first one on each dataset, in each metric of its result, query by query. The runs
 * are those of one call of `evaluate`.
 *
 * @example
 * ```ts
 * await using engine = await createEvaluationEngine();
 * const datasets = [await readDataset('./questions.jsonl')];
 * const runs = await evaluate({ datasets, strategies: ['bm25', 'hybrid'], embedder: 'builtin' }, engine);
 * for (const { metric, difference, p } of compareRuns(runs)) console.log(metric, difference, p);
 * ```
 */
export function compareRuns(
  runs: readonly EvaluationRun[],
  options: CompareOptions = {},
): readonly Difference[] {
  // Two files may have the same name, so datasets are told apart by where the first strategy comes again.
  const differences: Difference[] = [];
  let baseline: EvaluationRun | undefined;
  let baselineMetrics: readonly Metrics[] = [];
  for (const run of runs) {
    const measured = measureOutcomes(countedOutcomes(run.outcomes, options.excludeTypes), run.ks);
    if (!baseline || run.result.strategy === baseline.result.strategy) {
      baseline = run;
      baselineMetrics = measured;
      continue;
    }
    for (const metric of Object.keys(run.result.metrics)) {
      const ofRun = measured.map((metrics) => metrics[metric]!);
      const ofBaseline = baselineMetrics.map((metrics) => metrics[metric]!);
      differences.push({
        dataset: run.result.dataset,
        baseline: baseline.result.strategy,
        strategy: run.result.strategy,
        metric,
        difference: run.result.metrics[metric]! - baseline.result.metrics[metric]!,
        p: pairedRandomisationTest(ofRun, ofBaseline, options),
      });
    }
  }
  return differences;
}

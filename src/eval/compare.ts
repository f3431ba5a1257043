import { invalidArgument } from '../domain/check.ts';
import { keysOf, onlyKeys, unknown } from '../domain/options.ts';
import { type PairedDifference, pairedDifferences } from '../fit/paired.ts';
import { checkRounds, checkSeed } from '../fit/random.ts';
import { checkRuns } from './checks.ts';
import { countedOutcomes, measureOutcomes, type QueryOutcome } from './report.ts';
import type { EvaluationRun } from './run.ts';
import { pairedRandomisationTest, type RandomisationOptions } from './significance.ts';

/** The difference between a strategy and the baseline in one metric, over a dataset's headline or one type of query. */
export interface Difference extends PairedDifference {
  readonly dataset: string;
  /** The index of the dataset among those evaluated, from 0, because two may have the same name. */
  readonly datasetIndex: number;
  readonly baseline: string;
  readonly strategy: string;
  /** The type of the queries. Absent for the headline. */
  readonly type?: string;
  readonly metric: string;
  /** The number of pairs. */
  readonly n: number;
  /** The two-sided p-value of the paired randomisation test, not corrected for multiple comparisons. */
  readonly p: number;
}

export interface CompareOptions extends RandomisationOptions {
  /** The strategy that the others are compared with. Default is the first. */
  readonly baseline?: string | undefined;
  /** The types that the headline left out. Default is `TYPES_REPORTED_APART`. */
  readonly excludeTypes?: readonly string[] | undefined;
  /** Resamples of the bootstrap, 1–10,000,000. Default is 5,000. */
  readonly resamples?: number | undefined;
}

const optionKeys = keysOf<CompareOptions>()({
  baseline: true,
  excludeTypes: true,
  resamples: true,
  rounds: true,
  seed: true,
});

/**
 * Compares every strategy with the baseline on each dataset and in each metric, query by query: over the headline, then
 * over each type of query. `runs` are the result of one call of `evaluate`. Throws `invalid_argument` for a baseline
 * that is not one of the strategies, and for an option that is unknown or out of range.
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
  checkRuns(runs);
  onlyKeys(options, optionKeys, 'compareRuns');
  // Checked here, because with too few pairs nothing is drawn and a wrong option would go unnoticed.
  checkSeed(options.seed);
  checkRounds(options.rounds);
  checkRounds(options.resamples, 'resamples');
  return groupRuns(runs).flatMap((group, datasetIndex) => {
    const strategies = group.map(({ result }) => result.strategy);
    const name = options.baseline ?? strategies[0];
    const baseline = group.find(({ result }) => result.strategy === name);
    if (!baseline) throw invalidArgument('baseline', unknown('strategy', String(name), strategies));
    return group
      .filter((run) => run !== baseline)
      .flatMap((run) => comparePair(run, baseline, datasetIndex, options));
  });
}

/** Groups runs by dataset. Two datasets may have the same name, so a repeated strategy starts a new group. */
export function groupRuns<
  Run extends { readonly result: { readonly dataset: string; readonly strategy: string } },
>(runs: readonly Run[]): readonly (readonly Run[])[] {
  const groups: Run[][] = [];
  for (const run of runs) {
    const group = groups.at(-1);
    const belongs =
      group?.[0]?.result.dataset === run.result.dataset &&
      group.every(({ result }) => result.strategy !== run.result.strategy);
    if (group && belongs) group.push(run);
    else groups.push([run]);
  }
  return groups;
}

function comparePair(
  run: EvaluationRun,
  baseline: EvaluationRun,
  datasetIndex: number,
  options: CompareOptions,
): readonly Difference[] {
  const names = {
    dataset: run.result.dataset,
    datasetIndex,
    baseline: baseline.result.strategy,
    strategy: run.result.strategy,
  };
  const compare = (
    type: string | undefined,
    keep: (outcomes: readonly QueryOutcome[]) => readonly QueryOutcome[],
  ) =>
    compareOutcomes(keep(run.outcomes), keep(baseline.outcomes), run.ks, options).map((difference) => ({
      ...names,
      ...(type !== undefined && { type }),
      ...difference,
    }));
  return [
    ...compare(undefined, (outcomes) => countedOutcomes(outcomes, options.excludeTypes)),
    ...Object.keys(run.result.byType).flatMap((type) =>
      compare(type, (outcomes) =>
        outcomes.filter((outcome) => outcome.type === type && outcome.relevant.length > 0),
      ),
    ),
  ];
}

function compareOutcomes(
  outcomes: readonly QueryOutcome[],
  ofBaseline: readonly QueryOutcome[],
  ks: readonly number[],
  { resamples, seed, rounds }: CompareOptions,
): readonly Omit<Difference, 'dataset' | 'datasetIndex' | 'baseline' | 'strategy' | 'type'>[] {
  const n = outcomes.length;
  if (n === 0) return [];
  const [measured, measuredBefore] = [measureOutcomes(outcomes, ks), measureOutcomes(ofBaseline, ks)];
  const metrics = Object.keys(measured[0] ?? {});
  const columns = metrics.map((metric) =>
    measured.map((metrics, at) => (metrics[metric] ?? 0) - (measuredBefore[at]?.[metric] ?? 0)),
  );
  const weights = outcomes.map(({ weight = 1 }) => weight);
  const groups = outcomes.map(({ space = '' }) => space);
  const paired = pairedDifferences(columns, { weights, groups, rounds: resamples, seed });
  return metrics.map((metric, at) => {
    const weighted = (columns[at] ?? []).map((difference, index) => difference * (weights[index] ?? 1));
    const p = pairedRandomisationTest(weighted, new Array<number>(n).fill(0), { rounds, seed });
    return { metric, n, p, ...(paired[at] as PairedDifference) };
  });
}

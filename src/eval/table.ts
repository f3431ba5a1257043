import Table from 'cli-table3';
import type { Difference } from './compare.ts';
import type { Metrics } from './metrics.ts';
import type { EvaluationResult } from './report.ts';

export interface FormatReportOptions {
  /** From `compareRuns`; a metric that differs significantly from the first strategy's is marked. Default is none. */
  readonly differences?: readonly Difference[] | undefined;
  /** Differences with a smaller p are marked. Default is .05. */
  readonly significance?: number | undefined;
}

const NOTHING = '–';

/**
 * The results for people, in plain text without colour: for each dataset a table of strategies and one of types of
 * query. It shows recall at every k, hit at the smallest, NDCG at 10 or the k nearest to it, and the uncut MRR; the
 * results themselves hold all.
 *
 * @example
 * ```ts
 * await using engine = await createEvaluationEngine();
 * const datasets = [await readDataset('./questions.jsonl')];
 * const runs = await evaluate({ datasets, strategies: ['bm25', 'hybrid'], embedder: 'builtin' }, engine);
 * console.log(formatReport(runs.map(({ result }) => result), { differences: compareRuns(runs) }));
 * ```
 */
export function formatReport(
  results: readonly EvaluationResult[],
  options: FormatReportOptions = {},
): string {
  return groupByDataset(results)
    .map((group) => formatDataset(group, options))
    .join('\n\n');
}

function formatDataset(results: readonly EvaluationResult[], options: FormatReportOptions): string {
  const { differences = [], significance = 0.05 } = options;
  const first = results[0]!;
  const columns = chooseColumns(results);
  const contests = first.updatedAboveStale.of > 0;
  const marked = differences.filter(
    ({ dataset, p, metric }) => dataset === first.dataset && p < significance && columns.includes(metric),
  );

  const strategies = newTable([
    'strategy',
    ...columns,
    ...(contests ? ['updated > stale'] : []),
    'p50 ms',
    'p95 ms',
    'p99 ms',
  ]);
  for (const { strategy, metrics, updatedAboveStale, latencyMs } of results) {
    const mark = (metric: string): string => {
      const found = marked.find((each) => each.strategy === strategy && each.metric === metric);
      if (!found) return '';
      return found.difference > 0 ? ' ▲' : ' ▼';
    };
    strategies.push([
      strategy,
      ...columns.map((metric) => formatMetric(metrics, metric) + mark(metric)),
      ...(contests ? [`${updatedAboveStale.won} of ${updatedAboveStale.of}`] : []),
      ...[latencyMs.p50, latencyMs.p95, latencyMs.p99].map((milliseconds) => milliseconds.toFixed(2)),
    ]);
  }

  return [
    describe(first),
    strategies.toString(),
    ...(marked.length === 0
      ? []
      : [
          `▲ ▼ differs from ${marked[0]!.baseline}, p < ${significance} (paired randomisation test, uncorrected)`,
        ]),
    ...formatTypes(results, columns),
  ].join('\n');
}

function formatTypes(results: readonly EvaluationResult[], columns: readonly string[]): readonly string[] {
  const first = results[0]!;
  const types = Object.keys(first.byType);
  const repeatsTheHeadline = types.length === 1 && first.byType[types[0]!]!.n === first.n;
  if (types.length === 0 || repeatsTheHeadline) return [];
  const table = newTable(['type', 'n', 'strategy', ...columns]);
  for (const type of types) {
    const apart = first.reportedApart?.includes(type) ? `${type} *` : type;
    results.forEach(({ strategy, byType }, index) => {
      const ofType = byType[type]!;
      const label = index === 0 ? [apart, String(ofType.n)] : ['', ''];
      table.push([...label, strategy, ...columns.map((metric) => formatMetric(ofType, metric))]);
    });
  }
  const note = first.reportedApart ? ['* not counted in the table above'] : [];
  return ['', table.toString(), ...note];
}

function describe({ dataset, n, embedder, reportedApart, abstention }: EvaluationResult): string {
  return [
    `${dataset}: ${n} queries`,
    ...(reportedApart ? [`without ${reportedApart.join(', ')}`] : []),
    ...(abstention ? [`${abstention.n} more have no answer`] : []),
    `embedder ${embedder}`,
  ].join(', ');
}

function chooseColumns(results: readonly EvaluationResult[]): readonly string[] {
  const names = results
    .flatMap(({ metrics, byType }) => [metrics, ...Object.values(byType)])
    .flatMap(Object.keys);
  const ks = [...new Set(names.map((name) => Number(/^recall@(\d+)$/.exec(name)?.[1] ?? 0)))]
    .filter((k) => k > 0)
    .sort((left, right) => left - right);
  if (ks.length === 0) return [];
  const nearestToTen = ks.reduce((best, k) => (Math.abs(k - 10) < Math.abs(best - 10) ? k : best));
  return [...ks.map((k) => `recall@${k}`), `hit@${ks[0]}`, `ndcg@${nearestToTen}`, 'mrr'];
}

function formatMetric(metrics: Metrics, name: string): string {
  return metrics[name]?.toFixed(3) ?? NOTHING;
}

function newTable(head: string[]): Table.Table {
  const firstNumber = head.indexOf('strategy') + 1;
  return new Table({
    head,
    colAligns: head.map((name, index) => (index >= firstNumber || name === 'n' ? 'right' : 'left')),
    style: { head: [], border: [], compact: true },
  });
}

/** Runs of results of one dataset; a strategy that comes again starts another, for two files may share a name. */
function groupByDataset(results: readonly EvaluationResult[]): readonly (readonly EvaluationResult[])[] {
  const groups: EvaluationResult[][] = [];
  for (const result of results) {
    const group = groups.at(-1);
    const belongs =
      group?.[0]?.dataset === result.dataset && group.every(({ strategy }) => strategy !== result.strategy);
    if (group && belongs) group.push(result);
    else groups.push([result]);
  }
  return groups;
}

import Table from 'cli-table3';
import { list, number } from '../domain/check.ts';
import { onlyKeys } from '../domain/options.ts';
import type { Metrics } from '../fit/metrics.ts';
import { type Difference, groupRuns } from './compare.ts';
import type { EvaluationResult } from './report.ts';

export interface FormatReportOptions {
  /**
   * The output of `compareRuns` for the runs of all these results. A metric with a certain difference from the baseline
   * is marked. Default is no marks.
   */
  readonly differences?: readonly Difference[] | undefined;
  /**
   * The width of the terminal in columns. A wider table is split into several, each with the names of the strategies.
   * Default is no limit.
   */
  readonly width?: number | undefined;
}

const NOTHING = '–';

/**
 * Formats results as plain text without colour: for each dataset a table of strategies and one of query types. The
 * columns are recall at every k, hit at the smallest k, NDCG at 10 or the nearest k, and the uncut MRR; the results
 * themselves have all metrics. A further table counts returned memories that must not be returned, if the dataset names
 * any.
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
  onlyKeys(options, ['differences', 'width'], 'formatReport');
  const width = number(options.width ?? Number.POSITIVE_INFINITY, 'width', 1, Number.POSITIVE_INFINITY);
  return groupRuns(list(results, 'results').map((result) => ({ result })))
    .map((group, at) =>
      formatDataset(
        group.map(({ result }) => result),
        (options.differences ?? []).filter(({ datasetIndex }) => datasetIndex === at),
        width,
      ),
    )
    .join('\n\n');
}

function formatDataset(
  results: readonly EvaluationResult[],
  compared: readonly Difference[],
  width: number,
): string {
  const first = results[0]!;
  const columns = chooseColumns(results);
  const contests = first.updatedAboveStale.of > 0;
  const contexts = results.some(({ tokens }) => tokens !== undefined);
  const differences = compared.filter(({ metric }) => columns.includes(metric));
  const marks = new Map(
    differences
      .filter(({ certain }) => certain)
      .map(({ strategy, type, metric, difference }) => [
        JSON.stringify([strategy, type ?? null, metric]),
        difference > 0 ? ' ▲' : ' ▼',
      ]),
  );
  const cell: Cell = (strategy, type, metric, metrics) =>
    formatMetric(metrics, metric) + (marks.get(JSON.stringify([strategy, type, metric])) ?? '');

  const titles = [
    'strategy',
    ...columns,
    ...(contests ? ['updated > stale'] : []),
    'p50 ms',
    'p95 ms',
    'p99 ms',
    ...(contexts ? ['tokens'] : []),
  ];
  const strategies = results.map(({ strategy, metrics, updatedAboveStale, latencyMs, tokens }) => [
    strategy,
    ...columns.map((metric) => cell(strategy, null, metric, metrics)),
    ...(contests ? [`${updatedAboveStale.won} of ${updatedAboveStale.of}`] : []),
    ...[latencyMs.p50, latencyMs.p95, latencyMs.p99].map((milliseconds) => milliseconds.toFixed(2)),
    ...(contexts ? [tokens?.mean.toFixed(0) ?? NOTHING] : []),
  ]);

  return [
    describe(first),
    drawTables(titles, strategies, width),
    ...(marks.size === 0 ? [] : [describeMarks(differences)]),
    ...formatRefusals(results, width),
    ...formatTypes(results, { columns, cell, width }),
  ].join('\n');
}

/** A metric of a strategy with its mark; `type` is null for the headline. */
type Cell = (strategy: string, type: string | null, metric: string, metrics: Metrics) => string;

function describeMarks(differences: readonly Difference[]): string {
  const spaces = Math.max(0, ...differences.map((each) => each.spaces?.n ?? 0));
  const over = spaces === 0 ? 'queries' : `queries, and over the ${spaces} spaces`;
  return `▲ ▼ the 95 % interval of the difference from ${differences[0]?.baseline} excludes 0 (paired bootstrap over ${over})`;
}

/** Returns the table of `refusalColumns` as lines; none if no result has such columns. */
function formatRefusals(results: readonly EvaluationResult[], width: number): readonly string[] {
  const columns = refusalColumns(results);
  if (columns.length === 0) return [];
  const titles = ['strategy', ...columns.map(([title]) => title)];
  const rows = results.map((result) => [result.strategy, ...columns.map(([, of]) => of(result))]);
  return ['', drawTables(titles, rows, width)];
}

/** The title of a column, and the function that returns its cell for a result. */
export type ResultColumn = readonly [title: string, of: (result: EvaluationResult) => string];

/**
 * Returns the columns on forbidden hits, on hits without a right answer, and on empty answers, as far as there are any.
 */
export function refusalColumns(results: readonly EvaluationResult[]): readonly ResultColumn[] {
  const first = results[0]!;
  const refused = results.some(({ falseRefusals }) => falseRefusals.empty > 0);
  return [
    ...(first.forbidden
      ? ([
          ['forbidden above evidence', ({ forbidden }) => `${forbidden?.above} of ${forbidden?.of}`],
          [
            'forbidden returned',
            ({ forbidden }) =>
              Object.entries(forbidden?.returned ?? {})
                .map(([k, count]) => `${count} @${k}`)
                .join(', '),
          ],
        ] satisfies ResultColumn[])
      : []),
    ...(first.abstention
      ? ([
          ['no answer, yet hits', ({ abstention }) => `${abstention?.answered} of ${abstention?.n}`],
        ] satisfies ResultColumn[])
      : []),
    ...(refused
      ? ([
          ['answer, yet no hit', ({ falseRefusals }) => `${falseRefusals.empty} of ${falseRefusals.of}`],
        ] satisfies ResultColumn[])
      : []),
  ];
}

function formatTypes(
  results: readonly EvaluationResult[],
  {
    columns,
    cell,
    width,
  }: { readonly columns: readonly string[]; readonly cell: Cell; readonly width: number },
): readonly string[] {
  const first = results[0]!;
  const types = Object.keys(first.byType);
  const repeatsTheHeadline = types.length === 1 && first.byType[types[0]!]!.n === first.n;
  if (types.length === 0 || repeatsTheHeadline) return [];
  const rows = types.flatMap((type) => {
    const apart = first.reportedApart?.includes(type) ? `${type} *` : type;
    return results.map(({ strategy, byType }, index) => {
      const ofType = byType[type]!;
      const label = index === 0 ? [apart, String(ofType.n)] : ['', ''];
      return [...label, strategy, ...columns.map((metric) => cell(strategy, type, metric, ofType))];
    });
  });
  const note = first.reportedApart ? ['* not counted in the table above'] : [];
  return ['', drawTables(['type', 'n', 'strategy', ...columns], rows, width), ...note];
}

function describe({ dataset, n, embedder, reportedApart, abstention }: EvaluationResult): string {
  return [
    `${dataset}: ${n} ${n === 1 ? 'query' : 'queries'}`,
    ...(reportedApart ? [`without ${reportedApart.join(', ')}`] : []),
    ...(abstention ? [`${abstention.n} more have no answer`] : []),
    `embedder ${embedder}`,
  ].join(', ');
}

/** Returns the metrics to show: recall at every k, hit at the smallest, NDCG at 10 or the nearest k, the uncut MRR. */
export function chooseColumns(results: readonly EvaluationResult[]): readonly string[] {
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

/** Draws one table, or as many as the columns need to fit the width. Each begins with the columns up to `strategy`. */
function drawTables(titles: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const names = titles.indexOf('strategy') + 1;
  const drawn: string[] = [];
  for (
    let [start, end] = [names, titles.length];
    start < titles.length;
    [start, end] = [end, titles.length]
  ) {
    const draw = () =>
      drawTable([titles, ...rows].map((row) => [...row.slice(0, names), ...row.slice(start, end)]));
    while (end > start + 1 && draw().indexOf('\n') > width) end--;
    drawn.push(draw());
  }
  return drawn.join('\n');
}

function drawTable([head = [], ...rows]: readonly string[][]): string {
  const firstNumber = head.indexOf('strategy') + 1;
  const table = new Table({
    head,
    colAligns: head.map((name, index) => (index >= firstNumber || name === 'n' ? 'right' : 'left')),
    style: { head: [], border: [], compact: true },
  });
  table.push(...rows);
  return table.toString();
}

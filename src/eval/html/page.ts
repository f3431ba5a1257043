import { createHash } from 'node:crypto';
import { list } from '../../domain/check.ts';
import { clip } from '../../domain/clip.ts';
import { escapeXml } from '../../domain/escape-xml.ts';
import { keysOf, onlyKeys } from '../../domain/options.ts';
import type { Metrics } from '../../fit/metrics.ts';
import { checkDatasets, checkRuns } from '../checks.ts';
import { type Difference, groupRuns } from '../compare.ts';
import type { Dataset } from '../dataset.ts';
import { isPlacebo } from '../placebo.ts';
import { countedOutcomes } from '../report.ts';
import type { EvaluationRun } from '../run.ts';
import { chooseColumns, type ResultColumn, refusalColumns } from '../table.ts';
import { type Loss, rankDistribution, worstLosses } from './losses.ts';
import { drawBars, drawForest, type ForestRow, signed } from './plots.ts';
import { SERIES_COLOURS, STYLE } from './style.ts';

export interface HtmlReportOptions {
  readonly runs: readonly EvaluationRun[];
  /** The output of `compareRuns`. */
  readonly differences: readonly Difference[];
  /** The datasets of the runs, in the same order, for the texts of memories. */
  readonly datasets: readonly Dataset[];
  /** Default is the first strategy. */
  readonly baseline?: string | undefined;
  /** How the report was made, as named values that a reader needs to reproduce it. */
  readonly about?: Readonly<Record<string, string | number>> | undefined;
  /** How many losses are listed for each strategy. Default is 10. */
  readonly losses?: number | undefined;
}

const optionKeys = keysOf<HtmlReportOptions>()({
  runs: true,
  differences: true,
  datasets: true,
  baseline: true,
  about: true,
  losses: true,
});

/** How many characters of a memory are shown. */
const EXCERPT = 300;

/**
 * Returns the runs as one self-contained HTML page: tables; plots of differences with their intervals, of query types
 * and of the rank of the first evidence; and the largest losses with their questions. The page follows the reader's
 * dark or light mode. Its content security policy allows only its own style sheet, and texts of datasets are escaped.
 *
 * @example
 * ```ts
 * await using engine = await createEvaluationEngine();
 * const datasets = [await readDataset('./questions.jsonl')];
 * const runs = await evaluate({ datasets, strategies: ['bm25', 'hybrid'], embedder: 'builtin' }, engine);
 * const html = htmlReport({ runs, differences: compareRuns(runs), datasets });
 * ```
 */
export function htmlReport(options: HtmlReportOptions): string {
  onlyKeys(options, optionKeys, 'htmlReport');
  const { runs, about = {} } = options;
  checkRuns(runs);
  checkDatasets(options.datasets);
  list(options.differences, 'differences');
  const groups = groupRuns(runs);
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const names = [...new Set(groups.map((group) => group[0]?.result.dataset ?? ''))];
  const { command, ...rest } = about;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Evaluation: ${escapeXml(names.join(', '))}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    '<body>',
    '<h1>Retrieval evaluation</h1>',
    `<p class="dim">${escapeXml(
      Object.entries(rest)
        .map(([name, value]) => `${name} ${value}`)
        .join(' · '),
    )}</p>`,
    ...(command === undefined ? [] : [`<pre>${escapeXml(String(command))}</pre>`]),
    ...groups.map((group, at) => drawDataset(group, at, options)),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

/** The data that all parts of a dataset's section use. */
interface Section {
  readonly group: readonly EvaluationRun[];
  readonly baseline: EvaluationRun;
  /** The runs without the baseline and the placebos, whose differences would dwarf all others. */
  readonly others: readonly EvaluationRun[];
  readonly differences: readonly Difference[];
  readonly columns: readonly string[];
  /** The metric that plots show. */
  readonly metric: string;
  seriesOf(strategy: string): number;
}

function drawDataset(group: readonly EvaluationRun[], at: number, options: HtmlReportOptions): string {
  const dataset = options.datasets[at];
  const baseline = group.find(({ result }) => result.strategy === options.baseline) ?? group[0];
  if (!baseline) return '';
  const { result } = baseline;
  const columns = chooseColumns(group.map((run) => run.result));
  const strategies = group.map((run) => run.result.strategy);
  const section: Section = {
    ...{ group, baseline, columns },
    others: group.filter((run) => run !== baseline && !isPlacebo(run.result.strategy)),
    differences: options.differences.filter((each) => each.datasetIndex === at),
    metric: columns.find((name) => name.startsWith('ndcg')) ?? 'mrr',
    seriesOf: (strategy) => strategies.indexOf(strategy) % SERIES_COLOURS,
  };
  const apart = result.reportedApart ? `, without ${result.reportedApart.join(', ')}` : '';
  const spaces = new Set(baseline.outcomes.map(({ space }) => space)).size;
  return [
    `<h2>${escapeXml(result.dataset)}</h2>`,
    `<p class="dim">${result.n} questions${escapeXml(apart)} in ${spaces} spaces · embedder ${escapeXml(result.embedder)} · baseline ${escapeXml(result.strategy)}</p>`,
    drawHeadline(section),
    ...(section.differences.length === 0 ? [] : [drawIntervalNote(section)]),
    '<div class="plots">',
    ...(section.others.length === 0 ? [] : [drawDifferences(section), drawDifferencesByType(section)]),
    drawTypes(section),
    drawRanks(section),
    '</div>',
    drawTypeTable(section),
    ...section.others.map((run) => drawLosses(run, section, dataset, options.losses ?? 10)),
  ].join('\n');
}

function drawHeadline(section: Section): string {
  const { group, columns, baseline } = section;
  const { updatedAboveStale, tokens } = baseline.result;
  const extra: readonly ResultColumn[] = [
    ...(updatedAboveStale.of > 0
      ? [
          column(
            'updated &gt; stale',
            (each) => `${each.updatedAboveStale.won} of ${each.updatedAboveStale.of}`,
          ),
        ]
      : []),
    ...refusalColumns(group.map(({ result }) => result)),
    ...(tokens ? [column('tokens', (each) => each.tokens?.mean.toFixed(0) ?? '–')] : []),
    column('p50 ms', ({ latencyMs }) => latencyMs.p50.toFixed(1)),
    column('p95 ms', ({ latencyMs }) => latencyMs.p95.toFixed(1)),
  ];
  return drawTable(
    ['strategy', ...columns, ...extra.map(([title]) => title)],
    group.map(({ result }) => [
      escapeXml(result.strategy),
      ...columns.map((metric) => cellOf(section, result.strategy, undefined, metric, result.metrics)),
      ...extra.map(([, of]) => of(result)),
    ]),
    1,
  );
}

/** Types a column that stands in a conditional list. */
function column(...column: ResultColumn): ResultColumn {
  return column;
}

function drawIntervalNote({ baseline, differences }: Section): string {
  const spaces = Math.max(0, ...differences.map((each) => each.spaces?.n ?? 0));
  const over = spaces === 0 ? 'over questions' : `over questions, and over the ${spaces} spaces`;
  return `<p class="dim">▲ ▼ and filled dots: the 95 % interval of the difference from ${escapeXml(baseline.result.strategy)} excludes 0 (paired bootstrap ${over}; the plots show the one over questions). Not corrected for the number of comparisons.</p>`;
}

function drawDifferences(section: Section): string {
  const { others, columns, baseline } = section;
  return drawForest({
    title: `Difference from ${baseline.result.strategy}, all questions`,
    description: `Differences of each strategy from ${baseline.result.strategy} in ${columns.join(', ')}, with 95 % intervals; the numbers are in the table above.`,
    groups: columns.map((metric) => ({
      label: metric,
      rows: others.flatMap((run) => forestRow(section, run, undefined, metric)),
    })),
    sides: ['worse', 'better'],
  });
}

function drawDifferencesByType(section: Section): string {
  const { others, metric, baseline } = section;
  return drawForest({
    title: `Difference from ${baseline.result.strategy} in ${metric}, by kind of question`,
    description: `Differences in ${metric} by kind of question, with 95 % intervals; the numbers are in the table below.`,
    groups: Object.entries(baseline.result.byType).map(([type, { n }]) => ({
      label: `${type} (${n})`,
      rows: others.flatMap((run) => forestRow(section, run, type, metric)),
    })),
    sides: ['worse', 'better'],
  });
}

function forestRow(
  { differences, seriesOf }: Section,
  { result: { strategy } }: EvaluationRun,
  type: string | undefined,
  metric: string,
): readonly ForestRow[] {
  const found = differences.find(
    (each) => each.strategy === strategy && each.type === type && each.metric === metric,
  );
  if (!found) return [];
  const { difference: value, interval, certain } = found;
  return [{ name: strategy, series: seriesOf(strategy), value, interval, certain }];
}

function drawTypes({ group, baseline, metric, seriesOf }: Section): string {
  return drawBars({
    title: `${metric} by kind of question`,
    description: `${metric} of each strategy by kind of question; the numbers are in the table below.`,
    end: 1,
    groups: Object.entries(baseline.result.byType).map(([type, { n }]) => ({
      label: `${type} (${n})`,
      bars: group.map(({ result: { strategy, byType } }) => {
        const value = byType[type]?.[metric] ?? 0;
        return { name: strategy, series: seriesOf(strategy), value, text: value.toFixed(3) };
      }),
    })),
  });
}

function drawRanks({ group, seriesOf }: Section): string {
  const counts = group.map(({ result, outcomes }) => ({
    strategy: result.strategy,
    buckets: rankDistribution(countedOutcomes(outcomes, result.reportedApart ?? [])),
  }));
  return drawBars({
    title: 'Rank of the first evidence (questions)',
    description: 'How many questions have their first evidence at which rank, for each strategy.',
    groups: (counts[0]?.buckets ?? []).map(({ label }, at) => ({
      label: label === 'none' ? 'not ranked' : `rank ${label}`,
      bars: counts.map(({ strategy, buckets }) => {
        const value = buckets[at]?.count ?? 0;
        return { name: strategy, series: seriesOf(strategy), value, text: String(value) };
      }),
    })),
  });
}

function drawTypeTable(section: Section): string {
  const { group, baseline, columns } = section;
  const rows = Object.entries(baseline.result.byType).flatMap(([type, { n }]) =>
    group.map(({ result: { strategy, byType } }, at) => [
      at === 0 ? escapeXml(type) : '',
      escapeXml(strategy),
      at === 0 ? String(n) : '',
      ...columns.map((metric) => cellOf(section, strategy, type, metric, byType[type] ?? {})),
    ]),
  );
  if (rows.length === 0) return '';
  return `<h3>By kind of question</h3>\n${drawTable(['kind', 'strategy', 'n', ...columns], rows, 2)}`;
}

function drawLosses(
  run: EvaluationRun,
  section: Section,
  dataset: Dataset | undefined,
  most: number,
): string {
  const { baseline, metric } = section;
  const losses = worstLosses(run, baseline, metric, most);
  if (losses.length === 0) return '';
  const [name, before] = [run.result.strategy, baseline.result.strategy].map(escapeXml);
  return [
    `<h3>Where ${name} loses most against ${before} (${metric})</h3>`,
    '<ol class="losses">',
    ...losses.map((loss) => drawLoss(loss, `${name}`, `${before}`, dataset)),
    '</ol>',
  ].join('\n');
}

function drawLoss(
  { outcome, loss, rank, rankBefore }: Loss,
  name: string,
  before: string,
  dataset: Dataset | undefined,
): string {
  const { query, type, space, id, relevant, hits } = outcome;
  const memories = dataset?.spaces.get(space)?.memories;
  const excerpt = (label: string, of: string | undefined) => {
    const content = memories?.find((memory) => memory.id === of)?.content;
    if (of === undefined || content === undefined) return '';
    return `<blockquote>${label} <code>${escapeXml(of)}</code>: ${escapeXml(clip(content, EXCERPT))}</blockquote>`;
  };
  const at = (place: number | undefined) => (place === undefined ? 'not ranked' : `at ${place}`);
  return [
    `<li><strong>${escapeXml(query)}</strong>`,
    `<p class="dim">${escapeXml(type)} · <code>${escapeXml(id)}</code> in <code>${escapeXml(space)}</code> · <span class="down">${signed(-loss)}</span> · first evidence ${at(rank)} with ${name}, ${at(rankBefore)} with ${before}</p>`,
    excerpt('evidence', relevant[0]),
    excerpt(`first of ${name}`, hits[0]?.id),
    '</li>',
  ].join('\n');
}

/** Returns the cell of a metric, marked if its difference from the baseline is certain. */
function cellOf(
  { differences }: Section,
  strategy: string,
  type: string | undefined,
  metric: string,
  metrics: Metrics,
): string {
  const value = metrics[metric]?.toFixed(3) ?? '–';
  const found = differences.find(
    (each) => each.certain && each.strategy === strategy && each.type === type && each.metric === metric,
  );
  if (!found) return value;
  const up = found.difference > 0;
  return `${value} <span class="${up ? 'up' : 'down'}">${up ? '▲' : '▼'}</span>`;
}

/** Returns an HTML table; the first `names` columns are text. */
function drawTable(head: readonly string[], rows: readonly (readonly string[])[], names: number): string {
  const cells = (tag: string, row: readonly string[]) =>
    row.map((cell, at) => `<${tag}${at < names ? ' class="name"' : ''}>${cell}</${tag}>`).join('');
  return [
    '<div class="scroll"><table>',
    `<thead><tr>${cells('th', head)}</tr></thead>`,
    '<tbody>',
    ...rows.map((row) => `<tr>${cells('td', row)}</tr>`),
    '</tbody></table></div>',
  ].join('\n');
}

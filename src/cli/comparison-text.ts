import type { Comparison, StrategyAgreement, StrategyRanking } from '../index.ts';
import type { Context } from './context.ts';
import { lineOf } from './memory-text.ts';
import { formatTable } from './table.ts';
import { cutToWidth, displayWidth, padToWidth, plainLine } from './terminal-text.ts';

type View = Pick<Context, 'paint' | 'columns'>;

/** The width if that of the terminal is unknown. */
const USUAL_WIDTH = 100;
/** A narrower column shows too little of a memory to recognise it. */
const LEAST_COLUMN = 20;
const LEAST_LABEL = 6;
const GAP = '  ';

/** Formats rankings for people, as many side by side as fit, and how far they agree. */
export function formatComparison({ rankings, agreement, limit }: Comparison, view: View): string {
  const columns = Number.isFinite(view.columns) ? view.columns : USUAL_WIDTH;
  const beside = Math.max(1, Math.floor((columns - LEAST_LABEL) / (LEAST_COLUMN + GAP.length)));
  const { paint } = view;
  const failures = rankings.flatMap(({ strategy, failure }) =>
    failure === undefined ? [] : [`${plainLine(strategy)} could not rank: ${plainLine(failure)}`],
  );
  return [
    ...groupsOf(rankings, beside).flatMap((group) => [...formatGroup(group, limit, columns), '']),
    paint('dim', cutToWidth('* found by this strategy alone', columns)),
    // Whole, even if it is long: it is told nowhere else, and often ends with what to do.
    ...failures.map((line) => paint('yellow', line)),
    ...formatAgreement(agreement, columns, view),
  ].join('\n');
}

function formatGroup(
  rankings: readonly StrategyRanking[],
  limit: number,
  columns: number,
): readonly string[] {
  const cell = Math.floor((columns - LEAST_LABEL) / rankings.length) - GAP.length;
  const line = (label: string, cells: readonly string[]) =>
    [
      padToWidth(label, LEAST_LABEL, 'right'),
      ...cells.map((text) => padToWidth(cutToWidth(text, cell), cell)),
    ]
      .join(GAP)
      .trimEnd();
  const rows = Math.max(1, ...rankings.map(({ hits }) => Math.min(limit, hits?.length ?? 0)));
  const places = Array.from({ length: rows }, (_, at) =>
    line(
      String(at + 1),
      rankings.map((ranking) => cellOf(ranking, at)),
    ),
  );
  const alone = rankings.map(({ alone, hits }) =>
    alone === undefined || !hits ? '' : `${alone.length} of ${hits.length}`,
  );
  return [line('', rankings.map(titleOf)), ...places, line('alone', alone)];
}

function titleOf({ strategy, takesQuery }: StrategyRanking): string {
  return takesQuery ? plainLine(strategy) : `${plainLine(strategy)} (no query)`;
}

function cellOf({ hits, alone = [] }: StrategyRanking, at: number): string {
  if (!hits) return at === 0 ? '(could not rank)' : '';
  if (hits.length === 0) return at === 0 ? '(nothing found)' : '';
  const hit = hits[at];
  if (!hit) return '';
  const { memory } = hit;
  return `${alone.includes(memory.id) ? '* ' : '  '}${plainLine(lineOf(memory))}`;
}

/** Formats the agreement of every two strategies as a matrix: tau above the diagonal, overlap below. */
function formatAgreement(
  agreement: readonly StrategyAgreement[],
  columns: number,
  { paint }: Pick<View, 'paint'>,
): readonly string[] {
  if (agreement.length === 0) return [];
  const names = [...new Set(agreement.flatMap(({ between }) => between))];
  const label = (at: number) => `${at + 1} ${plainLine(names[at] ?? '')}`;
  const widest = Math.max(...names.map((_, at) => displayWidth(label(at))));
  const beside = Math.max(1, Math.floor((columns - widest) / ('-0.00'.length + GAP.length)));
  const entry = (row: number, column: number) => {
    if (row === column) return '·';
    const found = agreement.find(
      ({ between: [a, b] }) => a === names[Math.min(row, column)] && b === names[Math.max(row, column)],
    );
    const value = row < column ? found?.tau : found?.overlap;
    return value === undefined ? '–' : value.toFixed(2);
  };
  const tables = groupsOf([...names.keys()], beside).map((group) =>
    formatTable(
      [{ title: '' }, ...group.map((at) => ({ title: String(at + 1), align: 'right' as const }))],
      names.map((_, row) => [label(row), ...group.map((column) => entry(row, column))]),
      columns,
    ),
  );
  return [
    '',
    ...[
      'above the diagonal: Kendall’s tau-b, -1 to 1',
      'below it: the share of memories in both, 0 to 1',
    ].map((line) => paint('dim', cutToWidth(line, columns))),
    ...tables,
  ];
}

function groupsOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return items.length === 0 ? [] : [items.slice(0, size), ...groupsOf(items.slice(size), size)];
}

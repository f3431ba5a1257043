import { cutToWidth, displayWidth, padToWidth, plainLine } from './terminal-text.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right' | undefined;
}

/**
 * Formats rows as columns below their titles, each row on one line of at most `width` columns. Cells may contain any
 * text.
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => row.map(plainLine))];
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => displayWidth(row[index] ?? ''))));
  return cells
    .map((row) => {
      const line = columns
        .map(({ align }, index) =>
          padToWidth(row[index] ?? '', widths[index] ?? 0, align === 'right' ? 'right' : 'left'),
        )
        .join('  ')
        .trimEnd();
      return cutToWidth(line, width);
    })
    .join('\n');
}

/** Formats names and values, one pair per line. */
export function formatFields(
  fields: readonly (readonly [name: string, value: string | undefined])[],
): string {
  const known = fields.filter((field): field is readonly [string, string] => field[1] !== undefined);
  const width = Math.max(0, ...known.map(([name]) => displayWidth(name)));
  return known.map(([name, value]) => `${padToWidth(name, width)}  ${plainLine(value)}`).join('\n');
}

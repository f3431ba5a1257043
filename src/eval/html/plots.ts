import { escapeXml } from '../../domain/escape-xml.ts';

/**
 * Plots as SVG elements for the HTML report. Their colours come from classes of its style sheet, so that they follow
 * its dark mode. They contain no styles or scripts, so that a strict content security policy allows them.
 */

/** Groups of horizontal bars, one below the other. Values are at least 0. */
export interface BarPlot {
  readonly title: string;
  /** A description of the plot for readers who cannot see it. */
  readonly description: string;
  readonly groups: readonly {
    readonly label: string;
    readonly bars: readonly Bar[];
  }[];
  /** The end of the axis. Default is the largest value. */
  readonly end?: number | undefined;
}

export interface Bar {
  readonly name: string;
  /** The index of its colour in the style sheet. A series has the same colour in all plots. */
  readonly series: number;
  readonly value: number;
  /** The text at the end of the bar. */
  readonly text: string;
}

/** Differences with their intervals around a line at 0. */
export interface ForestPlot {
  readonly title: string;
  readonly description: string;
  readonly groups: readonly {
    readonly label: string;
    readonly rows: readonly ForestRow[];
  }[];
  /** The labels left and right of 0. */
  readonly sides: readonly [left: string, right: string];
}

export interface ForestRow {
  readonly name: string;
  readonly series: number;
  readonly value: number;
  readonly interval?: { readonly low: number; readonly high: number } | undefined;
  /** Whether the difference is certain; its mark is then filled. */
  readonly certain: boolean;
}

// Narrow and with large letters, so that the whole width is readable on a phone.
const WIDTH = 520;
const NAME = 150;
const VALUE = 70;
/** The width of the text of a difference with its interval. */
const INTERVAL = 180;
const ROW = 24;
const HEADING = 30;
const GAP = 10;
const NAME_CHARACTERS = 18;

export function drawBars(plot: BarPlot): string {
  const values = plot.groups.flatMap(({ bars }) => bars.map(({ value }) => value));
  const end = plot.end ?? Math.max(...values, 0);
  const length = (value: number) => (end === 0 ? 0 : (value / end) * (WIDTH - NAME - VALUE));
  const rows = stack(plot.groups.map(({ label, bars }) => ({ label, rows: bars })));
  return document(plot, rows.height, [
    ...rows.headings,
    `<line class="axis" x1="${NAME}" y1="0" x2="${NAME}" y2="${rows.height}"/>`,
    ...rows.placed.map(({ row, y }) => {
      const width = round(Math.max(0, length(row.value)));
      return [
        nameOf(row.name, y),
        `<rect class="fill s${row.series}" x="${NAME}" y="${y + 4}" width="${width}" height="${ROW - 8}"/>`,
        `<text x="${round(NAME + width + 6)}" y="${y + 17}">${escapeXml(row.text)}</text>`,
      ].join('');
    }),
  ]);
}

export function drawForest(plot: ForestPlot): string {
  const all = plot.groups.flatMap(({ rows }) => rows);
  const reach = Math.max(
    ...all.map(({ value, interval }) =>
      Math.max(Math.abs(value), Math.abs(interval?.low ?? 0), Math.abs(interval?.high ?? 0)),
    ),
    0.01,
  );
  const half = (WIDTH - NAME - INTERVAL) / 2;
  const x = (value: number) => round(NAME + half + (value / reach) * half);
  const rows = stack(plot.groups);
  const ends = [-reach, reach].map((value) => signed(value));
  return document(plot, rows.height + 44, [
    ...rows.headings,
    `<line class="axis" x1="${x(0)}" y1="0" x2="${x(0)}" y2="${rows.height}"/>`,
    ...rows.placed.map(({ row, y }) => {
      const { interval, value, series, certain } = row;
      const range = interval ? ` [${signed(interval.low)}, ${signed(interval.high)}]` : '';
      return [
        nameOf(row.name, y),
        ...(interval
          ? [
              `<line class="stroke s${series}" x1="${x(interval.low)}" y1="${y + 12}" x2="${x(interval.high)}" y2="${y + 12}"/>`,
            ]
          : []),
        `<circle class="${certain ? 'fill' : 'hollow'} s${series}" cx="${x(value)}" cy="${y + 12}" r="5"><title>${escapeXml(`${row.name}: ${signed(value)}${range}`)}</title></circle>`,
        `<text x="${WIDTH}" y="${y + 17}" text-anchor="end">${signed(value)}<tspan class="dim">${range}</tspan></text>`,
      ].join('');
    }),
    `<line class="axis" x1="${x(-reach)}" y1="${rows.height}" x2="${x(reach)}" y2="${rows.height}"/>`,
    `<text class="dim" x="${x(-reach)}" y="${rows.height + 18}">${ends[0]}</text>`,
    `<text class="dim" x="${x(0)}" y="${rows.height + 18}" text-anchor="middle">0</text>`,
    `<text class="dim" x="${x(reach)}" y="${rows.height + 18}" text-anchor="end">${ends[1]}</text>`,
    `<text class="dim" x="${x(-reach)}" y="${rows.height + 38}">${escapeXml(plot.sides[0])}</text>`,
    `<text class="dim" x="${x(reach)}" y="${rows.height + 38}" text-anchor="end">${escapeXml(plot.sides[1])}</text>`,
  ]);
}

/** Formats a difference with its sign. */
export function signed(value: number): string {
  const text = Math.abs(value).toFixed(3);
  if (Number(text) === 0) return text;
  return `${value < 0 ? '−' : '+'}${text}`;
}

/** Places rows below their headings. A heading without a label takes no space. */
function stack<Row>(groups: readonly { readonly label: string; readonly rows: readonly Row[] }[]): {
  readonly headings: readonly string[];
  readonly placed: readonly { readonly row: Row; readonly y: number }[];
  readonly height: number;
} {
  const headings: string[] = [];
  const placed: { row: Row; y: number }[] = [];
  let y = 0;
  for (const { label, rows } of groups) {
    if (label !== '') {
      headings.push(`<text class="heading" x="0" y="${y + 20}">${escapeXml(label)}</text>`);
      y += HEADING;
    }
    for (const row of rows) {
      placed.push({ row, y });
      y += ROW;
    }
    y += GAP;
  }
  return { headings, placed, height: y };
}

function nameOf(name: string, y: number): string {
  const characters = [...name];
  const short =
    characters.length <= NAME_CHARACTERS ? name : `${characters.slice(0, NAME_CHARACTERS - 1).join('')}…`;
  return `<text x="${NAME - 8}" y="${y + 17}" text-anchor="end">${escapeXml(short)}</text>`;
}

function document(
  { title, description }: { readonly title: string; readonly description: string },
  height: number,
  parts: readonly string[],
): string {
  return [
    '<figure>',
    `<figcaption>${escapeXml(title)}</figcaption>`,
    `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeXml(description)}">`,
    ...parts,
    '</svg>',
    '</figure>',
  ].join('\n');
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

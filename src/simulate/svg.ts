import { escapeXml } from '../domain/escape-xml.ts';

/** A plot of lines over a common x, as plain data. */
export interface LinePlot {
  readonly title: string;
  /** A description of the plot for readers who cannot see it. */
  readonly description: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** The x axis goes from 0 to here; the y axis from 0 to 1. */
  readonly xMax: number;
  readonly series: readonly PlotSeries[];
  /** The shapes of the kinds of marks, in the order of the legend, which lists only kinds that occur. */
  readonly shapes: Readonly<Record<string, MarkShape>>;
}

export type MarkShape = 'star' | 'circle' | 'square' | 'triangle' | 'cross' | 'diamond';

export interface PlotSeries {
  readonly name: string;
  readonly points: readonly PlotPoint[];
  readonly marks: readonly PlotMark[];
}

export interface PlotPoint {
  readonly x: number;
  readonly y: number;
}

/** An event on a line, drawn in the shape of its kind. */
export interface PlotMark extends PlotPoint {
  readonly kind: string;
}

// Eight colours that are distinguishable with any type of colour vision. Source: Okabe and Ito, 2002. Their black and
// yellow are replaced by a grey and a darker yellow, which are visible on white.
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#5a5a5a', '#a58a00'];
/** If there are more lines than colours, dashes distinguish them. */
const DASHES = ['', '7 4', '2 3', '10 3 2 3'];

const WIDTH = 960;
const PLOT = { left: 64, top: 56, width: 660, height: 380 };
const LEGEND_X = PLOT.left + PLOT.width + 28;
const LEGEND_ROW = 24;
const NAME_CHARACTERS = 24;
const STEPS = [1, 2, 5, 7, 14, 30, 60, 90, 180, 365, 730];
const MOST_TICKS = 13;

/** Draws the plot as a self-contained SVG document without fonts, scripts or styles. */
export function drawLinePlot(plot: LinePlot): string {
  const used = new Set(plot.series.flatMap(({ marks }) => marks.map(({ kind }) => kind)));
  const kinds = Object.entries(plot.shapes).filter(([kind]) => used.has(kind));
  const legendRows = plot.series.length + (kinds.length > 0 ? kinds.length + 1 : 0);
  const height = Math.max(PLOT.top + PLOT.height + 64, PLOT.top + legendRows * LEGEND_ROW + 24);
  const x = (value: number) => PLOT.left + (value / plot.xMax) * PLOT.width;
  const y = (value: number) => PLOT.top + (1 - value) * PLOT.height;
  const scale: Scale = { x, y };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title description" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="13" fill="#222">`,
    `<title id="title">${escapeXml(plot.title)}</title>`,
    `<desc id="description">${escapeXml(plot.description)}</desc>`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="${PLOT.left}" y="32" font-size="17" font-weight="600">${escapeXml(plot.title)}</text>`,
    ...drawAxes(plot, scale),
    ...plot.series.map((series, index) => drawSeries(series, index, scale)),
    // All marks are drawn above all lines.
    ...plot.series.flatMap((series, index) =>
      series.marks.map((mark) =>
        drawMark(
          scale.x(mark.x),
          scale.y(mark.y),
          plot.shapes[mark.kind] ?? 'circle',
          colourOf(index),
          `${series.name}: ${mark.kind}, ${round(mark.x)}`,
        ),
      ),
    ),
    ...drawLegend(plot.series, kinds),
    '</svg>',
    '',
  ].join('\n');
}

interface Scale {
  x(value: number): number;
  y(value: number): number;
}

function drawAxes({ xMax, xLabel, yLabel }: LinePlot, { x, y }: Scale): readonly string[] {
  const bottom = PLOT.top + PLOT.height;
  const right = PLOT.left + PLOT.width;
  const middle = round(PLOT.top + PLOT.height / 2);
  const rows = [0, 0.2, 0.4, 0.6, 0.8, 1].flatMap((value) => [
    `<line x1="${PLOT.left}" y1="${round(y(value))}" x2="${right}" y2="${round(y(value))}" stroke="${value === 0 ? '#444' : '#e2e2e2'}"/>`,
    `<text x="${PLOT.left - 10}" y="${round(y(value) + 4.5)}" text-anchor="end">${value.toFixed(1)}</text>`,
  ]);
  const columns = ticksTo(xMax).flatMap((value) => [
    `<line x1="${round(x(value))}" y1="${bottom}" x2="${round(x(value))}" y2="${bottom + 5}" stroke="#444"/>`,
    `<text x="${round(x(value))}" y="${bottom + 21}" text-anchor="middle">${value}</text>`,
  ]);
  return [
    ...rows,
    ...columns,
    `<text x="${round(PLOT.left + PLOT.width / 2)}" y="${bottom + 46}" text-anchor="middle">${escapeXml(xLabel)}</text>`,
    `<text x="20" y="${middle}" text-anchor="middle" transform="rotate(-90 20 ${middle})">${escapeXml(yLabel)}</text>`,
  ];
}

/** Returns round tick values from 0 to `end`, few enough to be readable. */
function ticksTo(end: number): readonly number[] {
  const step = STEPS.find((each) => end / each < MOST_TICKS) ?? Math.ceil(end / (MOST_TICKS - 1));
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step);
}

function drawSeries({ name, points }: PlotSeries, index: number, { x, y }: Scale): string {
  // Points inside a level stretch are redundant.
  const shown = points.filter(({ y: at }, each) => at !== points[each - 1]?.y || at !== points[each + 1]?.y);
  const path = shown.map((point) => `${round(x(point.x))},${round(y(point.y))}`).join(' ');
  return `<polyline points="${path}" fill="none" stroke="${colourOf(index)}" stroke-width="2" stroke-linejoin="round"${dashOf(index)}><title>${escapeXml(name)}</title></polyline>`;
}

function drawLegend(
  series: readonly PlotSeries[],
  kinds: readonly (readonly [kind: string, shape: MarkShape])[],
): readonly string[] {
  const baseline = (row: number) => PLOT.top + 12 + row * LEGEND_ROW;
  const names = series.map(({ name }, index) => {
    const at = baseline(index);
    return `<line x1="${LEGEND_X}" y1="${at - 4}" x2="${LEGEND_X + 28}" y2="${at - 4}" stroke="${colourOf(index)}" stroke-width="3"${dashOf(index)}/><text x="${LEGEND_X + 38}" y="${at}">${escapeXml(shorten(name))}</text>`;
  });
  const marks = kinds.map(([kind, shape], index) => {
    const at = baseline(series.length + 1 + index);
    return `${drawMark(LEGEND_X + 14, at - 4, shape, '#222')}<text x="${LEGEND_X + 38}" y="${at}">${escapeXml(kind)}</text>`;
  });
  return [...names, ...marks];
}

function drawMark(cx: number, cy: number, shape: MarkShape, colour: string, title?: string): string {
  const hint = title === undefined ? '' : `<title>${escapeXml(title)}</title>`;
  if (shape === 'circle') {
    return `<circle cx="${round(cx)}" cy="${round(cy)}" r="5.5" fill="#fff" stroke="${colour}" stroke-width="2">${hint}</circle>`;
  }
  const points = OUTLINES[shape].map(([dx, dy]) => `${round(cx + dx)},${round(cy + dy)}`).join(' ');
  return `<polygon points="${points}" fill="${shape === 'star' || shape === 'cross' ? colour : '#fff'}" stroke="${colour}" stroke-width="${shape === 'star' || shape === 'cross' ? 1 : 2}">${hint}</polygon>`;
}

/** The corners of each shape, relative to the centre of the mark. */
const OUTLINES: Readonly<Record<Exclude<MarkShape, 'circle'>, readonly (readonly [number, number])[]>> = {
  star: [
    [0, -9],
    [2.2, -3],
    [8.6, -2.8],
    [3.5, 1.2],
    [5.3, 7.3],
    [0, 3.7],
    [-5.3, 7.3],
    [-3.5, 1.2],
    [-8.6, -2.8],
    [-2.2, -3],
  ],
  square: [
    [-5, -5],
    [5, -5],
    [5, 5],
    [-5, 5],
  ],
  triangle: [
    [0, -6.5],
    [6, 4.5],
    [-6, 4.5],
  ],
  cross: [
    [-6, -4],
    [-4, -6],
    [0, -2],
    [4, -6],
    [6, -4],
    [2, 0],
    [6, 4],
    [4, 6],
    [0, 2],
    [-4, 6],
    [-6, 4],
    [-2, 0],
  ],
  diamond: [
    [0, -7],
    [7, 0],
    [0, 7],
    [-7, 0],
  ],
};

function colourOf(index: number): string {
  return COLOURS[index % COLOURS.length] as string;
}

function dashOf(index: number): string {
  const dash = DASHES[Math.floor(index / COLOURS.length) % DASHES.length];
  return dash ? ` stroke-dasharray="${dash}"` : '';
}

function shorten(name: string): string {
  const characters = [...name];
  return characters.length <= NAME_CHARACTERS
    ? name
    : `${characters.slice(0, NAME_CHARACTERS - 1).join('')}…`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

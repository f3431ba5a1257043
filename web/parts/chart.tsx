import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import { useCell } from '../cell.ts';
import { theme } from '../theme.ts';
import { coloursOf } from './colours.ts';

export interface Series {
  readonly title: string;
  /** A colour token, such as `--part-0`. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  /** Steps instead of lines between the points. */
  readonly bars?: boolean | undefined;
}

const HEIGHT = 200;
/** In seconds. */
const HALF_DAY = 43_200;

const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `4 Nov`, of seconds since 1970. */
function dayOf(seconds: number): string {
  return DAY.format(seconds * 1000);
}

/** A chart of lines over time. Callers must also show the data as a list or table. Load it lazily: it weighs 22 KB. */
export default function Chart({
  times,
  series,
  min,
  max,
}: {
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}) {
  const box = useRef<HTMLDivElement>(null);
  const look = useCell(theme);
  useEffect(() => {
    const place = box.current;
    if (!place) return undefined;
    // A canvas keeps the colours that it was drawn with; those of the page change with the system and on paper.
    const draw = () => {
      const colour = coloursOf(place);
      const bars = series.some((each) => each.bars);
      const axis = {
        stroke: colour('--text-quiet'),
        grid: { stroke: colour('--line'), width: 1 },
        ticks: { stroke: colour('--line'), width: 1 },
      };
      return new UPlot(
        {
          width: place.clientWidth,
          height: HEIGHT,
          // The days of the logs are those of UTC.
          tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'UTC'),
          scales: {
            // Half a day of margin on both sides, so that the first and last bars are as wide as the others.
            ...(bars ? { x: { range: (_, first, end) => [first - HALF_DAY, end + HALF_DAY] } } : {}),
            y: { range: (_, low, high) => [min ?? low, max ?? high] },
          },
          axes: [
            { ...axis, values: (_, days) => days.map(dayOf) },
            { ...axis, size: 48 },
          ],
          legend: { show: series.length > 1 },
          series: [
            { label: 'day', value: (_: UPlot, at: number | null) => (at === null ? '' : dayOf(at)) },
            ...series.map((each) => ({
              label: each.title,
              // No value if the pointer is on no day.
              value: (_: UPlot, value: number | null) => (value === null ? '' : String(value)),
              stroke: colour(each.colour),
              width: 2,
              ...(each.bars
                ? { paths: UPlot.paths.bars?.({ size: [0.7, 40] }), fill: colour(each.colour) }
                : {}),
            })),
          ] as UPlot.Series[],
        },
        [times, ...series.map(({ values }) => values)] as unknown as UPlot.AlignedData,
        place,
      );
    };
    let plot = draw();
    const redraw = () => {
      plot.destroy();
      plot = draw();
    };
    const isDark = matchMedia('(prefers-color-scheme: dark)');
    isDark.addEventListener('change', redraw);
    addEventListener('beforeprint', redraw);
    addEventListener('afterprint', redraw);
    const watch = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }));
    watch.observe(place);
    return () => {
      watch.disconnect();
      isDark.removeEventListener('change', redraw);
      removeEventListener('beforeprint', redraw);
      removeEventListener('afterprint', redraw);
      plot.destroy();
    };
  }, [times, series, min, max, look]);
  return <div ref={box} class="chart" />;
}

import { type BootstrapOptions, bootstrapIntervals, type Interval } from './bootstrap.ts';

/** With fewer pairs or spaces, the intervals would be too narrow to be valid. */
const LEAST_PAIRS = 10;
const LEAST_SPACES = 5;

/** The mean of paired differences, with its intervals. */
export interface PairedDifference {
  /** The mean after minus the mean before. */
  readonly difference: number;
  /** The 95 % interval of the paired bootstrap over queries. Absent with fewer than 10 pairs. */
  readonly interval?: Interval;
  /** The same interval over whole spaces, and their number `n`. Absent with fewer than 10 pairs or 5 spaces. */
  readonly spaces?: Interval & { readonly n: number };
  /** Whether every present interval excludes 0; false if there is none. */
  readonly certain: boolean;
}

/** Summarises each column of differences, which has one value per pair. `groups` are the spaces. */
export function pairedDifferences(
  columns: readonly (readonly number[])[],
  options: BootstrapOptions & { readonly weights: readonly number[]; readonly groups: readonly string[] },
): readonly PairedDifference[] {
  const { weights, groups, ...drawing } = options;
  const n = groups.length;
  const spaces = new Set(groups).size;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const intervals = n < LEAST_PAIRS ? undefined : bootstrapIntervals(columns, { ...drawing, weights });
  const bySpace = n < LEAST_PAIRS || spaces < LEAST_SPACES ? undefined : bootstrapIntervals(columns, options);
  return columns.map((column, at) => {
    const [interval, ofSpaces] = [intervals?.[at], bySpace?.[at]];
    return {
      difference: column.reduce((sum, each, index) => sum + each * (weights[index] ?? 1), 0) / total,
      ...(interval && { interval }),
      ...(ofSpaces && { spaces: { n: spaces, ...ofSpaces } }),
      certain: excludesZero(interval) && (ofSpaces === undefined || excludesZero(ofSpaces)),
    };
  });
}

function excludesZero(interval: Interval | undefined): boolean {
  return interval !== undefined && (interval.low > 0 || interval.high < 0);
}

import { type BootstrapOptions, bootstrapIntervals, type Interval } from './bootstrap.ts';

/** Fewer pairs give intervals that are too narrow to be believed. */
const LEAST_PAIRS = 10;
const LEAST_SPACES = 5;

/** The mean of paired differences, and how sure it is. */
export interface PairedDifference {
  /** The mean of what comes after minus that of what was before. */
  readonly difference: number;
  /** 95 % of the paired bootstrap over queries. Absent with fewer than `LEAST_PAIRS`, where it would say too much. */
  readonly interval?: Interval;
  /** The same where whole spaces are drawn, of which there are so many. Absent with fewer than `LEAST_SPACES`. */
  readonly spaces?: Interval & { readonly n: number };
  /** Whether every interval there is excludes 0; false without any. */
  readonly certain: boolean;
}

/** For each column of differences, one a pair. `groups` are the spaces. */
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

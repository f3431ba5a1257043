import type { Similarities } from './fill.ts';
import { classesOfGroup, groupOf, type Reach, reachOf, reachOfGroup } from './groups.ts';
import { SCAN_ROWS } from './kernel/codes.ts';
import { GROUP_ROWS } from './kernel/scan.ts';
import { placeAfter } from './lexical.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { Skim } from './skim.ts';

/** Skips rows group by group, and splits the groups that are left into runs. */
export interface Passing {
  readonly reach: Reach;
  /** Returns the first place from `start` on whose row is in a group that is not skipped. */
  next(rows: Int32Array, start: number): number;
  /**
   * Begins a run of groups at the group of `row`: at most `SCAN_ROWS` rows, and no group that is skipped. Returns the
   * row before which the run ends.
   */
  begin(row: number): number;
  /** By band and level: up to which similarity all such rows of the run are skipped. */
  readonly least: Float64Array;
  /** Returns the highest band of the rows of the run. */
  band(): number;
  /**
   * Records that `count` rows of the run were skipped, whatever their class, and that none of them reaches more than
   * `highest`.
   */
  end(count: number, highest: number): void;
}

export function createPassing(
  index: ResidentIndex,
  { areAlike, bandCount, bandOf, bandSize, classOf, cuts, levels, levelCount, passed, tops }: Skim,
  { peaks, scale, residual }: Similarities,
): Passing {
  const { groups, size } = index;
  const reach = reachOf(scale, residual);
  const { counts, highest } = passed;
  const sessionClasses = bandSize / levelCount;
  const allClasses = (1 << sessionClasses) - 1;
  const least = new Float64Array(bandCount * levelCount).fill(-1);
  let runClasses = 0;
  let runLevels = 0;
  let runBand = 0;
  const classesOf = (group: number) => classesOfGroup(groups, group, classOf, allClasses);
  const levelsOf = (group: number) => (levels ? levels.ofGroup[group]! : 1);
  const bandOfGroup = (group: number) => (tops ? bandOf[tops[group]!]! : 0);
  /** Whether `holds` for every class that rows with these sessions, levels and bands up to `highestBand` can have. */
  const every = (
    classes: number,
    ofLevels: number,
    highestBand: number,
    holds: (each: number, level: number) => boolean,
  ) => {
    for (let band = highestBand; band >= 0; band--) {
      for (let left = classes; left !== 0; left &= left - 1) {
        const from = band * bandSize + (31 - Math.clz32(left & -left)) * levelCount;
        for (let level = 0; level < levelCount; level++) {
          if ((ofLevels & (1 << level)) === 0) continue;
          if (!holds(from + level, band * levelCount + level)) return false;
        }
      }
    }
    return true;
  };
  const raise = (classes: number, ofLevels: number, band: number, high: number) =>
    every(classes, ofLevels, band, (each) => {
      // A skipped row never reaches more than its cut.
      highest[each] = Math.max(highest[each]!, Math.min(high, cuts[each]!));
      return true;
    });
  const isPassed = (group: number): boolean => {
    const high = reachOfGroup(groups, group, peaks[group]!, reach);
    const classes = classesOf(group);
    const ofLevels = levelsOf(group);
    const band = bandOfGroup(group);
    let isKnown = true;
    const isBelow = every(classes, ofLevels, band, (each) => {
      isKnown &&= high <= highest[each]!;
      return high <= cuts[each]!;
    });
    // If sessions make no difference, few groups are left, and their rows reach less than the bound of the group.
    if (!isBelow || (!isKnown && sessionClasses === 1)) return false;
    if (!isKnown) raise(classes, ofLevels, band, high);
    return true;
  };
  return {
    reach,
    least,
    next(rows, start) {
      if (!areAlike) return start;
      let at = start;
      while (at < rows.length) {
        const first = groupOf(rows[at]!);
        const last = groupOf(rows[rows.length - 1]!);
        let group = first;
        while (group <= last && isPassed(group)) group++;
        if (group === first) break;
        at = placeAfter(rows, group * GROUP_ROWS, at);
      }
      return at;
    },
    begin(row) {
      const first = groupOf(row);
      const most = Math.min(first + SCAN_ROWS / GROUP_ROWS, groupOf(size - 1) + 1);
      let group = first;
      runClasses = 0;
      runLevels = 0;
      runBand = 0;
      do {
        runClasses |= classesOf(group);
        runLevels |= levelsOf(group);
        runBand = Math.max(runBand, bandOfGroup(group));
        group++;
      } while (group < most && !(areAlike && isPassed(group)));
      if (areAlike) {
        least.fill(Infinity);
        every(runClasses, runLevels, runBand, (each, at) => {
          least[at] = Math.min(least[at]!, cuts[each]!);
          return true;
        });
      }
      return group * GROUP_ROWS;
    },
    band: () => runBand,
    end(count, high) {
      counts[counts.length - 1]! += count;
      if (high > 0) raise(runClasses, runLevels, runBand, high);
    },
  };
}

import type { Similarities } from './fill.ts';
import { classesOfGroup, groupOf, type Reach, reachOf, reachOfGroup } from './groups.ts';
import { SCAN_ROWS } from './kernel/codes.ts';
import { GROUP_ROWS } from './kernel/scan.ts';
import { placeAfter } from './lexical.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { Skim } from './skim.ts';

/** Passes over rows group by group, and tells what of those that are left is looked at next. */
export interface Passing {
  readonly reach: Reach;
  /** The first place, from one on, whose row is in a group that is not passed over. */
  next(rows: Int32Array, start: number): number;
  /**
   * Begins a run of groups at a row's: at most `SCAN_ROWS`, and none that is passed over. Returns the row before which it ends.
   */
  begin(row: number): number;
  /** By band, and in it by level, of the rows of a run: up to which similarity all of them are passed over. */
  readonly least: Float64Array;
  /** The highest band of the rows of a run. */
  band(): number;
  /** Takes down that rows of a run, none of which reaches more than so much, were passed over, whatever their classes. */
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
  /** Whether something holds of every class that rows of these sessions and levels, and of bands up to one, can have. */
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
      // No row that is passed over reaches more than its cut.
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
    // Where sessions make no difference, few groups are left, and what their rows reach is less than what the group does.
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

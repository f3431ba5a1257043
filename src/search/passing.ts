import type { Similarities } from './fill.ts';
import { classesOfGroup, productWithin, reachOf, setLine } from './groups.ts';
import { NO_PRODUCT } from './kernel/scan.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { Skim } from './skim.ts';

/** What the rows of a group can be, so that most of them are skipped without looking up their classes. */
export interface Passing {
  readonly index: ResidentIndex;
  readonly skim: Skim;
  readonly similarities: Similarities;
  /** The classes that rows of the group can have, and how many there are. */
  readonly classes: Uint16Array;
  count: number;
  /** By band and level: rows of the group are skipped up to this similarity, whatever the class of their session. */
  readonly leasts: Float64Array;
  /** The line of the group; see {@link setLine}. */
  factor: number;
  margin: number;
  /** Rows of the group with products up to this are skipped; `NO_PRODUCT` if that is not known of any. */
  most: number;
}

export function createPassing(index: ResidentIndex, skim: Skim, similarities: Similarities): Passing {
  return {
    index,
    skim,
    similarities,
    classes: new Uint16Array(skim.cuts.length),
    count: 0,
    leasts: new Float64Array(skim.bandCount * skim.levelCount).fill(-Infinity),
    factor: Number.NaN,
    margin: Number.NaN,
    most: NO_PRODUCT,
  };
}

/** Begins a group. Returns whether all of its rows are skipped. */
export function passesOver(passing: Passing, group: number): boolean {
  const { index, skim, similarities, classes } = passing;
  // Otherwise the class of each row has to be known.
  if (!skim.areAlike) return false;
  listClasses(passing, group);
  let least = Infinity;
  for (let at = 0; at < passing.count; at++) least = Math.min(least, skim.cuts[classes[at]!]!);
  setLine(passing, index.groups, group, similarities.scale, similarities.residual);
  passing.most = productWithin(passing, least);
  const peak = similarities.peaks[group]!;
  if (peak > passing.most) {
    setLeasts(passing);
    return false;
  }
  raiseHighest(passing, reachOf(passing, peak));
  return true;
}

function listClasses(passing: Passing, group: number): void {
  const { index, skim, classes } = passing;
  const { bandOf, bandSize, classOf, levels, levelCount, tops } = skim;
  const all = (1 << (bandSize / levelCount)) - 1;
  const ofSessions = classesOfGroup(index.groups, group, classOf, all);
  const ofLevels = levels ? levels.ofGroup[group]! : 1;
  const topBand = tops ? bandOf[tops[group]!]! : 0;
  let count = 0;
  for (let band = 0; band <= topBand; band++) {
    for (let sessions = ofSessions; sessions !== 0; sessions &= sessions - 1) {
      const from = band * bandSize + (31 - Math.clz32(sessions & -sessions)) * levelCount;
      for (let left = ofLevels; left !== 0; left &= left - 1)
        classes[count++] = from + 31 - Math.clz32(left & -left);
    }
  }
  passing.count = count;
}

function setLeasts({ skim, classes, count, leasts }: Passing): void {
  const { bandSize, cuts, levelCount } = skim;
  leasts.fill(Infinity);
  for (let at = 0; at < count; at++) {
    const each = classes[at]!;
    const place = Math.floor(each / bandSize) * levelCount + (each % levelCount);
    leasts[place] = Math.min(leasts[place]!, cuts[each]!);
  }
}

/** Records that rows of the group with similarities of at most `high` were skipped. */
export function raiseHighest({ skim, classes, count }: Passing, high: number): void {
  const { cuts, passed } = skim;
  for (let at = 0; at < count; at++) {
    const each = classes[at]!;
    // A skipped row never reaches more than its cut.
    const most = high < cuts[each]! ? high : cuts[each]!;
    if (most > passed.highest[each]!) passed.highest[each] = most;
  }
}

import { type Columns, isKept, type KeptColumn, SLACK } from '../scoring/compile.ts';
import { conditionKnown } from '../scoring/condition.ts';
import { childrenOf, namesRead } from '../scoring/evaluate.ts';
import { gather } from '../scoring/gather.ts';
import type { Node } from '../scoring/operators/index.ts';
import { hull, type Interval, type Knowledge } from '../scoring/operators/interval.ts';
import type { ResolvedProfile } from '../scoring/profile.ts';
import { anything, intervalsOf } from '../scoring/range.ts';
import { isQuerySignal, isSignalName, SIGNALS } from '../scoring/signals.ts';
import type { QueryColumns } from './query-columns.ts';

/**
 * Which rows are passed over by their similarity alone. What no word of a query touches differs in nothing else that the
 * query says: for each class of such rows, the whole formula is bounded once, with every other part as high as it is anywhere.
 */
export interface Skim {
  /** Ascending: rows that are never passed over, visible or not. */
  readonly touched: Int32Array;
  /** By the index's number of a session: the class of it. */
  readonly classOf: Uint8Array;
  /** By row: between which values the part of the formula lies that counts most of what no query changes. One level is all of them. */
  readonly levels: Levels | undefined;
  /** How many levels there are. The class of a row is that of its session × this + its level. */
  readonly levelCount: number;
  /** Of each class: up to which similarity rows are passed over; `Infinity` for all of them, −1 for none. */
  readonly cuts: Float64Array;
  /** Raises the cuts to what cannot reach a score any more. */
  raise(threshold: number): void;
  /** Of each level: the lowest of its cuts, where rows of all classes count as the same; else −1. */
  readonly least: Float64Array;
  /**
   * How many rows of each class were passed over, and the highest similarity that one of them can have. The last entry is that of
   * rows whose class nobody looked at, as they were below the least of the cuts.
   */
  readonly passed: {
    readonly counts: Float64Array;
    readonly highest: Float64Array;
  };
  /** What rows that were passed over are counted as, and how high one of them can score. */
  outcome(): {
    readonly candidates: number;
    readonly belowFloor: number;
    readonly highest: number;
  };
}

/** What is known of a class of rows: whether they meet what the profile requires, and whether the floor leaves them out. */
type Standing = 'refused' | 'floored' | 'ranked';

/** Cuts are multiples of 1 / STEPS. */
const STEPS = 128;
/** How often a cut is drawn nearer. */
const MOST_ROUNDS = 4;
/** The cuts are raised again when the threshold has grown by this share. */
const GROWTH = 1.03;

/**
 * `undefined` where it would be of no use: a formula that reads nothing of the query, or what is not known of all rows.
 * `compared` says whether rows have a similarity at all.
 */
export function createSkim(
  { root, require, floor }: ResolvedProfile,
  columns: Columns,
  query: QueryColumns,
  compared: boolean,
): Skim | undefined {
  const { touched, classOf, classes: sessions } = query.untouched;
  const bounded = gather(floor ? floor.node : root);
  if (![...namesRead(bounded)].some((name) => isSignalName(name) && isQuerySignal(name))) return undefined;
  const found = levelsOf(bounded, columns, query);
  const levelCount = found?.ranges.length ?? 1;
  const classes = sessions.flatMap((of) =>
    Array.from({ length: levelCount }, (_, level): Class => ({ of, level: found?.ranges[level] })),
  );
  const ceiling = ceilingsOf(bounded, columns, query, classes, found?.node, compared);
  const verdictsOn = (each: number, similarity: number) => {
    const { of } = classes[each]!;
    const knowledge = knowledgeOf(query, of, () => (compared ? [0, similarity] : undefined));
    return require.map((condition) => conditionKnown(condition, knowledge));
  };
  /** Up to which similarity rows of a class fail a requirement, for certain. */
  const refusedUpTo = (each: number) => {
    const isRefused = (step: number) => verdictsOn(each, step / STEPS).includes(false);
    if (isRefused(STEPS)) return Infinity;
    return compared ? highestFor(isRefused) : -1;
  };
  const cuts = Float64Array.from(classes, (_, each) => refusedUpTo(each));
  const standings = classes.map((_, each): Standing | undefined => {
    if (cuts[each]! >= 0) return 'refused';
    if (verdictsOn(each, 1).includes(undefined)) return undefined;
    return floor ? 'floored' : 'ranked';
  });
  /** Of each class: how high it can score with a similarity of so many steps at most; NaN where nobody asked. */
  const known = classes.map(() => new Float64Array(STEPS + 1).fill(Number.NaN));
  const ceilingAt = (each: number, step: number) => {
    const ceilings = known[each]!;
    if (Number.isNaN(ceilings[step]!)) ceilings[step] = ceiling(each, [0, step / STEPS]);
    return ceilings[step]!;
  };
  const cutAt = (each: number, limit: number) => {
    const room = (step: number) => limit - SLACK - ceilingAt(each, step);
    if (!(room(0) > 0)) return -1;
    if (!compared) return Infinity;
    if (room(STEPS) > 0) return 1;
    let [low, high] = [Math.max(0, Math.floor(cuts[each]! * STEPS)), STEPS];
    // Most formulas are nearly straight in the similarity. A cut that is a little too low does no harm.
    for (let round = 0; round < MOST_ROUNDS && high - low > 1; round++) {
      const ahead = (high - low) * (room(low) / (room(low) - room(high)));
      if (ahead < 1) break;
      const step = Math.min(high - 1, low + Math.floor(ahead));
      if (room(step) > 0) low = step;
      else high = step;
    }
    return low / STEPS;
  };
  const areAlike = standings.every((standing) => standing !== undefined && standing === standings[0]);
  const least = new Float64Array(levelCount).fill(-1);
  const setLeast = () => {
    if (!areAlike) return;
    least.fill(Infinity);
    cuts.forEach((cut, each) => {
      least[each % levelCount] = Math.min(least[each % levelCount]!, cut);
    });
  };
  if (floor) {
    standings.forEach((standing, each) => {
      if (standing === 'floored') cuts[each] = cutAt(each, floor.atLeast);
    });
  }
  setLeast();
  const passed = {
    counts: new Float64Array(classes.length + 1),
    highest: new Float64Array(classes.length + 1),
  };
  let raisedFor = 0;
  return {
    touched,
    classOf,
    levels: found?.levels,
    levelCount,
    cuts,
    passed,
    least,
    raise(threshold) {
      if (floor || !(threshold >= raisedFor * GROWTH && threshold > 0)) return;
      raisedFor = threshold;
      standings.forEach((standing, each) => {
        if (standing === 'ranked') cuts[each] = Math.max(cuts[each]!, cutAt(each, threshold - SLACK));
      });
      setLeast();
    },
    outcome() {
      const total = { candidates: 0, belowFloor: 0, highest: 0 };
      const add = (standing: Standing | undefined, count: number) => {
        if (standing === 'floored') total.belowFloor += count;
        if (standing === 'ranked') total.candidates += count;
      };
      const unseen = classes.length;
      add(standings[0], passed.counts[unseen]!);
      for (const [each, standing] of standings.entries()) {
        add(standing, passed.counts[each]!);
        const isAny = passed.counts[each]! + passed.counts[unseen]! > 0;
        if (standing !== 'ranked' || !isAny) continue;
        const similarity = Math.max(passed.highest[each]!, passed.highest[unseen]!);
        // Sums are added up in another order than in scores, which may lie a rounding above.
        const high = ceiling(each, [0, similarity]) + SLACK;
        // What was passed over is below what it was compared with, whatever others of its class reach.
        total.highest = Math.max(total.highest, Math.min(high, raisedFor));
      }
      return total;
    },
  };
}

/** The highest similarity, in steps, for which something holds that holds for all lower ones too; −1 where it holds for none. */
function highestFor(holds: (step: number) => boolean): number {
  let [yes, no] = [-1, STEPS + 1];
  while (no - yes > 1) {
    const middle = (yes + no) >> 1;
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes < 0 ? -1 : yes / STEPS;
}

/** How high rows of a class can score whose similarity lies in an interval. */
type Ceiling = (each: number, similarity: Interval) => number;

/** Rows whose sessions have about the same words of a query, and that are about the same whatever the query. */
interface Class {
  readonly of: QueryColumns['untouched']['classes'][number];
  readonly level: Interval | undefined;
}

function ceilingsOf(
  root: Node,
  columns: Columns,
  query: QueryColumns,
  classes: readonly Class[],
  leveled: Node | undefined,
  compared: boolean,
): Ceiling {
  const fixed = fixedParts(root, columns);
  const ceilings = classes.map(({ of, level }) => {
    return ceilingOf(root, query, of, level && leveled ? new Map([...fixed, [leveled, level]]) : fixed);
  });
  return (each, similarity) => ceilings[each]!(compared ? similarity : undefined);
}

/** By row. */
export type Levels = Uint8Array;

/** Levels of a part, where sessions make no difference and where they do. */
const MOST_LEVELS = [16, 4] as const;
/** The share of the highest score that a part must decide about to be worth having levels. */
const LEVELED = 0.15;

interface Leveled {
  readonly node: Node;
  readonly levels: Levels;
  readonly ranges: readonly Interval[];
}

/** The part that no query changes on which scores depend most, and its levels; `undefined` where none counts for much. */
function levelsOf(root: Node, columns: Columns, query: QueryColumns): Leveled | undefined {
  const fixed = fixedParts(root, columns);
  const { classes } = query.untouched;
  const of = classes.at(-1)!;
  const highest = (parts: ReadonlyMap<Node, Interval>) => ceilingOf(root, query, of, parts)([0, 1]);
  const whole = highest(fixed);
  let best: { readonly node: Node; readonly range: Interval; readonly high: number } | undefined;
  for (const [node, range] of fixed) {
    const high = highest(new Map([...fixed, [node, [range[0], range[0]] as const]]));
    if (high < (best?.high ?? whole * (1 - LEVELED))) best = { node, range, high };
  }
  if (!best) return undefined;
  const column = columns.kept!(best.node)!;
  return { node: best.node, ...levelsAlong(column, best.range, MOST_LEVELS[classes.length > 1 ? 1 : 0]) };
}

const along = new WeakMap<KeptColumn, ReturnType<typeof levelsAlong>>();

/** Equal steps of the upper bounds, and between which values all bounds of a level lie. */
function levelsAlong(column: KeptColumn, [low, high]: Interval, count: number): Omit<Leveled, 'node'> {
  const known = along.get(column);
  if (known?.ranges.length === count) return known;
  const width = (high - low) / count;
  const levels = new Uint8Array(column.high.length);
  const lows = new Float64Array(count).fill(Infinity);
  const highs = new Float64Array(count).fill(-Infinity);
  for (let row = 0; row < levels.length; row++) {
    const upper = column.high[row]!;
    const level = Math.max(0, Math.min(count - 1, Math.floor((upper - low) / width)));
    levels[row] = level;
    if (column.low[row]! < lows[level]!) lows[level] = column.low[row]!;
    if (upper > highs[level]!) highs[level] = upper;
  }
  // A level that no row has is never asked for.
  const ranges = Array.from(
    lows,
    (least, level): Interval => [Math.min(least, high), Math.max(low, highs[level]!)],
  );
  const found = { levels, ranges };
  along.set(column, found);
  return found;
}

/** How high rows of one class can score: what does not depend on their similarity is worked out once. */
function ceilingOf(
  root: Node,
  query: QueryColumns,
  of: QueryColumns['untouched']['classes'][number],
  fixed: ReadonlyMap<Node, Interval>,
): (similarity: Interval | undefined) => number {
  let similarity: Interval | undefined;
  let isKnown = true;
  const still = new Map<Node, Interval | undefined>(fixed);
  const knowledge = knowledgeOf(query, of, () => similarity);
  const intervals = intervalsOf({
    ...knowledge,
    age(of) {
      isKnown = false;
      return knowledge.age(of);
    },
    formula(node) {
      const known = still.get(node);
      if (known || still.has(node)) return known;
      still.set(node, undefined);
      if (!namesRead(node).has('similarity')) still.set(node, intervals.of(node));
      return still.get(node);
    },
  });
  return (given) => {
    similarity = given;
    const [, high] = intervals.of(root);
    // What cannot be evaluated is evaluated all the same, and reported.
    return isKnown ? high : Infinity;
  };
}

/** What is known of a row whose class and similarity are: the rest may be anything. */
function knowledgeOf(
  query: QueryColumns,
  of: QueryColumns['untouched']['classes'][number],
  similarity: () => Interval | undefined,
): Knowledge {
  return {
    ...anything,
    signal(name, missing) {
      if (name === 'similarity') return similarity() ?? [missing, missing];
      if (!isQuerySignal(name)) return hull(SIGNALS[name].range, [missing, missing]);
      return query.known(name) ? of[name] : [missing, missing];
    },
    known(name) {
      if (!isSignalName(name) || !isQuerySignal(name)) return undefined;
      return name === 'similarity' ? similarity() !== undefined : query.known(name);
    },
  };
}

/** The largest parts of a formula that no query changes: between which values they lie, over all rows. */
function fixedParts(root: Node, columns: Columns): ReadonlyMap<Node, Interval> {
  const fixed = new Map<Node, Interval>();
  const look = (node: Node) => {
    const range = isKept(node) ? columns.kept?.(node)?.range : undefined;
    if (range) fixed.set(node, range);
    else for (const child of childrenOf(node)) look(child);
  };
  look(root);
  return fixed;
}

import { type Columns, isKept, SLACK } from '../scoring/compile.ts';
import { conditionKnown } from '../scoring/condition.ts';
import { childrenOf, namesRead } from '../scoring/evaluate.ts';
import type { Node } from '../scoring/operators/index.ts';
import { hull, type Interval, type Knowledge } from '../scoring/operators/interval.ts';
import type { ResolvedProfile } from '../scoring/profile.ts';
import { anything, intervalOf } from '../scoring/range.ts';
import { isQuerySignal, isSignalName, SIGNALS } from '../scoring/signals.ts';
import type { QueryColumns } from './query-columns.ts';

/**
 * Which rows are passed over by their similarity alone. What no word of a query touches differs in nothing else that the
 * query says: for each class of such rows, the whole formula is bounded once, with every other part as high as it is anywhere.
 */
export interface Skim {
  /** 1 for a row that is never passed over. */
  readonly touched: Uint8Array;
  /** By the index's number of a session: the class of its rows. */
  readonly classOf: Uint8Array;
  /** Of each class: up to which similarity rows are passed over; `Infinity` for all of them, −1 for none. */
  readonly cuts: Float64Array;
  /** Raises the cuts to what cannot reach a score any more. */
  raise(threshold: number): void;
  /** The lowest of the cuts, where rows of all classes count as the same; else −1. */
  readonly least: number;
  /**
   * How many rows of each class were passed over, and the highest similarity that one of them can have. The last entry is that of
   * rows whose class nobody looked at, as they were below the least of the cuts.
   */
  readonly passed: {
    readonly counts: Float64Array;
    readonly highest: Float64Array;
    /** One number: how many of them have a vector. An array, as a field that turns from whole numbers makes loops slow. */
    readonly withVector: Float64Array;
  };
  /** What rows that were passed over are counted as, and how high one of them can score. */
  outcome(): {
    readonly candidates: number;
    readonly belowFloor: number;
    readonly withVector: number;
    readonly highest: number;
  };
}

/** What is known of a class of rows: whether they meet what the profile requires, and whether the floor leaves them out. */
type Standing = 'refused' | 'floored' | 'ranked';

/** Halvings of the range of the similarity in which a cut is looked for. */
const HALVINGS = 8;
/** How far below the cut of a straight line the first guess is. */
const MARGIN = 0.005;
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
  const { touched, classOf, classes } = query.untouched;
  const bounded = floor ? floor.node : root;
  if (![...namesRead(bounded)].some((name) => isSignalName(name) && isQuerySignal(name))) return undefined;
  const ceilingOf = (node: Node) => {
    const fixed = fixedParts(node, columns);
    return (each: number, similarity: Interval): number => {
      const knowledge = knowledgeOf(query, classes[each]!, compared ? similarity : undefined);
      let isKnown = true;
      const [, high] = intervalOf(node, {
        ...knowledge,
        age(of) {
          isKnown = false;
          return knowledge.age(of);
        },
        formula: (of) => fixed.get(of),
      });
      // What cannot be evaluated is evaluated all the same, and reported.
      return isKnown ? high : Infinity;
    };
  };
  const ceiling = ceilingOf(bounded);
  const verdictsOn = (each: number, similarity: number) => {
    const knowledge = knowledgeOf(query, classes[each]!, compared ? [0, similarity] : undefined);
    return require.map((condition) => conditionKnown(condition, knowledge));
  };
  /** Up to which similarity rows of a class fail a requirement, for certain. */
  const refusedUpTo = (each: number) => {
    const isRefused = (similarity: number) => verdictsOn(each, similarity).includes(false);
    if (isRefused(1)) return Infinity;
    return compared && isRefused(0) ? highest(isRefused, 0, 1) : -1;
  };
  const cuts = Float64Array.from(classes, (_, each) => refusedUpTo(each));
  const standings = classes.map((_, each): Standing | undefined => {
    if (cuts[each]! >= 0) return 'refused';
    if (verdictsOn(each, 1).includes(undefined)) return undefined;
    return floor ? 'floored' : 'ranked';
  });
  /** Of each class: how high it can score without similarity, and with any. */
  const ends: [number, number][] = [];
  const cutAt = (each: number, limit: number) => {
    if (!compared) return ceiling(each, [0, 0]) + SLACK < limit ? Infinity : -1;
    ends[each] ??= [ceiling(each, [0, 0]), ceiling(each, [0, 1])];
    const [least, most] = ends[each];
    if (most + SLACK < limit) return 1;
    if (!(least + SLACK < limit)) return -1;
    const isBelow = (similarity: number) => ceiling(each, [0, similarity]) + SLACK < limit;
    // Most formulas are nearly straight in the similarity.
    const guess = (limit - least) / (most - least) - MARGIN;
    if (guess > 0 && isBelow(guess)) return guess;
    return highest(isBelow, 0, 1);
  };
  const areAlike = standings.every((standing) => standing !== undefined && standing === standings[0]);
  let least = -1;
  const setLeast = () => {
    if (areAlike) least = Math.min(...cuts);
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
    withVector: new Float64Array(1),
  };
  let raisedFor = 0;
  return {
    touched,
    classOf,
    cuts,
    passed,
    get least() {
      return least;
    },
    raise(threshold) {
      if (floor || !(threshold >= raisedFor * GROWTH && threshold > 0)) return;
      raisedFor = threshold;
      standings.forEach((standing, each) => {
        if (standing === 'ranked') cuts[each] = Math.max(cuts[each]!, cutAt(each, threshold - SLACK));
      });
      setLeast();
    },
    outcome() {
      const total = { candidates: 0, belowFloor: 0, withVector: passed.withVector[0]!, highest: 0 };
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
        total.highest = Math.max(total.highest, ceiling(each, [0, similarity]) + SLACK);
      }
      return total;
    },
  };
}

/** About the highest value for which something holds that holds for `low`, and for whatever is lower. */
function highest(holds: (value: number) => boolean, low: number, high: number): number {
  let [yes, no] = [low, high];
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (yes + no) / 2;
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

/** What is known of a row whose class and similarity are: the rest may be anything. */
function knowledgeOf(
  query: QueryColumns,
  of: QueryColumns['untouched']['classes'][number],
  similarity: Interval | undefined,
): Knowledge {
  return {
    ...anything,
    signal(name, missing) {
      if (name === 'similarity') return similarity ?? [missing, missing];
      if (!isQuerySignal(name)) return hull(SIGNALS[name].range, [missing, missing]);
      return query.known(name) ? of[name] : [missing, missing];
    },
    known(name) {
      if (!isSignalName(name) || !isQuerySignal(name)) return undefined;
      return name === 'similarity' ? similarity !== undefined : query.known(name);
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

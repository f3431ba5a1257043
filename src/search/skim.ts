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
  /** How many rows of each class were passed over, and the highest similarity that one of them can have. */
  readonly passed: { readonly counts: Float64Array; readonly highest: Float64Array };
  /** What rows that were passed over are counted as, and how high one of them can score. */
  outcome(): { readonly candidates: number; readonly belowFloor: number; readonly highest: number };
}

/** What is known of a class of rows: whether they meet what the profile requires, and whether the floor leaves them out. */
type Standing = 'refused' | 'floored' | 'ranked';

/** Halvings of the range of the similarity: a cut is found to one in a thousand. */
const HALVINGS = 10;
/** The cuts are raised again when the threshold has grown by this share. */
const GROWTH = 1.02;

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
  const standings = classes.map((_, each): Standing | undefined => {
    const knowledge = knowledgeOf(query, classes[each]!, compared ? [0, 1] : undefined);
    const verdicts = require.map((condition) => conditionKnown(condition, knowledge));
    if (verdicts.some((verdict) => verdict === undefined)) return undefined;
    if (verdicts.includes(false)) return 'refused';
    return floor ? 'floored' : 'ranked';
  });
  const cuts = Float64Array.from(standings, (standing) => (standing === 'refused' ? Infinity : -1));
  const cutAt = (each: number, limit: number) => {
    if (!compared) return ceiling(each, [0, 0]) + SLACK < limit ? Infinity : -1;
    const isBelow = (similarity: number) => ceiling(each, [0, similarity]) + SLACK < limit;
    let low = Math.max(0, cuts[each]!);
    if (!isBelow(low)) return cuts[each]!;
    let high = 1;
    if (isBelow(high)) return high;
    for (let step = 0; step < HALVINGS; step++) {
      const middle = (low + high) / 2;
      if (isBelow(middle)) low = middle;
      else high = middle;
    }
    return low;
  };
  if (floor) {
    standings.forEach((standing, each) => {
      if (standing === 'floored') cuts[each] = cutAt(each, floor.atLeast);
    });
  }
  const passed = {
    counts: new Float64Array(classes.length),
    highest: new Float64Array(classes.length),
  };
  let raisedFor = 0;
  return {
    touched,
    classOf,
    cuts,
    passed,
    raise(threshold) {
      if (floor || !(threshold >= raisedFor * GROWTH && threshold > 0)) return;
      raisedFor = threshold;
      standings.forEach((standing, each) => {
        if (standing === 'ranked') cuts[each] = cutAt(each, threshold - SLACK);
      });
    },
    outcome() {
      const total = { candidates: 0, belowFloor: 0, highest: 0 };
      for (const [each, standing] of standings.entries()) {
        const count = passed.counts[each]!;
        if (count === 0) continue;
        if (standing === 'floored') total.belowFloor += count;
        if (standing !== 'ranked') continue;
        total.candidates += count;
        total.highest = Math.max(total.highest, ceiling(each, [0, passed.highest[each]!]));
      }
      return total;
    },
  };
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

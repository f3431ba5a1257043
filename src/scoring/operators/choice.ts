import type { Node } from './index.ts';
import { eitherAge, hull } from './interval.ts';
import type { Intervals, Moment, Operator } from './operator.ts';

interface Choice<Resolved> {
  children(node: Resolved): readonly Node[];
  /** Returns the child whose value counts for a memory. */
  choose(node: Resolved, moment: Moment): Node;
  /** Returns that child; `undefined` if what is known does not decide it. */
  chooseKnown(node: Resolved, intervals: Intervals): Node | undefined;
}

type Shared = 'children' | 'passes' | 'evaluate' | 'combine' | 'takes' | 'interval' | 'age';

/** The members shared by operators that pass on the value of one of their children. */
export function choice<Resolved extends Node>({
  children,
  choose,
  chooseKnown,
}: Choice<Resolved>): Pick<Operator<{ op: string }, Resolved, object>, Shared> & { readonly passes: true } {
  return {
    children,
    passes: true,
    evaluate: (node, walk) => walk.combine(node, [walk.of(choose(node, walk))]),
    combine: (_, [first = 0]) => first,
    takes: (inputs) => inputs === 1,
    interval(node, intervals) {
      const chosen = chooseKnown(node, intervals);
      return chosen ? intervals.of(chosen) : children(node).map(intervals.of).reduce(hull);
    },
    age(node, intervals) {
      const chosen = chooseKnown(node, intervals);
      return chosen ? intervals.ageOf(chosen) : children(node).map(intervals.ageOf).reduce(eitherAge);
    },
  };
}

import type { Instant } from '../domain/time.ts';
import { conditionHolds } from './condition.ts';
import { evaluate, namesRead } from './evaluate.ts';
import type { ResolvedProfile } from './profile.ts';
import { isClockName, isSignalName, SIGNALS, type Signal, type Signals } from './signals.ts';

/** A change of one signal that would have raised a score above a threshold. */
export interface NeededChange {
  readonly signal: string;
  readonly from: number | undefined;
  /** The nearest value found that is enough. */
  readonly to: number;
}

/** The bisection stops at this share of the distance, which is finer than anything people read. */
const PRECISION = 1e-6;

/**
 * Finds, for each signal and clock that a formula reads, a change of it alone that gives a score above `threshold`,
 * reaches the floor of the profile and meets its requirements. The given signals must meet the requirements. Found by
 * bisection: if a formula is not monotone in a signal, the change may not be the smallest, or none may be found.
 */
export function neededChanges(
  profile: ResolvedProfile,
  signals: Signals,
  now: Instant,
  threshold: number,
): readonly NeededChange[] {
  const { root, require, floor } = profile;
  const suffices = (changed: Signals) =>
    evaluate(root, changed, now) > threshold &&
    (!floor || evaluate(floor.node, changed, now) >= floor.atLeast);
  const meets = (changed: Signals) => require.every((each) => conditionHolds(each, changed, now));
  const names = new Set([...namesRead(root), ...(floor ? namesRead(floor.node) : [])]);
  return [...names].flatMap((name) => {
    const goals = isSignalName(name) ? signalGoals(name) : isClockName(name) ? [now] : [];
    const from = (signals as Readonly<Record<string, number | undefined>>)[name];
    const signal: Signal | undefined = isSignalName(name) ? SIGNALS[name] : undefined;
    const start = from ?? signal?.otherwise ?? now;
    const found = goals
      .map((goal) => nearest(start, goal, signal?.only, (value) => suffices({ ...signals, [name]: value })))
      .filter((value) => value !== undefined)
      .map((value) => (isClockName(name) ? Math.ceil(value) : value))
      // Not sooner: the ends of a range often fail a requirement that the nearest value still meets.
      .filter((value) => meets({ ...signals, [name]: value }))
      .sort((a, b) => Math.abs(a - start) - Math.abs(b - start));
    const to = found[0];
    return to === undefined ? [] : [{ signal: name, from, to }];
  });
}

function signalGoals(name: keyof typeof SIGNALS): readonly number[] {
  const [low, high] = SIGNALS[name].range;
  return [low, high === Infinity ? 1e6 : high];
}

/** Returns the value nearest to `start`, on the way to `goal`, that is enough; `undefined` if `goal` itself is not. */
function nearest(
  start: number,
  goal: number,
  only: Signal['only'],
  suffices: (value: number) => boolean,
): number | undefined {
  if (!suffices(goal)) return undefined;
  let failing = start;
  let sufficing = goal;
  const least = only === 'whole' ? 1 : only === 'ends' ? Infinity : PRECISION * Math.abs(goal - start);
  while (Math.abs(sufficing - failing) > least) {
    const between = failing + (sufficing - failing) / 2;
    const middle = only === 'whole' ? Math.round(between) : between;
    // Two moments a few milliseconds apart have no share of their distance between them that small.
    if (middle === failing || middle === sufficing) break;
    if (suffices(middle)) sufficing = middle;
    else failing = middle;
  }
  return sufficing;
}

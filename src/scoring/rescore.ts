import { SalienceError } from '../domain/errors.ts';
import type { Instant } from '../domain/time.ts';
import { associatedAgain, ownScoreIn } from './association.ts';
import { type Explanation, explainNode } from './explain.ts';
import type { ResolvedProfile } from './profile.ts';
import type { Signals } from './signals.ts';

/** The fields of a hit that are needed to score it again. */
interface Known {
  readonly signals: Signals;
  explain(): Explanation;
}

/** A hit with its score by another formula. */
export interface Rescored<Hit> {
  readonly hit: Hit;
  readonly explanation: Explanation;
}

/**
 * Ranks the hits of one recall by the same formula with other parameters, best first. Direct hits get exactly the
 * scores of a recall with these parameters at that moment. Whether other memories would be among the best, only a
 * recall can tell.
 */
export function rescore<Hit extends Known>(
  hits: readonly Hit[],
  { root }: ResolvedProfile,
  now: Instant,
): readonly Rescored<Hit>[] {
  const scored = hits.map((hit) => {
    const was = hit.explain();
    const own = ownScoreIn(was);
    return { hit, was, own, next: explainAgain(own ?? was, () => explainNode(root, hit.signals, now)) };
  });
  const scores = new Map(scored.map(({ was, own = was, next }) => [own.value, next.value]));
  return scored
    .map(({ hit, was, own, next }) => ({ hit, explanation: own ? associatedAgain(was, next, scores) : next }))
    .filter(({ explanation }) => explanation.value > 0)
    .sort((a, b) => b.explanation.value - a.explanation.value);
}

/** Returns the old explanation if the formula cannot be evaluated: a preview must not fail. */
function explainAgain(was: Explanation, explain: () => Explanation): Explanation {
  try {
    return explain();
  } catch (error) {
    if (SalienceError.isInstance(error)) return was;
    throw error;
  }
}

import { readStatement, saysAll } from '../text/says-all.ts';
import { type ContextCandidate, textOf } from './candidate.ts';

/**
 * The memories whose whole text another one says, word for word and in order, each with those that do, best first.
 *
 * A memory is said by none that is older or less sure: the newest of equal ones stands for all. Must-includes stay.
 * Likeness of vectors or a share of words never counts: "Ann lives in Oslo" and "Ann lives in Bergen" have both.
 *
 * @param ranked best first. Of two that say the same at the same time, the first stays.
 */
export function repetitionsAmong<Candidate extends ContextCandidate>(
  ranked: readonly Candidate[],
): ReadonlyMap<Candidate, readonly Candidate[]> {
  const readings = ranked.map((candidate) => readStatement(textOf(candidate)));
  const found = new Map<Candidate, readonly Candidate[]>();
  for (const [at, candidate] of ranked.entries()) {
    if (candidate.mustInclude === true) continue;
    const saying = ranked.filter(
      (other, place) =>
        place !== at &&
        isAsGood(other, candidate) &&
        saysAll(readings[place]!, readings[at]!) &&
        (place < at || readings[place]!.count > readings[at]!.count || !isAsGood(candidate, other)),
    );
    if (saying.length > 0) found.set(candidate, saying);
  }
  return found;
}

function isAsGood(other: ContextCandidate, candidate: ContextCandidate): boolean {
  return other.at >= candidate.at && (other.confidence ?? 1) >= (candidate.confidence ?? 1);
}

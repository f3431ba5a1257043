import { readStatement, saysAll } from '../text/says-all.ts';
import { type ContextCandidate, textOf } from './candidate.ts';

/**
 * Finds the memories whose whole text another memory says, word for word and in order, each with the memories that say
 * it, best first.
 *
 * A memory is never repeated by one that is older or less certain: the newest of equal ones represents all.
 * Must-includes are never repetitions. Similar vectors or shared words do not count: "Ann lives in Oslo" and "Ann lives
 * in Bergen" have both.
 *
 * @param ranked best first. Of two that say the same at the same time, the first stays.
 */
export function repetitionsAmong<Candidate extends ContextCandidate>(
  ranked: readonly Candidate[],
): ReadonlyMap<Candidate, readonly Candidate[]> {
  const read = ranked.map((candidate, place) => ({ candidate, place, ...readStatement(textOf(candidate)) }));
  // A text that says all of another one begins with it. In sorted order it comes after it, and after any with the same
  // text.
  const sorted = [...read].sort((a, b) =>
    a.text < b.text || (a.text === b.text && a.place < b.place) ? -1 : 1,
  );
  const saying = new Map<number, readonly Candidate[]>();
  let first = 0;
  for (const [at, one] of sorted.entries()) {
    if (sorted[first]!.text !== one.text) first = at;
    if (one.candidate.mustInclude === true) continue;
    const found: typeof sorted = [];
    for (let next = first; sorted[next]?.text.startsWith(one.text); next++) {
      const other = sorted[next]!;
      if (
        other !== one &&
        isAsGood(other.candidate, one.candidate) &&
        saysAll(other, one) &&
        (other.place < one.place || other.count > one.count || !isAsGood(one.candidate, other.candidate))
      )
        found.push(other);
    }
    if (found.length > 0) {
      found.sort((a, b) => a.place - b.place);
      saying.set(
        one.place,
        found.map(({ candidate }) => candidate),
      );
    }
  }
  return new Map(
    [...saying].sort(([a], [b]) => a - b).map(([place, sayers]) => [ranked[place] as Candidate, sayers]),
  );
}

function isAsGood(other: ContextCandidate, candidate: ContextCandidate): boolean {
  return other.at >= candidate.at && (other.confidence ?? 1) >= (candidate.confidence ?? 1);
}

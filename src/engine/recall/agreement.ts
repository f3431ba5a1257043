/** How far two rankings agree. */
export interface RankAgreement {
  /** Memories that are in both. */
  readonly shared: number;
  /** `shared` as a share of the longer ranking, 0–1: 1 says that the shorter one is part of the longer. Absent when both are empty. */
  readonly overlap?: number | undefined;
  /** Kendall's tau-b, −1 to 1: see {@link agreementOf}. Absent when one of them is empty, or both hold one memory, the same. */
  readonly tau?: number | undefined;
}

/**
 * Compares two rankings by place alone. Each holds an id at most once, best first.
 *
 * Overlap is the share of the longer ranking that is in both, the overlap@k of two rankings that reached the limit k.
 *
 * Tau-b (M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945) is taken over the union of both.
 * What a ranking does not hold shares one place behind its last: a pair of memories is in agreement where both rankings
 * put the same one first, in disagreement where they put another, and where one holds neither of them it is a tie. This is how
 * Fagin, Kumar and Sivakumar (Comparing top k lists, SIAM J. Discrete Math. 17, 2003) treat top lists, without a penalty for
 * what cannot be known. Over the common memories alone, two rankings that share two of twenty could agree perfectly.
 * Rankings of n memories without a common one reach −2n ⁄ (3n − 1), near −⅔: a tau of −1 needs the same memories in
 * opposite order, or one memory each.
 */
export function agreementOf(a: readonly string[], b: readonly string[]): RankAgreement {
  const [placesA, placesB] = [placesOf(a), placesOf(b)];
  const union = [...new Set([...a, ...b])];
  const shared = a.length + b.length - union.length;
  const longer = Math.max(a.length, b.length);
  let [agreeing, decidedA, decidedB] = [0, 0, 0];
  for (const [at, one] of union.entries()) {
    for (const other of union.slice(at + 1)) {
      const inA = Math.sign(placesA(other) - placesA(one));
      const inB = Math.sign(placesB(other) - placesB(one));
      agreeing += inA * inB;
      decidedA += Math.abs(inA);
      decidedB += Math.abs(inB);
    }
  }
  const decided = Math.sqrt(decidedA * decidedB);
  return {
    shared,
    ...(longer === 0 ? {} : { overlap: shared / longer }),
    ...(decided === 0 ? {} : { tau: agreeing / decided }),
  };
}

function placesOf(ids: readonly string[]): (id: string) => number {
  const places = new Map(ids.map((id, place) => [id, place]));
  return (id) => places.get(id) ?? ids.length;
}

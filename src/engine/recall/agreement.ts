/** How much two rankings agree. */
export interface RankAgreement {
  /** How many memories are in both. */
  readonly shared: number;
  /** `shared` divided by the length of the longer ranking, 0–1. At 1 both hold the same memories. Absent if both are empty. */
  readonly overlap?: number | undefined;
  /**
   * Kendall's tau-b, −1 to 1: see {@link agreementOf}. Absent if one ranking is empty, or both hold only one and the
   * same memory.
   */
  readonly tau?: number | undefined;
}

/**
 * Compares two rankings by place alone. Each holds an id at most once, best first.
 *
 * Overlap is the share of the longer ranking that is in both: overlap@k if both rankings reached the limit k.
 *
 * Tau-b (M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945) is taken over the union of
 * both. Memories that a ranking does not hold share one place behind its last. A pair of memories agrees if both
 * rankings order it the same way and disagrees if they order it differently; if one ranking holds neither memory, the
 * pair is a tie. Fagin, Kumar and Sivakumar (Comparing top k lists, SIAM J. Discrete Math. 17, 2003) treat top lists
 * this way, without a penalty for what cannot be known. Over the common memories alone, two rankings that share two of
 * twenty could agree perfectly. Two disjoint rankings of n memories reach −2n ⁄ (3n − 1), near −⅔: a tau of −1 needs
 * the same memories in opposite order, or one memory each.
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

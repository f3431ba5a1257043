import { ageInDays, type Instant } from '../domain/time.ts';
import { exponentialDecay } from './arithmetic.ts';
import { combined, type Explanation, recompute } from './explain.ts';

/** Days in which a fading link falls to 1/e. */
const LINK_SCALE_DAYS = 90;

/** Returns what is left of a fading link at `now`: weight·e^(−Δt/90 d). It is computed on reading and never stored. */
export function fadedWeight(weight: number, at: Instant, now: Instant): number {
  return weight * exponentialDecay(ageInDays(at, now), LINK_SCALE_DAYS * Math.LN2);
}

/**
 * Returns the initial weight of the link between two memories that are remembered together, if their cosine is at least
 * the embedder's threshold: min(0.5, 0.2 + 0.5·(cosine − threshold)). Below the threshold it is 0.
 */
export function birthWeight(cosine: number, threshold: number): number {
  return cosine < threshold ? 0 : Math.min(0.5, 0.2 + 0.5 * (cosine - threshold));
}

/**
 * Returns the score of a memory found through links, as an explanation that recomputes bit for bit. `direct`: its own
 * score × the weight of the path.
 */
export function directAssociation(own: Explanation, pathWeight: number): Explanation {
  return combined('product', [own, constant(LINK_WEIGHT, pathWeight)]);
}

/**
 * `propagated`: the higher of its own score and what the source, a direct hit, passes on: min(1, λ·w) × the score of
 * the source × the factors that keep outdated memories down.
 */
export function propagatedAssociation(
  own: Explanation,
  source: {
    /** λ. */
    readonly propagation: number;
    readonly pathWeight: number;
    readonly score: number;
    readonly outer: Explanation;
  },
): Explanation {
  const share = combined('min', [
    constant('all', 1),
    combined('product', [
      constant('propagation', source.propagation),
      constant(LINK_WEIGHT, source.pathWeight),
    ]),
  ]);
  const propagated = combined('product', [share, constant(PASSED_ON, source.score), source.outer]);
  return combined('max', [own, propagated]);
}

/**
 * Returns the score of a possible update: the higher of its own score and what the older statement passes on, min(score
 * of the older one, (1 + rise · similarity) · own). `older` is the score as if there were no conflict.
 */
export function updateAssociation(
  own: Explanation,
  source: { readonly older: number; readonly rise: number; readonly similarity: number },
): Explanation {
  const most = combined(
    'sum',
    [
      constant('all', 1),
      combined('product', [
        constant('rise', source.rise),
        constant('similarity to the older', source.similarity),
      ]),
    ],
    { weights: [1, 1] },
  );
  const propagated = combined('min', [
    constant(OLDER, source.older),
    combined('product', [most, constant(OWN, own.value)]),
  ]);
  return combined('max', [own, propagated]);
}

/** Returns the explanation of a memory's own score if links have brought it in or raised it, else `undefined`. */
export function ownScoreIn({ op, inputs: [own, other] }: Explanation): Explanation | undefined {
  const weakened = op === 'product' && other?.detail.name === LINK_WEIGHT;
  const raised =
    op === 'max' && other?.inputs.some(({ detail: { name } }) => name === PASSED_ON || name === OLDER);
  return weakened || raised ? own : undefined;
}

/**
 * Rebuilds such an explanation from a new score of its own and new scores of its sources. The weight of the path and
 * the factors that keep outdated memories down stay.
 */
export function associatedAgain(
  was: Explanation,
  own: Explanation,
  scores: ReadonlyMap<number, number>,
): Explanation {
  const again = (tree: Explanation): Explanation => {
    const { name } = tree.detail;
    if (name === PASSED_ON || name === OLDER) return { ...tree, value: scores.get(tree.value) ?? tree.value };
    if (name === OWN) return { ...tree, value: own.value };
    return recomputed(tree, tree.inputs.map(again));
  };
  return recomputed(was, [own, ...was.inputs.slice(1).map(again)]);
}

function recomputed(tree: Explanation, inputs: readonly Explanation[]): Explanation {
  const next = { ...tree, inputs };
  return { ...next, value: recompute(next) };
}

const LINK_WEIGHT = 'link weight';
const PASSED_ON = 'score of the direct hit';
const OLDER = 'score of the older without the conflict';
const OWN = 'own score';

/** Returns a value as an explanation without its tree; association needs no more. */
export function valueAlone(value: number): Explanation {
  return constant('value', value);
}

function constant(name: string, value: number): Explanation {
  return { op: 'constant', value, inputs: [], detail: { name } };
}

import { ageInDays, type Instant } from '../model/time.ts';
import { exponentialDecay } from './arithmetic.ts';
import { combined, type Explanation } from './explain.ts';

/** Days in which a fading link falls to 1/e. */
const LINK_SCALE_DAYS = 90;

/** What is left at `now` of a link that fades: weight·e^(−Δt/90 d). It is computed on reading, and never written. */
export function fadedWeight(weight: number, at: Instant, now: Instant): number {
  return weight * exponentialDecay(ageInDays(at, now), LINK_SCALE_DAYS * Math.LN2);
}

/**
 * The link that two memories are born with when they are remembered together and their cosine is at least the
 * embedder's threshold: min(.5, .2 + .5·(cosine − threshold)); 0 below it.
 */
export function birthWeight(cosine: number, threshold: number): number {
  return cosine < threshold ? 0 : Math.min(0.5, 0.2 + 0.5 * (cosine - threshold));
}

/**
 * The score of a memory that was found through links, as a tree that recomputes bit for bit.
 * `own`: its own score × the weight of the path.
 */
export function ownAssociation(own: Explanation, pathWeight: number): Explanation {
  return combined('product', [own, constant('link weight', pathWeight)]);
}

/**
 * `lent`: the better of its own score and what the direct hit lends it, min(1, λ·w) × the hit's score, times the
 * factors that keep outdated memories down.
 */
export function lentAssociation(
  own: Explanation,
  lent: {
    readonly share: number;
    readonly pathWeight: number;
    readonly score: number;
    readonly outer: Explanation;
  },
): Explanation {
  const portion = combined('min', [
    constant('all', 1),
    combined('product', [constant('lent share', lent.share), constant('link weight', lent.pathWeight)]),
  ]);
  const borrowed = combined('product', [
    portion,
    constant('score of the direct hit', lent.score),
    lent.outer,
  ]);
  return combined('max', [own, borrowed]);
}

/**
 * The score of a possible update: the better of its own score and what the older statement lends it,
 * min(score of the older one, (1 + rise · similarity) · own). `older` is the score as if nothing contested it.
 */
export function updateAssociation(
  own: Explanation,
  lent: { readonly older: number; readonly rise: number; readonly similarity: number },
): Explanation {
  const most = combined(
    'sum',
    [
      constant('all', 1),
      combined('product', [
        constant('rise', lent.rise),
        constant('similarity to the older', lent.similarity),
      ]),
    ],
    { weights: [1, 1] },
  );
  const borrowed = combined('min', [
    constant('score of the older, uncontested', lent.older),
    combined('product', [most, constant('own score', own.value)]),
  ]);
  return combined('max', [own, borrowed]);
}

/** A value as an explanation without its tree: the arithmetic of an association does not need more. */
export function valueAlone(value: number): Explanation {
  return constant('value', value);
}

function constant(name: string, value: number): Explanation {
  return { op: 'constant', value, inputs: [], detail: { name } };
}

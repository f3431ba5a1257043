// Fits word vectors so that the weighted sum of a text's words points where the sentence encoder's vector points.

import { spreadTexts, sumWords } from './linear.mjs';

/**
 * Ridge regression towards a prior, by conjugate gradients: with s(t) = Σ weight·vector over the words of text t,
 * minimise Σ ‖s(t)/n(t) − target(t)‖² + λ Σ ‖vector − prior‖². The lengths n(t) = ‖s(t)‖ are taken from the vectors of
 * the round before (the prior's in the first), so that the direction is fitted and not the length.
 *
 * @param {{bags: import('./linear.mjs').Bags, targets: Float32Array, prior: Float32Array, weights: Float64Array,
 *   dimensions: number, lambda: number, rounds: number, steps: number}} input
 * @returns {Float64Array} One row of `dimensions` a word.
 */
export function fitWordVectors({ bags, targets, prior, weights, dimensions, lambda, rounds, steps }) {
  const texts = bags.starts.length - 1;
  const vectors = Float64Array.from(prior);
  const sums = new Float64Array(texts * dimensions);
  const residual = new Float64Array(vectors.length);
  const image = new Float64Array(vectors.length);
  const inverseLengths = new Float64Array(texts);
  const scaled = (text, word) => weights[word] * inverseLengths[text];

  /** A′A x + λ x */
  const apply = (x, into) => {
    sumWords(bags, scaled, x, dimensions, sums);
    spreadTexts(bags, scaled, sums, dimensions, into);
    for (let k = 0; k < into.length; k++) into[k] += lambda * x[k];
  };

  for (let round = 0; round < rounds; round++) {
    sumWords(bags, (_, word) => weights[word], vectors, dimensions, sums);
    for (let text = 0; text < texts; text++) {
      let squares = 0;
      for (let k = text * dimensions; k < (text + 1) * dimensions; k++) squares += sums[k] * sums[k];
      // A text of frequent words alone has a short sum; magnifying it would let it dominate.
      inverseLengths[text] = 1 / Math.max(Math.sqrt(squares), shortestSum);
    }
    // Residual of the normal equations: A′(target − A v) − λ (v − prior).
    sumWords(bags, scaled, vectors, dimensions, sums);
    for (let k = 0; k < sums.length; k++) sums[k] = targets[k] - sums[k];
    spreadTexts(bags, scaled, sums, dimensions, residual);
    for (let k = 0; k < residual.length; k++) residual[k] -= lambda * (vectors[k] - prior[k]);

    const direction = Float64Array.from(residual);
    let squares = dot(residual, residual);
    for (let step = 0; step < steps; step++) {
      apply(direction, image);
      const length = squares / dot(direction, image);
      for (let k = 0; k < vectors.length; k++) {
        vectors[k] += length * direction[k];
        residual[k] -= length * image[k];
      }
      const next = dot(residual, residual);
      for (let k = 0; k < vectors.length; k++) direction[k] = residual[k] + (next / squares) * direction[k];
      squares = next;
    }
    console.log(`  round ${round + 1}: residual ${Math.sqrt(squares).toFixed(4)}`);
  }
  return vectors;
}

const shortestSum = 0.3;

function dot(left, right) {
  let sum = 0;
  for (let k = 0; k < left.length; k++) sum += left[k] * right[k];
  return sum;
}

import { SalienceError } from '../domain/errors.ts';
import { type Explanation, faultOf, recompute } from '../scoring/explain.ts';
import { wordsFault } from './verify-words.ts';

/**
 * Recomputes every node of an explanation from its recorded inputs, and the signals of words from their counts, and compares
 * the results bit for bit. Also accepts a tree that was serialised as JSON, where −0 became 0.
 *
 * Throws `explanation_mismatch` with the path of the first node whose value is wrong, children before parents.
 *
 * @example
 * ```ts
 * import { verifyExplanation } from 'salience/testing';
 * const { hits } = await memory.recall('coffee');
 * for (const hit of hits) verifyExplanation(hit.explain());
 * ```
 */
export function verifyExplanation(tree: Explanation): void {
  verify(tree, 'root');
}

function verify(tree: Explanation, path: string): void {
  if (typeof tree !== 'object' || tree === null || !Array.isArray(tree.inputs)) {
    throw mismatch(path, 'it is not a node of an explanation');
  }
  tree.inputs.forEach((input, index) => {
    verify(input, `${path}.inputs[${index}]`);
  });
  if (typeof tree.value !== 'number' || !Number.isFinite(tree.value)) {
    throw mismatch(path, `its value ${String(tree.value)} is not a finite number`);
  }
  const fault = faultOf(tree);
  if (fault !== undefined) throw mismatch(path, fault);
  const wrongWords = tree.detail.words && wordsFault(tree.value, tree.detail.words);
  if (wrongWords !== undefined) throw mismatch(path, wrongWords);
  const value = recompute(tree);
  // JSON has no −0. No operator distinguishes the two zeros.
  if (Object.is(value, tree.value) || (value === 0 && tree.value === 0)) return;
  throw mismatch(path, `its inputs give ${value}, and it says ${tree.value}`);
}

function mismatch(path: string, problem: string): SalienceError {
  return new SalienceError('explanation_mismatch', `the explanation does not add up at ${path}: ${problem}`, {
    details: { path },
  });
}

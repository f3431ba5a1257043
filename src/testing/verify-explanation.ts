import { SalienceError } from '../model/errors.ts';
import { type Explanation, recompute } from '../scoring/explain.ts';

/**
 * Recomputes every node of an explanation from its recorded inputs and compares bit for bit. Also takes a tree that
 * went through JSON, where −0 became 0.
 *
 * Throws `explanation_mismatch` naming the path of the first node that does not add up, children before parents.
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
    throw mismatch(path, 'it is no node of an explanation');
  }
  tree.inputs.forEach((input, index) => {
    verify(input, `${path}.inputs[${index}]`);
  });
  if (typeof tree.value !== 'number' || !Number.isFinite(tree.value)) {
    throw mismatch(path, `its value ${String(tree.value)} is not a finite number`);
  }
  const expected = inputsOf(tree);
  if (expected === undefined) throw mismatch(path, `${JSON.stringify(tree.op)} is no operator`);
  if (!expected(tree.inputs.length)) {
    throw mismatch(path, `a ${tree.op} does not have ${tree.inputs.length} inputs`);
  }
  const value = recompute(tree);
  // JSON knows no −0; nothing that a formula can do tells the two zeros apart.
  if (Object.is(value, tree.value) || (value === 0 && tree.value === 0)) return;
  throw mismatch(path, `its inputs give ${value}, and it says ${tree.value}`);
}

/** Whether a number of inputs fits the node. Only leaves and defaults may do without. */
function inputsOf({ op, detail }: Explanation): ((count: number) => boolean) | undefined {
  switch (op) {
    case 'constant':
    case 'signal':
    case 'age':
      return (count) => count === 0;
    case 'ref':
    case 'clamp':
    case 'capped':
    case 'table':
    case 'when':
      return (count) => count === 1;
    case 'power':
      return (count) => count === 2;
    case 'decay':
      return (count) => count === (detail.defaulted ? 0 : 2);
    case 'sum':
    case 'mean':
      return (count) => count > 0 && count === detail.weights?.length;
    case 'product':
    case 'min':
    case 'max':
      return (count) => count > 0;
    default:
      return undefined;
  }
}

function mismatch(path: string, problem: string): SalienceError {
  return new SalienceError('explanation_mismatch', `the explanation does not add up at ${path}: ${problem}`, {
    details: { path },
  });
}

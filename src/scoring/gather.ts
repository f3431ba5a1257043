import { namesRead } from './evaluate.ts';
import type { Node } from './operators/index.ts';
import { isQuerySignal, isSignalName } from './signals.ts';

/**
 * Rewrites a formula for computing bounds. In a sum or a product, everything that no query changes becomes one part,
 * which can be kept as one column. Bounds are then added up in another order than scores.
 */
export function gather(node: Node): Node {
  let found = gathered.get(node);
  if (!found) {
    found = gatherAnew(node);
    gathered.set(node, found);
  }
  return found;
}

/** Cached, because formulas do not change and kept bounds are found by their node. */
const gathered = new WeakMap<Node, Node>();

function gatherAnew(node: Node): Node {
  switch (node.op) {
    case 'ref':
    case 'clamp':
      return { ...node, of: gather(node.of) };
    case 'sum':
      return gatherTerms(node, node.weights);
    case 'mean': {
      const whole = node.weights.reduce((sum, weight) => sum + weight, 0);
      return gatherTerms(
        node,
        node.weights.map((weight) => weight / whole),
      );
    }
    case 'product': {
      const fixed = node.of.filter(isFixed);
      const others = node.of.filter((each) => !isFixed(each)).map(gather);
      if (fixed.length < 2 || others.length === 0) return node;
      return { ...node, of: [...others, { ...node, of: fixed }] };
    }
    default:
      return node;
  }
}

function gatherTerms(node: Extract<Node, { op: 'sum' | 'mean' }>, weights: readonly number[]): Node {
  const terms = node.of.map((of, at) => ({ of, weight: weights[at] as number }));
  const fixed = terms.filter(({ of }) => isFixed(of));
  const others = terms.filter(({ of }) => !isFixed(of));
  if (fixed.length < 2 || others.length === 0) return node;
  const sum = (of: readonly { readonly of: Node; readonly weight: number }[]): Node => ({
    op: 'sum',
    path: node.path,
    total: undefined,
    weights: of.map(({ weight }) => weight),
    of: of.map((each) => each.of),
  });
  return sum([
    ...others.map(({ of, weight }) => ({ of: gather(of), weight })),
    { of: sum(fixed), weight: 1 },
  ]);
}

/** Whether a part is the same for every query, but not for every memory. */
function isFixed(node: Node): boolean {
  const names = [...namesRead(node)];
  return names.length > 0 && !names.some((name) => isSignalName(name) && isQuerySignal(name));
}

import { invalidArgument } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { isPlain } from '../domain/options.ts';
import type { Instant } from '../domain/time.ts';
import { walk } from './evaluate.ts';
import { type ExplanationDetail, findOperator, type Node, operatorOf } from './operators/index.ts';
import type { Signals } from './signals.ts';
import type { CountedWords } from './word-counts.ts';

/**
 * How a value was computed: a tree of operators with their values. Recomputing every node from its inputs gives the
 * recorded values bit for bit. Plain data; `formatExplanation` renders it.
 */
export interface Explanation {
  readonly op: Node['op'];
  readonly value: number;
  readonly inputs: readonly Explanation[];
  readonly detail: ExplanationDetail;
}

/**
 * Returns the explanation of a formula. Its root has exactly the value of `evaluate`, and it throws the same errors.
 * Word signals include the counts that they were computed from, if `words` has them.
 */
export function explainNode(node: Node, signals: Signals, now: Instant, words?: CountedWords): Explanation {
  const moment = { signals, now, words };
  return walk<Explanation>(node, signals, now, {
    value: (result) => result.value,
    record: (each, value, inputs) => ({
      op: each.op,
      value,
      inputs,
      detail: operatorOf(each).detail(each, inputs, moment),
    }),
  });
}

/** Creates a node of an explanation from other nodes, with the value that its operator gives. */
export function combined(
  op: 'product' | 'sum' | 'min' | 'max',
  inputs: readonly Explanation[],
  detail: ExplanationDetail = {},
): Explanation {
  const tree = { op, value: 0, inputs, detail };
  return { ...tree, value: recompute(tree) };
}

/** Recomputes a node of an explanation from its recorded inputs. Leaves and defaulted nodes return their own value. */
export function recompute({ op, value, inputs, detail }: Explanation): number {
  if (inputs.length === 0) return value;
  return operatorOf({ op }).combine(
    detail,
    inputs.map((input) => input.value),
  );
}

/** Returns why a value is not a valid node of an explanation, or `undefined`. */
export function faultOf({ op, inputs, detail }: Explanation): string | undefined {
  const operator = findOperator(op);
  if (!operator) return `${describe(op)} is not a known operator`;
  return operator.takes(inputs.length, detail) ? undefined : `a ${op} does not have ${inputs.length} inputs`;
}

/** Returns the node that a value comes from, below all nodes that only pass it on. */
export function sourceOf(tree: Explanation): Explanation {
  const [inner] = tree.inputs;
  return operatorOf(tree).passes && inner ? sourceOf(inner) : tree;
}

/** Checks an explanation that the caller gave, and returns it. Throws `invalid_argument`. */
export function checkExplanation(tree: Explanation, field: string): Explanation {
  const { op, value, inputs, detail }: Partial<Record<keyof Explanation, unknown>> = isPlain(tree)
    ? tree
    : {};
  if (typeof op !== 'string' || typeof value !== 'number' || !Array.isArray(inputs) || !isPlain(detail)) {
    throw invalidArgument(
      field,
      `expected an explanation, as hit.explain() and explain() return, not ${describe(tree)}`,
    );
  }
  const fault = faultOf(tree);
  if (fault !== undefined) throw invalidArgument(field, `this is not an explanation: ${fault}`);
  for (const [index, input] of tree.inputs.entries()) checkExplanation(input, `${field}.inputs[${index}]`);
  return tree;
}

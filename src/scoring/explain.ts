import { formatInstant, type Instant } from '../model/time.ts';
import { combine, type Facts, type Recorder, type Step, walk } from './evaluate.ts';
import type { BoundCondition, Node } from './node.ts';
import type { Signals } from './signals.ts';

/**
 * How a value came about: a tree of operators with the values they had. Recomputing every node from its inputs
 * gives the recorded values bit for bit. Plain data; `formatExplanation` renders it.
 */
export interface Explanation {
  readonly op: Node['op'];
  readonly value: number;
  readonly inputs: readonly Explanation[];
  readonly detail: ExplanationDetail;
}

export interface ExplanationDetail {
  /** Of a signal or a part: its name. Of a constant: the parameter that set it. */
  readonly name?: string;
  /** The signal or age was unknown and took its default. */
  readonly defaulted?: boolean;
  /** Of a sum or a mean, one a term. */
  readonly weights?: readonly number[];
  readonly min?: number;
  readonly max?: number;
  readonly cap?: number;
  /** The bound that cut the value off. */
  readonly clipped?: 'low' | 'high';
  readonly curve?: 'exponential' | 'power';
  readonly per?: 'halfLife' | 'rate' | 'scale';
  readonly exponent?: number;
  /** Of an age: the clocks it counts from, and the instant. */
  readonly clocks?: readonly string[];
  readonly at?: string;
  /** Of a table: the attribute, and the case taken (`null`: otherwise). */
  readonly by?: string;
  readonly key?: string | null;
  /** Of a table: the attribute's text. */
  readonly text?: string;
  /** Of a choice: its condition in words, and whether it held. */
  readonly condition?: string;
  readonly held?: boolean;
}

const trees: Recorder<Explanation> = {
  value: (result) => result.value,
  record: (node, value, inputs, facts) => ({
    op: node.op,
    value,
    inputs,
    detail: detailOf(node, inputs, facts),
  }),
};

/** The tree of values of a formula. Its root has exactly the value that `evaluate` gives, and throws as it does. */
export function explainNode(node: Node, signals: Signals, now: Instant): Explanation {
  return walk(node, signals, now, trees);
}

/** Recomputes an inner node of an explanation from its recorded inputs; leaves and defaults give their own value. */
export function recompute(tree: Explanation): number {
  if (tree.inputs.length === 0) return tree.value;
  return combine(
    { ...tree.detail, op: tree.op } as Step,
    tree.inputs.map((input) => input.value),
  );
}

export function conditionText(condition: BoundCondition): string {
  switch (condition.test) {
    case 'fixed':
      return `parameter ${condition.text}`;
    case 'passed':
      return `${condition.clock} has passed`;
    case 'known':
      return `${condition.name} is known`;
    case 'attribute':
      return `${condition.attribute} is ${condition.values.join(' or ')}`;
    case 'signal': {
      const { above, atLeast, below, atMost } = condition.bounds;
      const limits = [
        above === undefined ? undefined : `> ${above}`,
        atLeast === undefined ? undefined : `≥ ${atLeast}`,
        below === undefined ? undefined : `< ${below}`,
        atMost === undefined ? undefined : `≤ ${atMost}`,
      ];
      return `${condition.signal} ${limits.filter((limit) => limit !== undefined).join(' and ')}`;
    }
  }
}

function detailOf(node: Node, inputs: readonly Explanation[], facts: Facts): ExplanationDetail {
  const defaulted = facts.defaulted ? { defaulted: true } : {};
  switch (node.op) {
    case 'constant':
      return node.parameter === undefined ? {} : { name: node.parameter };
    case 'signal':
      return { name: node.name, ...defaulted };
    case 'ref':
      return { name: node.name };
    case 'age':
      return { clocks: node.clocks, ...(facts.at === undefined ? {} : { at: formatInstant(facts.at) }) };
    case 'sum':
    case 'mean':
      return { weights: node.weights };
    case 'clamp':
      return { min: node.min, max: node.max, ...clipped(inputs[0]?.value ?? 0, node.min, node.max) };
    case 'capped':
      return { cap: node.cap, ...clipped(inputs[0]?.value ?? 0, 0, node.cap) };
    case 'decay':
      return { curve: node.curve, per: node.per, exponent: node.exponent, ...defaulted };
    case 'table':
      return { by: node.by, key: facts.key ?? null, text: facts.text ?? '' };
    case 'when':
      return { condition: conditionText(node.condition), held: facts.held ?? false };
    case 'product':
    case 'power':
    case 'min':
    case 'max':
      return {};
  }
}

function clipped(value: number, low: number, high: number): { clipped?: 'low' | 'high' } {
  if (value < low) return { clipped: 'low' };
  return value > high ? { clipped: 'high' } : {};
}

import { cappedLinear, clamp } from '../arithmetic.ts';
import { scalarText } from '../show.ts';
import { clipped } from './clamp.ts';
import type { Expression, Node, Scalar } from './index.ts';
import { clippedLane } from './lanes.ts';
import type { Operator } from './operator.ts';

/** min(max(of, 0), cap) ÷ cap. */
export interface CappedExpression {
  readonly op: 'capped';
  readonly of: Expression;
  readonly cap: Scalar;
}

export interface CappedNode {
  readonly op: 'capped';
  readonly path: string;
  readonly cap: number;
  readonly of: Node;
}

export interface Known {
  readonly cap: number;
  readonly clipped?: 'low' | 'high';
}

export const capped: Operator<CappedExpression, CappedNode, Known> = {
  name: 'capped',
  keys: { of: 'formula', cap: 'scalar' },
  resolve(expression, path, resolver) {
    const cap = resolver.scalar(expression.cap, `${path}.cap`);
    if (cap <= 0) throw resolver.fault(`${path}.cap`, 'the cap must be above 0');
    return { op: 'capped', cap, of: resolver.formula(expression.of, `${path}.of`), path };
  },
  formula: ({ of, cap }, text) => `capped(${text.of(of)}, at ${scalarText(cap)})`,
  children: ({ of }) => [of],
  evaluate: (node, walk) => walk.combine(node, [walk.of(node.of)]),
  combine: ({ cap }, [first = 0]) => cappedLinear(first, cap),
  takes: (inputs) => inputs === 1,
  detail: ({ cap }, [inner]) => ({ cap, ...clipped(inner?.value ?? 0, 0, cap) }),
  interval({ of, cap }, intervals) {
    const [low, high] = intervals.of(of);
    return [clamp(low, 0, cap) / cap, clamp(high, 0, cap) / cap];
  },
  compile: ({ of, cap }, compilation) => clippedLane(compilation, of, 0, cap, cap),
  line({ detail: { clipped, cap }, inputs }) {
    const branches = inputs.map((tree) => ({ tree }));
    if (clipped === 'high') return { words: `share of the cap of ${cap}, clipped to 1`, branches };
    if (clipped === 'low') return { words: `share of the cap of ${cap}, clipped to 0`, branches };
    return { words: `share of the cap of ${cap}`, branches };
  },
};

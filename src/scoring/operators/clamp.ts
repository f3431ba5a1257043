import { clamp as hold } from '../arithmetic.ts';
import { scalarText } from '../show.ts';
import type { Expression, Node, Scalar } from './index.ts';
import { clippedLane } from './lanes.ts';
import type { Operator } from './operator.ts';

/** Held within [min, max]. Default is [0, 1]. */
export interface ClampExpression {
  readonly op: 'clamp';
  readonly of: Expression;
  readonly min?: Scalar | undefined;
  readonly max?: Scalar | undefined;
}

export interface ClampNode {
  readonly op: 'clamp';
  readonly path: string;
  readonly min: number;
  readonly max: number;
  readonly of: Node;
}

export interface Known {
  readonly min: number;
  readonly max: number;
  /** The end at which the value was cut off. */
  readonly clipped?: 'low' | 'high';
}

export const clamp: Operator<ClampExpression, ClampNode, Known> = {
  name: 'clamp',
  keys: { of: 'formula', min: 'scalar', max: 'scalar' },
  resolve(expression, path, resolver) {
    const min = resolver.scalar(expression.min ?? 0, `${path}.min`);
    const max = resolver.scalar(expression.max ?? 1, `${path}.max`);
    if (min > max) throw resolver.fault(path, `min ${min} is above max ${max}`);
    return { op: 'clamp', min, max, of: resolver.formula(expression.of, `${path}.of`), path };
  },
  formula: ({ of, min = 0, max = 1 }, text) =>
    `clamp(${text.of(of)}, ${scalarText(min)} to ${scalarText(max)})`,
  children: ({ of }) => [of],
  evaluate: (node, walk) => walk.combine(node, [walk.of(node.of)]),
  combine: ({ min, max }, [first = 0]) => hold(first, min, max),
  takes: (inputs) => inputs === 1,
  detail: ({ min, max }, [inner]) => ({ min, max, ...clipped(inner?.value ?? 0, min, max) }),
  interval({ of, min, max }, intervals) {
    const [low, high] = intervals.of(of);
    return [hold(low, min, max), hold(high, min, max)];
  },
  compile: ({ of, min, max }, compilation) => clippedLane(compilation, of, min, max, 1),
  line: ({ detail, inputs }) => ({
    words: `clipped to the ${detail.clipped === 'low' ? `lowest, ${detail.min}` : `highest, ${detail.max}`}`,
    branches: inputs.map((tree) => ({ tree })),
  }),
  lead: ({ detail }) =>
    detail.clipped === undefined ? `[within ${detail.min} and ${detail.max}]` : undefined,
};

/** Returns the end of an interval that a value lies beyond, if any. */
export function clipped(value: number, low: number, high: number): { clipped?: 'low' | 'high' } {
  if (value < low) return { clipped: 'low' };
  return value > high ? { clipped: 'high' } : {};
}

import { shortNumber, visible } from '../show.ts';
import { constantLane } from './lanes.ts';
import type { Notation, Operator } from './operator.ts';

/** A number. */
export interface ConstantExpression {
  readonly op: 'constant';
  readonly value: number;
}

/** A parameter of the profile, a number. */
export interface ParamExpression {
  readonly op: 'param';
  readonly name: string;
}

export interface ConstantNode {
  readonly op: 'constant';
  readonly path: string;
  readonly value: number;
  /** The parameter that set it. */
  readonly parameter: string | undefined;
}

export const constant: Operator<ConstantExpression, ConstantNode, { readonly name?: string }> = {
  name: 'constant',
  keys: { value: 'other' },
  resolve: ({ value }, path, resolver) => ({
    op: 'constant',
    value: resolver.scalar(value, path),
    parameter: undefined,
    path,
  }),
  formula: ({ value }) => shortNumber(value),
  isLoose: ({ value }) => value < 0,
  children: () => [],
  evaluate: (node, walk) => walk.leaf(node, node.value),
  combine: () => Number.NaN,
  takes: (inputs) => inputs === 0,
  detail: ({ parameter }) => (parameter === undefined ? {} : { name: parameter }),
  interval: ({ value }) => [value, value],
  compile: ({ value }) => constantLane(value),
  line: ({ detail }, quote) => ({
    words: detail.name === undefined ? 'constant' : `parameter ${quote(detail.name)}`,
    branches: [],
  }),
  title: () => 'constant',
};

/** Written by name; a constant to every reading. */
export const param: Notation<ParamExpression, ConstantNode> = {
  name: 'param',
  keys: { name: 'other' },
  resolve: (expression, path, resolver) => ({
    op: 'constant',
    value: resolver.scalar(expression, path),
    parameter: expression.name,
    path,
  }),
  formula: ({ name }) => visible(name),
};

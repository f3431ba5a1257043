import type { Expression, Node } from './index.ts';
import { isWide, laneOf } from './lanes.ts';
import type { Operator } from './operator.ts';

/** The smallest. */
export interface MinExpression {
  readonly op: 'min';
  readonly of: readonly Expression[];
}

/** The largest. */
export interface MaxExpression {
  readonly op: 'max';
  readonly of: readonly Expression[];
}

export interface ExtremeNode<Name extends string> {
  readonly op: Name;
  readonly path: string;
  readonly of: readonly Node[];
}

export const min: Operator<MinExpression, ExtremeNode<'min'>, object> = extreme('min', Math.min, 'smallest');
export const max: Operator<MaxExpression, ExtremeNode<'max'>, object> = extreme('max', Math.max, 'largest');

function extreme<Name extends 'min' | 'max'>(
  name: Name,
  pick: (...values: number[]) => number,
  words: string,
): Operator<{ readonly op: Name; readonly of: readonly Expression[] }, ExtremeNode<Name>, object> {
  return {
    name,
    keys: { of: 'formulas' } as never,
    resolve: ({ of }, path, resolver) => ({ op: name, of: resolver.formulas(of, `${path}.of`), path }),
    formula: ({ of }, text) => `${name}(${of.map(text.of).join(', ')})`,
    children: ({ of }) => of,
    evaluate: (node, walk) => walk.combine(node as Node, node.of.map(walk.of)),
    combine: (_, inputs) => pick(...inputs),
    takes: (inputs) => inputs > 0,
    detail: () => ({}),
    interval({ of }, intervals) {
      const inner = of.map(intervals.of);
      return [pick(...inner.map(([low]) => low)), pick(...inner.map(([, high]) => high))];
    },
    compile(node, compilation) {
      const of = node.of.map(compilation.of);
      return laneOf(compilation, of.some(isWide), (side, out) => {
        const [first, ...rest] = of.map((each) => each[side]);
        return ({ count }) => {
          for (let at = 0; at < count; at++) {
            let value = first![at]!;
            for (const other of rest) value = pick(value, other[at]!);
            out[at] = value;
          }
        };
      });
    },
    line: ({ inputs, value }) => ({
      words,
      branches: inputs.map((tree) => ({ tree, role: tree.value === value ? 'taken' : undefined })),
    }),
    summary: ({ inputs }, terms) => `${name}(${terms.list(inputs)})`,
  };
}

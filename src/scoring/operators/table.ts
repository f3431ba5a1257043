import { visible } from '../show.ts';
import { ATTRIBUTE_NAMES, type AttributeName, attributeText } from '../signals.ts';
import { choice } from './choice.ts';
import type { Expression, Node } from './index.ts';
import { isWide, laneOf } from './lanes.ts';
import type { Operator } from './operator.ts';

/** One formula for each value of an attribute. */
export interface TableExpression {
  readonly op: 'table';
  readonly by: AttributeName;
  readonly cases: { readonly [value: string]: Expression };
  readonly otherwise: Expression;
}

export interface TableNode {
  readonly op: 'table';
  readonly path: string;
  readonly by: AttributeName;
  readonly cases: ReadonlyMap<string, Node>;
  readonly otherwise: Node;
}

export interface Known {
  /** The attribute. */
  readonly by: string;
  /** The case that was taken; `null` is otherwise. */
  readonly key: string | null;
  /** The attribute's text. */
  readonly text: string;
}

export const table: Operator<TableExpression, TableNode, Known> = {
  name: 'table',
  keys: { by: 'other', cases: 'other', otherwise: 'formula' },
  resolve(expression, path, resolver) {
    const by = resolver.oneOf('attribute', expression.by, ATTRIBUTE_NAMES, `${path}.by`);
    const cases = Object.entries(resolver.object(expression.cases, `${path}.cases`));
    return {
      op: 'table',
      by,
      cases: new Map(
        cases.map(([key, value]) => [key, resolver.formula(value as Expression, `${path}.cases.${key}`)]),
      ),
      otherwise: resolver.formula(expression.otherwise, `${path}.otherwise`),
      path,
    };
  },
  formula({ by, cases, otherwise }, text) {
    const rows = Object.entries(cases).map(([value, of]) => `${visible(value)}: ${text.of(of)}`);
    return `table(${[`by ${by}`, ...rows, `otherwise: ${text.of(otherwise)}`].join(', ')})`;
  },
  reads: ({ by }) => [by],
  ...choice<TableNode>({
    children: ({ cases, otherwise }) => [...cases.values(), otherwise],
    choose: ({ by, cases, otherwise }, { signals }) => cases.get(attributeText(signals, by)) ?? otherwise,
    chooseKnown({ by, cases, otherwise }, intervals) {
      const text = intervals.attribute(by);
      return text === undefined ? undefined : (cases.get(text) ?? otherwise);
    },
  }),
  detail({ by, cases }, _, { signals }) {
    const text = attributeText(signals, by);
    return { by, key: cases.has(text) ? text : null, text };
  },
  compile(node, compilation) {
    const { codes, texts } = compilation.columns.attribute(node.by);
    const keys = [...node.cases.keys()];
    const lanes = [...node.cases.values(), node.otherwise].map(compilation.of);
    const choice = Uint16Array.from(texts, (text) => {
      const key = keys.indexOf(text);
      return key < 0 ? keys.length : key;
    });
    return laneOf(compilation, lanes.some(isWide), (side, out) => {
      const from = lanes.map((each) => each[side]);
      return ({ rows, count }) => {
        for (let at = 0; at < count; at++) out[at] = from[choice[codes[rows[at]!]!]!]![at]!;
      };
    });
  },
  line: ({ inputs }) => ({ words: 'table', branches: inputs.map((tree) => ({ tree })) }),
  lead({ detail }, quote) {
    const row = detail.key === null ? ' (other)' : '';
    return `[${detail.by} = ${quote(detail.text ?? detail.key ?? '?')}${row}]`;
  },
  title: ({ detail }) => `table by ${detail.by}`,
};

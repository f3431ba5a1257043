import {
  type Condition,
  compileCondition,
  conditionHolds,
  conditionKnown,
  conditionText,
  namesOfCondition,
  type ResolvedCondition,
} from '../condition.ts';
import { choice } from './choice.ts';
import type { Expression, Node } from './index.ts';
import { BLOCK_SIZE, isBlurred, laneOf } from './lanes.ts';
import type { Operator } from './operator.ts';

/** A choice by a condition. */
export interface WhenExpression {
  readonly op: 'when';
  readonly if: Condition;
  readonly then: Expression;
  readonly else: Expression;
}

export interface WhenNode {
  readonly op: 'when';
  readonly path: string;
  readonly condition: ResolvedCondition;
  readonly then: Node;
  readonly else: Node;
}

export interface Known {
  /** In words. */
  readonly condition: string;
  readonly held: boolean;
}

export const when: Operator<WhenExpression, WhenNode, Known> = {
  name: 'when',
  keys: { if: 'other', then: 'formula', else: 'formula' },
  resolve: (expression, path, resolver) => ({
    op: 'when',
    condition: resolver.condition(expression.if, `${path}.if`),
    then: resolver.formula(expression.then, `${path}.then`),
    else: resolver.formula(expression.else, `${path}.else`),
    path,
  }),
  formula: (expression, text) =>
    `(if ${text.condition(expression.if)} then ${text.of(expression.then)} else ${text.of(expression.else)})`,
  reads: ({ condition }) => namesOfCondition(condition),
  ...choice<WhenNode>({
    children: (node) => [node.then, node.else],
    choose: (node, { signals, now }) =>
      conditionHolds(node.condition, signals, now) ? node.then : node.else,
    chooseKnown(node, intervals) {
      const holds = conditionKnown(node.condition, intervals);
      if (holds === undefined) return undefined;
      return holds ? node.then : node.else;
    },
  }),
  detail: ({ condition }, _, { signals, now }) => ({
    condition: conditionText(condition),
    held: conditionHolds(condition, signals, now),
  }),
  compile(node, compilation) {
    const { condition } = node;
    if (condition.test === 'fixed') return compilation.of(condition.holds ? node.then : node.else);
    const { steps, facts } = compilation;
    const known = condition.test === 'known' ? facts.known(condition.name) : undefined;
    if (known !== undefined) return compilation.of(known ? node.then : node.else);
    const held = compilation.of(node.then);
    const other = compilation.of(node.else);
    const decide = compileCondition(condition, compilation.columns);
    const undecided =
      (condition.test === 'signal' && isBlurred(condition.signal)) ||
      (condition.test === 'passed' && compilation.spans);
    let verdict: Uint8Array | undefined;
    return laneOf(compilation, undecided || held.wide || other.wide, (side, out) => {
      if (verdict === undefined) {
        verdict = new Uint8Array(BLOCK_SIZE);
        const decided = verdict;
        steps.push((block) => decided.set(decide(block)));
      }
      const [decided, yes, no] = [verdict, held[side], other[side]];
      const either = side === 'low' ? Math.min : Math.max;
      return ({ count }) => {
        for (let at = 0; at < count; at++) {
          const holds = decided[at]!;
          out[at] = holds === 1 ? yes[at]! : holds === 0 ? no[at]! : either(yes[at]!, no[at]!);
        }
      };
    });
  },
  line: ({ inputs }) => ({ words: 'when', branches: inputs.map((tree) => ({ tree })) }),
  lead: ({ detail }, quote) => `[${detail.held ? '' : 'not: '}${quote(detail.condition ?? '?')}]`,
  title: ({ detail }) => `choice by ${detail.condition}`,
};

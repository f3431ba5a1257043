import { age } from './age.ts';
import { capped } from './capped.ts';
import { clamp } from './clamp.ts';
import { constant, param } from './constant.ts';
import { decay } from './decay.ts';
import { max, min } from './extremes.ts';
import type { Notation, Operator } from './operator.ts';
import { power } from './power.ts';
import { product } from './product.ts';
import { ref } from './ref.ts';
import { signal } from './signal.ts';
import { table } from './table.ts';
import { mean, sum } from './weighted.ts';
import { when } from './when.ts';

/** Every operator of the formulas. Each has one entry here and one file; every reading is derived from this list. */
const listed = [
  constant,
  param,
  signal,
  ref,
  sum,
  mean,
  product,
  power,
  min,
  max,
  clamp,
  capped,
  decay,
  age,
  table,
  when,
] as const;

type Listed = (typeof listed)[number];
type Read = Extract<Listed, { readonly takes: unknown }>;

/**
 * A formula as data. A plain number may stand wherever a formula may. Every value is a finite float64.
 *
 * `docs/guides/profiles.md` shows each operator with an example.
 */
export type Expression = number | Parameters<Listed['resolve']>[0];

/**
 * A formula with its names and parameters resolved: the input of evaluation, explanation, intervals and compilation.
 * `path` is its place in the profile.
 */
export type Node = ReturnType<Listed['resolve']>;

/** What a node of an explanation contains besides its value. Each field is set by the operators that have it. */
export type ExplanationDetail = Partial<Intersection<ReturnType<Read['detail']>>>;

type Intersection<Union> = (Union extends unknown ? (value: Union) => void : never) extends (
  value: infer All,
) => void
  ? All
  : never;

/** A number that is fixed before any memory is scored. */
export type Scalar = number | { readonly op: 'param'; readonly name: string };

export interface WeightedTerm {
  /** Default is 1. */
  readonly weight?: Scalar | undefined;
  readonly of: Expression;
}

type Written = Exclude<Expression, number>;

export const OPERATOR_NAMES: readonly Written['op'][] = listed.map(({ name }) => name);

const notations = new Map<string, Notation<Written, Node>>(
  listed.map((each) => [each.name, each as Notation<Written, Node>]),
);
const operators = Object.fromEntries(
  listed.flatMap((each) => ('takes' in each ? [[each.name, each]] : [])),
) as unknown as { readonly [Name in Node['op']]: Operator<Written, Node, object> };

/** Returns how an operator is written; `undefined` for an unknown name. */
export function notationOf(name: string): Notation<Written, Node> | undefined {
  return notations.get(name);
}

/** Returns the operator of a node. */
export function operatorOf({ op }: { readonly op: Node['op'] }): Operator<Written, Node, object> {
  return operators[op];
}

/** Returns the operator of a node from outside; `undefined` for an unknown name. */
export function findOperator(name: string): Operator<Written, Node, object> | undefined {
  return Object.hasOwn(operators, name) ? operators[name as Node['op']] : undefined;
}

import type { SalienceError } from '../../domain/errors.ts';
import type { Instant } from '../../domain/time.ts';
import type { Condition, ResolvedCondition } from '../condition.ts';
import type { Explanation } from '../explain.ts';
import type { ParameterValue } from '../profile.ts';
import type { Signals } from '../signals.ts';
import type { CountedWords } from '../word-counts.ts';
import type { Expression, Node, Scalar } from './index.ts';
import type { Age, Interval, Knowledge } from './interval.ts';
import type { Columns, Facts, Lane, Rooms, Step } from './lanes.ts';

/** How an operator is written in a profile. */
export interface Notation<Written extends { readonly op: string }, Resolved> {
  readonly name: Written['op'];
  /** Its keys besides `op`, and the kind of each. */
  readonly keys: { readonly [Key in KeyOf<Written>]: KeyKind };
  /** Checks an expression and resolves its names and parameters. Throws `invalid_profile` with the path. */
  resolve(expression: Written, path: string, resolver: Resolver): Resolved;
  /** Returns the expression as people write formulas. */
  formula(expression: Written, text: FormulaText): string;
  /** Whether that text needs brackets next to × and ^. Default is no. */
  isLoose?(expression: Written): boolean;
}

/**
 * Everything about an operator: how it is written, and how each reading of a formula handles it. `Known` is what its
 * node in an explanation contains besides its value.
 */
export interface Operator<
  Written extends { readonly op: string },
  Resolved extends object,
  Known extends object,
> extends Notation<Written, Resolved> {
  /** The formulas inside it, whether or not a memory needs all of them. */
  children(node: Resolved): readonly Node[];
  /** The signals, clocks and attributes that the operator itself reads. Default is none. */
  reads?(node: Resolved): readonly string[];
  /** Rejects operands whose range the operator is not defined for. Default accepts all. */
  check?(node: Resolved, check: Check): void;

  /** Evaluates the operator, reading only the inputs that this memory needs. */
  evaluate<Result>(node: Resolved, walk: Walk<Result>): Result;
  /** Computes its value from the values of its inputs. Also used to verify explanations. */
  combine(known: Pick<Resolved, keyof Resolved & keyof Known>, inputs: readonly number[]): number;
  /** Whether its node in an explanation may have this many inputs. */
  takes(inputs: number, known: Partial<Known>): boolean;
  /** Returns the details of its node in an explanation. */
  detail(node: Resolved, inputs: readonly Explanation[], moment: Moment): Known;
  /** Set if it passes on the value of its only input unchanged, even an unknown age. */
  readonly passes?: true;

  /** Returns its lowest and highest value, given what is known of a memory. */
  interval(node: Resolved, intervals: Intervals): Interval;
  /** Returns the interval as an age, which may be unknown. Default is a known age within {@link interval}. */
  age?(node: Resolved, intervals: Intervals): Age;
  /** Bounds blocks of rows. Called once for each node of a formula; the steps it adds run once for each block. */
  compile(node: Resolved, compilation: Compilation): Lane;

  /**
   * Returns its line in a drawn explanation. `sourceOf` finds the node that a value comes from, below those that pass
   * it on.
   */
  line(tree: Explanation, quote: Quote, sourceOf: (tree: Explanation) => Explanation): Line;
  /** Returns the words before those of its only input, which share its line; `undefined` if it changes the value. */
  lead?(tree: Explanation, quote: Quote): string | undefined;
  /** Returns its text in a one-line summary. Default is its name and value. */
  summary?(tree: Explanation, terms: SummaryTerms): string;
  /** Returns its name in a summary. Default is none, or the name of the only input that shares its line. */
  label?(tree: Explanation, nameOf: (tree: Explanation) => string): string | undefined;
  /** Returns what to call it if it has no name. Default is the operator and the names of its inputs. */
  title?(tree: Explanation): string;
  /** Divides the difference of two of its values among the inputs. Without this, the difference is not divided. */
  shares?(a: Explanation, b: Explanation): readonly number[];
}

/** `formula`: one formula. `formulas`: a list. `terms`: a list with weights. `scalar`: a number or a parameter. */
export type KeyKind = 'formula' | 'formulas' | 'terms' | 'scalar' | 'other';

type KeyOf<Written> = Written extends unknown ? Exclude<keyof Written, 'op'> : never;

/** Helpers for `resolve`. Each throws `invalid_profile` with the path given to it. */
export interface Resolver {
  formula(expression: Expression, path: string): Node;
  formulas(list: readonly Expression[], path: string): readonly Node[];
  scalar(value: Scalar, path: string): number;
  condition(condition: Condition, path: string): ResolvedCondition;
  part(name: string, path: string): Node;
  parameter(name: string, path: string): ParameterValue;
  /** Returns the choices of a parameter; `undefined` if it is not a choice. */
  choicesOf(name: string): readonly string[] | undefined;
  object<Value>(value: Value, path: string): Value & object;
  nonEmpty<Value>(list: readonly Value[], path: string): readonly Value[];
  onlyKeys(value: object, allowed: readonly string[], path: string): void;
  /** Returns `name` if it is one of `known`. */
  oneOf<Name extends string>(kind: string, name: string, known: readonly Name[], path: string): Name;
  fault(path: string, problem: string): SalienceError;
}

/** Helpers for `check`. */
export interface Check {
  /** Returns the interval of all values that a formula can take for any memory. */
  range(node: Node): Interval;
  fault(path: string, problem: string): SalienceError;
}

export interface Moment {
  readonly signals: Signals;
  readonly now: Instant;
  readonly words?: CountedWords | undefined;
}

/** One evaluation. `Result` is a number, or a tree that shows it. Both come from the same walk. */
export interface Walk<Result> extends Moment {
  of(node: Node): Result;
  value(result: Result): number;
  /** Records a value without inputs. */
  leaf(node: Node, value: number): Result;
  /** Combines inputs by the operator of the node. Throws `non_finite_score`, or `missing_signal` for an unknown age. */
  combine(node: Node, inputs: readonly Result[]): Result;
  unknownAge(node: Node): SalienceError;
}

export interface Intervals extends Knowledge {
  of(node: Node): Interval;
  ageOf(node: Node): Age;
}

export interface Compilation {
  readonly columns: Columns;
  readonly steps: Step[];
  /** Where lanes get their arrays. */
  readonly rooms: Pick<Rooms, 'next'>;
  /** Whether blocks cover a span of time instead of one moment, so that ages are intervals. */
  readonly spans: boolean;
  of(node: Node): Lane;
  range(node: Node): Interval;
  /** Whether rounding alone may decide if a node is 0: lanes are added up in another order than scores. */
  cancels(node: Node): boolean;
  readonly facts: Facts;
}

/** Makes a text of unknown origin safe to print. */
export type Quote = (text: string) => string;

export interface Branch {
  readonly tree: Explanation;
  /** Its role for the parent: its weight and contribution, or what it is used for. */
  readonly role?: string | undefined;
  /** Its share of all inputs, shown after the role if there is room. */
  readonly share?: string | undefined;
}

export interface Line {
  readonly words: string;
  readonly branches: readonly Branch[];
  /** Text for a line of its own below. */
  readonly note?: string | undefined;
}

export interface FormulaText {
  of(expression: Expression): string;
  /** Returns the text, in brackets where × or ^ next to it would bind more tightly. */
  tight(expression: Expression): string;
  condition(condition: Condition): string;
}

/** Formats inputs for a summary. Inputs that change nothing are left out, and the weakest if there is no room. */
export interface SummaryTerms {
  /** Factors joined by ×. */
  factors(inputs: readonly Explanation[]): string;
  /** Joins terms by + and −; `weights` are their factors. */
  addends(inputs: readonly Explanation[], weights: readonly number[]): string;
  /** Lists all inputs by name and value. */
  list(inputs: readonly Explanation[]): string;
}

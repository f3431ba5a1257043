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
  /** Its keys beside `op`, and what each holds. */
  readonly keys: { readonly [Key in KeyOf<Written>]: KeyKind };
  /** Checks it and resolves its names and parameters. Throws `invalid_profile` with the path. */
  resolve(expression: Written, path: string, resolver: Resolver): Resolved;
  /** As people write formulas. */
  formula(expression: Written, text: FormulaText): string;
  /** Whether that text needs brackets beside × and ^. Default is no. */
  isLoose?(expression: Written): boolean;
}

/**
 * Everything that an operator is: how it is written, and what each reading of a formula makes of it. `Known` is what
 * its node in an explanation says beside its value.
 */
export interface Operator<
  Written extends { readonly op: string },
  Resolved extends object,
  Known extends object,
> extends Notation<Written, Resolved> {
  /** The formulas inside it, whether or not a memory needs all of them. */
  children(node: Resolved): readonly Node[];
  /** The signals, clocks and attributes that it looks at itself. Default is none. */
  reads?(node: Resolved): readonly string[];
  /** Refuses operands whose range it is not defined for. Default is that all are fine. */
  check?(node: Resolved, check: Check): void;

  /** Its value, from those of the inputs that this memory needs. */
  evaluate<Result>(node: Resolved, walk: Walk<Result>): Result;
  /** Its value from those of its inputs: also what verifies an explanation. */
  combine(known: Pick<Resolved, keyof Resolved & keyof Known>, inputs: readonly number[]): number;
  /** Whether its node in an explanation may have so many inputs. */
  takes(inputs: number, known: Partial<Known>): boolean;
  /** What its node in an explanation says. */
  detail(node: Resolved, inputs: readonly Explanation[], moment: Moment): Known;
  /** The value of its only input is passed on as it is, an unknown age too. Default is no. */
  readonly passes?: true;

  /** Its lowest and highest value, given what is known of a memory. */
  interval(node: Resolved, intervals: Intervals): Interval;
  /** The same as an age, which may be unknown. Default is a known one within {@link interval}. */
  age?(node: Resolved, intervals: Intervals): Age;
  /** The same for blocks of rows. Called once for each node of a formula; what it adds to the steps runs once a block. */
  compile(node: Resolved, compilation: Compilation): Lane;

  /** Its line in a drawn explanation. `sourceOf` is the node that a value comes from, past those that pass it on. */
  line(tree: Explanation, quote: Quote, sourceOf: (tree: Explanation) => Explanation): Line;
  /** The words before those of its only input, whose line it shares; `undefined` where it changes the value. */
  lead?(tree: Explanation, quote: Quote): string | undefined;
  /** In the one line of a summary. Default is its name and value. */
  summary?(tree: Explanation, terms: SummaryTerms): string;
  /** Its name there. Default is none, or that of the only input that it shares a line with. */
  label?(tree: Explanation, nameOf: (tree: Explanation) => string): string | undefined;
  /** What a reader calls it where it has no name. Default is the operator and the names of its inputs. */
  title?(tree: Explanation): string;
  /** How the difference of two of its values divides among the inputs. Default is that it does not. */
  shares?(a: Explanation, b: Explanation): readonly number[];
}

/** `formula`: one, `formulas`: a list, `terms`: a list with weights, `scalar`: a number that parameters fix. */
export type KeyKind = 'formula' | 'formulas' | 'terms' | 'scalar' | 'other';

type KeyOf<Written> = Written extends unknown ? Exclude<keyof Written, 'op'> : never;

/** What resolving has at hand. Each throws `invalid_profile` with the path that it is given. */
export interface Resolver {
  formula(expression: Expression, path: string): Node;
  formulas(list: readonly Expression[], path: string): readonly Node[];
  scalar(value: Scalar, path: string): number;
  condition(condition: Condition, path: string): ResolvedCondition;
  part(name: string, path: string): Node;
  parameter(name: string, path: string): ParameterValue;
  /** What a parameter may be; `undefined` for one that is no choice. */
  choicesOf(name: string): readonly string[] | undefined;
  object<Value>(value: Value, path: string): Value & object;
  nonEmpty<Value>(list: readonly Value[], path: string): readonly Value[];
  onlyKeys(value: object, allowed: readonly string[], path: string): void;
  /** `name` if it is among those known. */
  oneOf<Name extends string>(kind: string, name: string, known: readonly Name[], path: string): Name;
  fault(path: string, problem: string): SalienceError;
}

/** What checking operands has at hand. */
export interface Check {
  /** All values that a formula can take, whatever the memory. */
  range(node: Node): Interval;
  fault(path: string, problem: string): SalienceError;
}

export interface Moment {
  readonly signals: Signals;
  readonly now: Instant;
  readonly words?: CountedWords | undefined;
}

/** One evaluation. `Result` is a number, or a tree that shows it: both come from the same walk. */
export interface Walk<Result> extends Moment {
  of(node: Node): Result;
  value(result: Result): number;
  /** A value that has no inputs. */
  leaf(node: Node, value: number): Result;
  /** The value that the operator makes of inputs. Throws `non_finite_score`, or `missing_signal` for an unknown age. */
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
  /** Blocks hold for a span of time, not for one moment: ages are wide. */
  readonly spans: boolean;
  of(node: Node): Lane;
  range(node: Node): Interval;
  /** Whether rounding alone decides if this is 0: lanes add up in another order than evaluation does. */
  cancels(node: Node): boolean;
  readonly facts: Facts;
}

/** Writes a text of unknown origin so that it cannot be taken for anything else. */
export type Quote = (text: string) => string;

export interface Branch {
  readonly tree: Explanation;
  /** What the parent makes of this input: its weight and contribution, or the role it plays. */
  readonly role?: string | undefined;
  /** The part of all inputs that this one is of, after the role where there is room. */
  readonly share?: string | undefined;
}

export interface Line {
  readonly words: string;
  readonly branches: readonly Branch[];
  /** What stands on a line of its own below it. */
  readonly note?: string | undefined;
}

export interface FormulaText {
  of(expression: Expression): string;
  /** In brackets where × or ^ beside it would tear it apart. */
  tight(expression: Expression): string;
  condition(condition: Condition): string;
}

/** How a summary shows inputs: those that change nothing are left out, and the weakest where there is no room. */
export interface SummaryTerms {
  /** Factors joined by ×. */
  factors(inputs: readonly Explanation[]): string;
  /** Terms joined by + and −; `contributions` are what they add. */
  addends(inputs: readonly Explanation[], weights: readonly number[]): string;
  /** All of them, each by name and value. */
  list(inputs: readonly Explanation[]): string;
}

import { invalidArgument } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';

declare const strategyBrand: unique symbol;

/** The score of any strategy. It can be shown, but not compared with other scores. */
export interface AnyScore {
  readonly strategy: string;
  /** Hash of the formula and its parameters. */
  readonly profileHash: string;
  /** In [0, 1]. For showing; comparing it with another strategy's value means nothing. */
  readonly value: number;
  toJSON(): number;
  toString(): string;
  /**
   * Returns the number as text for string conversion. Any other conversion throws `incomparable_scores`, because `<`
   * and `−` would compare scores that must not be compared.
   */
  [Symbol.toPrimitive](hint: string): string;
  readonly [strategyBrand]?: unknown;
}

/** The type of a score of a strategy; {@link AnyScore} if the strategy is not known. */
export type ScoreOf<Strategy extends string> = string extends Strategy ? AnyScore : Score<Strategy>;

/**
 * A score together with the strategy and the parameters that made it. Scores of different strategies, profiles or
 * parameters have different meanings and cannot be compared. Order scores of one strategy with {@link compareScores}.
 * JSON and template strings show the number, `console.log` the number and the strategy.
 *
 * @example
 * ```ts
 * const { hits: [best] } = await memory.recall('coffee', { strategy: 'bm25' });
 * console.log(best?.score); // 0.9186318131256953 (bm25)
 * console.log(`score: ${best?.score}`); // score: 0.9186318131256953
 * ```
 */
export interface Score<Strategy extends string> extends AnyScore {
  readonly strategy: Strategy;
  /** Makes the type invariant: a score of one strategy is not a score of several. */
  readonly [strategyBrand]?: (strategy: Strategy) => Strategy;
}

/** How Node and others that keep to its convention print an object; a property that has no type and is not listed. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** Methods on a prototype, as there are as many scores as hits. */
class StrategyScore<Strategy extends string> implements Score<Strategy> {
  readonly strategy: Strategy;
  readonly profileHash: string;
  readonly value: number;

  constructor(strategy: Strategy, profileHash: string, value: number) {
    this.strategy = strategy;
    this.profileHash = profileHash;
    this.value = value;
    Object.freeze(this);
  }

  toJSON(): number {
    return this.value;
  }

  toString(): string {
    return String(this.value);
  }

  [Symbol.toPrimitive](hint: string): string {
    if (hint === 'string') return String(this.value);
    throw new SalienceError(
      'incomparable_scores',
      `a score of ${this.strategy} is not a plain number: order scores with compareScores(a, b), show them with score.value`,
      { details: { strategy: this.strategy } },
    );
  }

  // Includes the strategy: printed numbers alone would invite comparing scores of several strategies.
  [INSPECT](): string {
    return `${this.value} (${this.strategy})`;
  }
}

/** Wraps a value as a {@link Score}. */
export function makeScore<Strategy extends string>(
  strategy: Strategy,
  profileHash: string,
  value: number,
): Score<Strategy> {
  return new StrategyScore(strategy, profileHash, value);
}

/**
 * Orders two scores of the same strategy, higher first; usable with `sort`.
 * Throws `incomparable_scores` when their formulas or parameters differ, and `invalid_argument` for a value that is not a
 * score, such as the number of one that went through JSON.
 *
 * @example
 * ```ts
 * const { hits } = await memory.recall('coffee', { strategy: 'bm25' });
 * const best = hits.toSorted((a, b) => compareScores(a.score, b.score))[0];
 * ```
 */
export function compareScores<Strategy extends string>(
  a: Score<Strategy>,
  b: Score<NoInfer<Strategy>>,
): number {
  checkScore(a, 'a');
  checkScore(b, 'b');
  if (a.strategy !== b.strategy || a.profileHash !== b.profileHash) {
    throw new SalienceError(
      'incomparable_scores',
      `a score of ${a.strategy} cannot be compared with one of ${b.strategy}${
        a.strategy === b.strategy ? ' that was made with other parameters' : ''
      }: each formula has a scale of its own; recall once with one strategy instead`,
      { details: { strategies: [a.strategy, b.strategy] } },
    );
  }
  return b.value - a.value;
}

function checkScore(score: AnyScore, field: string): void {
  // Not by its class: another copy of this package has one of its own.
  if (
    typeof score === 'object' &&
    typeof score?.strategy === 'string' &&
    typeof score.profileHash === 'string' &&
    typeof score.value === 'number'
  )
    return;
  throw invalidArgument(field, `expected a score, as hit.score is one, not ${describe(score)}`);
}

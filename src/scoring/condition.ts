import { describe } from '../domain/describe.ts';
import { CLOCK_NAMES, type ClockName } from '../domain/fields.ts';
import type { Instant } from '../domain/time.ts';
import type { Scalar } from './operators/index.ts';
import type { Knowledge } from './operators/interval.ts';
import { BLOCK_SIZE, type Block, type Columns, loadSignal, roomFor, valueAt } from './operators/lanes.ts';
import type { Resolver } from './operators/operator.ts';
import { scalarText, visible } from './show.ts';
import {
  ATTRIBUTE_NAMES,
  type AttributeName,
  attributeText,
  isClockName,
  isQuerySignal,
  SIGNAL_NAMES,
  SIGNALS,
  type SignalName,
  type Signals,
} from './signals.ts';

export type Condition =
  | { readonly attribute: AttributeName; readonly is: string | readonly string[] }
  /** The value of a signal, its default included, lies within all the limits given. */
  | {
      readonly signal: SignalName;
      readonly above?: Scalar | undefined;
      readonly atLeast?: Scalar | undefined;
      readonly below?: Scalar | undefined;
      readonly atMost?: Scalar | undefined;
    }
  /** The signal or clock is known, not defaulted. */
  | { readonly known: SignalName | ClockName }
  /**
   * The clock is known, and its moment was at least `by` milliseconds ago. Default is 0. With a negative `by` it may
   * still be that far ahead.
   */
  | { readonly passed: ClockName; readonly by?: Scalar | undefined }
  | { readonly param: string; readonly is: string | boolean };

/** A condition with its names and parameters resolved. */
export type ResolvedCondition =
  | { readonly test: 'attribute'; readonly attribute: AttributeName; readonly values: readonly string[] }
  | {
      readonly test: 'signal';
      readonly signal: SignalName;
      readonly missing: number;
      readonly limits: Limits;
    }
  | { readonly test: 'known'; readonly name: SignalName | ClockName }
  | { readonly test: 'passed'; readonly clock: ClockName; readonly by: number }
  /** Decided by the parameters alone. */
  | { readonly test: 'fixed'; readonly holds: boolean; readonly text: string };

/** The limits that a signal must lie within. */
export interface Limits {
  readonly above: number | undefined;
  readonly atLeast: number | undefined;
  readonly below: number | undefined;
  readonly atMost: number | undefined;
}

/** Resolves the names and parameters of a condition. Throws `invalid_profile` with the path. */
export function resolveCondition(condition: Condition, path: string, resolver: Resolver): ResolvedCondition {
  resolver.object(condition, path);
  if ('attribute' in condition) {
    resolver.onlyKeys(condition, ['attribute', 'is'], path);
    const attribute = resolver.oneOf('attribute', condition.attribute, ATTRIBUTE_NAMES, `${path}.attribute`);
    const values =
      typeof condition.is === 'object' ? resolver.nonEmpty(condition.is, `${path}.is`) : [condition.is];
    if (values.some((value) => typeof value !== 'string')) {
      throw resolver.fault(
        `${path}.is`,
        'an attribute is compared with texts, a flag with "true" or "false"',
      );
    }
    return { test: 'attribute', attribute, values };
  }
  if ('signal' in condition) {
    resolver.onlyKeys(condition, ['signal', 'above', 'atLeast', 'below', 'atMost'], path);
    const signal = resolver.oneOf('signal', condition.signal, SIGNAL_NAMES, `${path}.signal`);
    const limit = (key: keyof Limits) => {
      const value = condition[key];
      return value === undefined ? undefined : resolver.scalar(value, `${path}.${key}`);
    };
    const limits: Limits = {
      above: limit('above'),
      atLeast: limit('atLeast'),
      below: limit('below'),
      atMost: limit('atMost'),
    };
    if (Object.values(limits).every((each) => each === undefined)) {
      throw resolver.fault(path, 'give at least one of above, atLeast, below and atMost');
    }
    return { test: 'signal', signal, missing: SIGNALS[signal].otherwise, limits };
  }
  if ('known' in condition) {
    resolver.onlyKeys(condition, ['known'], path);
    const names = [...SIGNAL_NAMES, ...CLOCK_NAMES];
    return {
      test: 'known',
      name: resolver.oneOf('signal or clock', condition.known, names, `${path}.known`),
    };
  }
  if ('passed' in condition) {
    resolver.onlyKeys(condition, ['passed', 'by'], path);
    return {
      test: 'passed',
      clock: resolver.oneOf('clock', condition.passed, CLOCK_NAMES, `${path}.passed`),
      by: condition.by === undefined ? 0 : resolver.scalar(condition.by, `${path}.by`),
    };
  }
  if ('param' in condition) {
    resolver.onlyKeys(condition, ['param', 'is'], path);
    const value = resolver.parameter(condition.param, path);
    if (typeof value === 'number' || typeof value !== typeof condition.is) {
      throw resolver.fault(
        path,
        `parameter ${condition.param} cannot be compared with ${describe(condition.is)}`,
      );
    }
    const choices = resolver.choicesOf(condition.param);
    if (choices) resolver.oneOf('value', condition.is as string, choices, `${path}.is`);
    return { test: 'fixed', holds: value === condition.is, text: `${condition.param} is ${condition.is}` };
  }
  throw resolver.fault(path, 'a condition has attribute, signal, known, passed or param');
}

/**
 * Combines the limits that all of these conditions set for a signal. Returns `undefined` if one of them is about
 * anything else.
 */
export function limitsOn(name: SignalName, conditions: readonly ResolvedCondition[]): Limits | undefined {
  const limits = { above: -Infinity, atLeast: -Infinity, below: Infinity, atMost: Infinity };
  for (const condition of conditions) {
    if (condition.test !== 'signal' || condition.signal !== name) return undefined;
    const { above, atLeast, below, atMost } = condition.limits;
    limits.above = Math.max(limits.above, above ?? -Infinity);
    limits.atLeast = Math.max(limits.atLeast, atLeast ?? -Infinity);
    limits.below = Math.min(limits.below, below ?? Infinity);
    limits.atMost = Math.min(limits.atMost, atMost ?? Infinity);
  }
  return limits;
}

export function conditionHolds(condition: ResolvedCondition, signals: Signals, now: Instant): boolean {
  switch (condition.test) {
    case 'fixed':
      return condition.holds;
    case 'known':
      return signals[condition.name] !== undefined;
    case 'passed': {
      const at = signals[condition.clock];
      return at !== undefined && at <= now - condition.by;
    }
    case 'attribute':
      return condition.values.includes(attributeText(signals, condition.attribute));
    case 'signal':
      return isWithin(signals[condition.signal] ?? condition.missing, condition.limits);
  }
}

/** Whether a condition holds; `undefined` if what is known does not decide it. */
export function conditionKnown(condition: ResolvedCondition, knowledge: Knowledge): boolean | undefined {
  switch (condition.test) {
    case 'fixed':
      return condition.holds;
    case 'passed':
      // An age is never negative, so it does not tell whether a moment is still ahead.
      return knowledge.known(condition.clock) === false ? false : undefined;
    case 'known':
      return knowledge.known(condition.name);
    case 'attribute': {
      const text = knowledge.attribute(condition.attribute);
      return text === undefined ? undefined : condition.values.includes(text);
    }
    case 'signal': {
      const verdict = judge(...knowledge.signal(condition.signal, condition.missing), condition.limits);
      return verdict === 2 ? undefined : verdict === 1;
    }
  }
}

/** Returns a function that tests a condition for each row of a block: 0 no, 1 yes, 2 undecided. */
export function compileCondition(
  condition: ResolvedCondition,
  columns: Columns,
): (block: Block) => Uint8Array {
  const verdict = new Uint8Array(BLOCK_SIZE);
  switch (condition.test) {
    case 'fixed':
      verdict.fill(condition.holds ? 1 : 0);
      return () => verdict;
    case 'attribute': {
      const { codes, texts } = columns.attribute(condition.attribute);
      const holds = Uint8Array.from(texts, (text) => (condition.values.includes(text) ? 1 : 0));
      return ({ rows, count }) => {
        for (let at = 0; at < count; at++) verdict[at] = holds[codes[rows[at]!]!]!;
        return verdict;
      };
    }
    case 'passed': {
      const clock = columns.clock(condition.clock);
      const { by } = condition;
      return ({ rows, count, now, until }) => {
        for (let at = 0; at < count; at++) {
          const instant = valueAt(clock, rows[at]!);
          verdict[at] = instant <= now - by ? 1 : instant <= until - by ? 2 : 0;
        }
        return verdict;
      };
    }
    case 'known': {
      const { name } = condition;
      if (isClockName(name)) {
        const clock = columns.clock(name);
        return ({ rows, count }) => {
          for (let at = 0; at < count; at++) verdict[at] = Number.isNaN(valueAt(clock, rows[at]!)) ? 0 : 1;
          return verdict;
        };
      }
      if (!isQuerySignal(name)) {
        verdict.fill(1);
        return () => verdict;
      }
      const lane = roomFor(name);
      const load = loadSignal(columns, name, Number.NaN, lane);
      return (block) => {
        load(block);
        for (let at = 0; at < block.count; at++) verdict[at] = Number.isNaN(lane.low[at]!) ? 0 : 1;
        return verdict;
      };
    }
    case 'signal': {
      const { signal, missing, limits } = condition;
      const lane = roomFor(signal);
      const load = loadSignal(columns, signal, missing, lane);
      return (block) => {
        load(block);
        for (let at = 0; at < block.count; at++) verdict[at] = judge(lane.low[at]!, lane.high[at]!, limits);
        return verdict;
      };
    }
  }
}

/** Returns the signals, clocks and attributes that a condition reads. */
export function namesOfCondition(condition: ResolvedCondition): readonly string[] {
  switch (condition.test) {
    case 'attribute':
      return [condition.attribute];
    case 'signal':
      return [condition.signal];
    case 'passed':
      return [condition.clock];
    case 'known':
      return [condition.name];
    case 'fixed':
      return [];
  }
}

/** Returns the text of a resolved condition, for explanations. */
export function conditionText(condition: ResolvedCondition): string {
  switch (condition.test) {
    case 'fixed':
      return `parameter ${condition.text}`;
    case 'passed':
      return passedText(condition.clock, condition.by);
    case 'known':
      return `${condition.name} is known`;
    case 'attribute':
      return `${condition.attribute} is ${condition.values.join(' or ')}`;
    case 'signal':
      return `${condition.signal} ${limitTexts(condition.limits, String).join(' and ')}`;
  }
}

/** Returns the text of a condition as written, for formulas. */
export function writtenCondition(condition: Condition): string {
  if ('attribute' in condition) {
    const values = typeof condition.is === 'string' ? [condition.is] : condition.is;
    return `${condition.attribute} is ${values.map(visible).join(' or ')}`;
  }
  if ('passed' in condition) return passedText(condition.passed, condition.by);
  if ('known' in condition) return `${condition.known} is known`;
  if ('param' in condition) return `${visible(condition.param)} is ${visible(String(condition.is))}`;
  return limitTexts(condition, scalarText)
    .map((limit) => `${condition.signal} ${limit}`)
    .join(' and ');
}

function passedText(clock: ClockName, by: Scalar = 0): string {
  if (by === 0) return `${clock} has passed`;
  return typeof by === 'number' && by < 0
    ? `${clock} passes within ${-by} ms`
    : `${clock} passed at least ${scalarText(by)} ms ago`;
}

const SIGNS = { above: '>', atLeast: '≥', below: '<', atMost: '≤' } as const;

function limitTexts<Value>(
  limits: { readonly [Key in keyof Limits]?: Value | undefined },
  write: (value: Value) => string,
): readonly string[] {
  return (['above', 'atLeast', 'below', 'atMost'] as const).flatMap((key) => {
    const limit = limits[key];
    return limit === undefined ? [] : [`${SIGNS[key]} ${write(limit)}`];
  });
}

export function isWithin(value: number, { above, atLeast, below, atMost }: Limits): boolean {
  return (
    (above === undefined || value > above) &&
    (atLeast === undefined || value >= atLeast) &&
    (below === undefined || value < below) &&
    (atMost === undefined || value <= atMost)
  );
}

function judge(low: number, high: number, limits: Limits): 0 | 1 | 2 {
  if (low === high) return isWithin(low, limits) ? 1 : 0;
  if (isWithin(low, limits) && isWithin(high, limits)) return 1;
  // Undecided unless the whole interval lies outside one of the limits.
  const tooLow = high < (limits.atLeast ?? -Infinity) || high <= (limits.above ?? -Infinity);
  const tooHigh = low > (limits.atMost ?? Infinity) || low >= (limits.below ?? Infinity);
  return tooLow || tooHigh ? 0 : 2;
}

import fc from 'fast-check';
import { CLOCK_NAMES, type ClockName } from '../domain/fields.ts';
import { type Instant, MILLISECONDS_PER_DAY } from '../domain/time.ts';
import type { Condition } from '../scoring/condition.ts';
import {
  type Expression,
  notationOf,
  OPERATOR_NAMES,
  type Scalar,
  type WeightedTerm,
} from '../scoring/operators/index.ts';
import type { ParameterOverrides, ProfileDefinition } from '../scoring/profile.ts';
import {
  ATTRIBUTE_NAMES,
  type AttributeName,
  isFlag,
  QUERY_SIGNALS,
  SIGNAL_NAMES,
  SIGNALS,
  type SignalName,
  type Signals,
} from '../scoring/signals.ts';

/**
 * Random formulas over every operator, and random signals to score by them. Every profile made here is valid, has
 * a finite value for all signals of {@link arbitrarySignals}, and needs no known clock.
 */

/** The moment around which random clocks lie. */
export const ARBITRARY_NOW: Instant = Date.UTC(2026, 0, 1);

/** Attribute values that random tables, conditions and memories share, so that they often match. */
const attributeValues: Readonly<Record<AttributeName, readonly string[]>> = {
  type: ['fact', 'event', 'decision', 'other', 'something new'],
  scope: ['global', 'project:match', 'team:a/project:b'],
  tier: ['hot', 'cold', 'stub'],
  source: ['stated', 'imported'],
  author: ['', 'Ann Lee', 'Will'],
  role: ['', 'user', 'assistant'],
  core: ['true', 'false'],
  superseded: ['true', 'false'],
};

const parameters: NonNullable<ProfileDefinition['parameters']> = {
  share: { kind: 'number', default: 0.4, min: 0.1, max: 1 },
  'pace.days': { kind: 'number', default: 30, min: 1, max: 400 },
  mode: { kind: 'choice', default: 'plain', choices: ['plain', 'bold'] },
  active: { kind: 'flag', default: true },
};

const partNames = ['first', 'second', 'third'] as const;

export interface ArbitraryProfileOptions {
  /** How deep operators nest below the root and below each part. Default is 3. */
  readonly depth?: number | undefined;
  /** Which signals the formulas read. Default is all. */
  readonly signals?: readonly SignalName[] | undefined;
}

/** Draws a valid profile: a clamp around a random formula, with parts that refer to earlier parts, parameters and requirements. */
export function arbitraryProfile(options: ArbitraryProfileOptions = {}): fc.Arbitrary<ProfileDefinition> {
  const { depth = 3, signals = SIGNAL_NAMES } = options;
  const [first, second, third] = partNames;
  return fc
    .record({
      elapsed: age,
      first: arbitraryExpression({ depth: depth - 1, signals, refs: [] }),
      second: arbitraryExpression({ depth: depth - 1, signals, refs: [first] }),
      third: arbitraryExpression({ depth: depth - 1, signals, refs: [first, second] }),
      of: arbitraryExpression({ depth, signals, refs: [first, second, third] }),
      scale: fc.constantFrom(1, 0.5, 0.01),
      require: fc.array(arbitraryCondition(signals), { maxLength: 1 }),
    })
    .map(({ of, scale, require, ...parts }) => ({
      name: 'random',
      description: 'A random formula.',
      parameters,
      parts,
      score: { op: 'clamp', of: { op: 'product', of: [scale, of] } },
      require,
    }));
}

/** Draws overrides that are valid for the parameters of every {@link arbitraryProfile}. */
export function arbitraryParameters(): fc.Arbitrary<ParameterOverrides> {
  return fc.record(
    {
      share: number(0.1, 1),
      pace: fc.record({ days: number(1, 400) }),
      mode: fc.constantFrom('plain', 'bold'),
      active: fc.boolean(),
    },
    { requiredKeys: [] },
  );
}

/** Draws a finite number of moderate size, but never −0, which JSON does not distinguish from 0. */
function number(min: number, max: number): fc.Arbitrary<number> {
  return fc
    .oneof(fc.double({ min, max, noNaN: true }), fc.integer({ min: Math.ceil(min), max: Math.floor(max) }))
    .map((value) => value + 0);
}

const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  { weight: 4, arbitrary: number(-3, 3) },
  { weight: 1, arbitrary: fc.constant({ op: 'param', name: 'share' } as const) },
);

const clock = fc.constantFrom<ClockName>('createdAt', 'updatedAt', 'lastAccessedAt', 'validFrom');
const clocks = fc.uniqueArray(clock, { minLength: 1, maxLength: 3 });

const plainAge: fc.Arbitrary<Expression> = fc.oneof(
  clock.map((of): Expression => ({ op: 'age', of })),
  clocks.map((latest): Expression => ({ op: 'age', of: { latest } })),
  clocks.map((earliest): Expression => ({ op: 'age', of: { earliest } })),
);

/** An age that may be unknown, directly or through choices. */
const age: fc.Arbitrary<Expression> = fc.oneof(
  { weight: 4, arbitrary: plainAge },
  {
    weight: 1,
    arbitrary: fc
      .record({ if: clock.map((known) => ({ known })), then: plainAge, else: plainAge })
      .map((choice): Expression => ({ op: 'when', ...choice })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ case: plainAge, otherwise: plainAge })
      .map(
        ({ case: fact, otherwise }): Expression => ({ op: 'table', by: 'type', cases: { fact }, otherwise }),
      ),
  },
);

function arbitraryCondition(signals: readonly SignalName[]): fc.Arbitrary<Condition> {
  const limit = fc.oneof(number(0, 1), fc.constant({ op: 'param', name: 'share' } as const));
  return fc.oneof(
    fc
      .constantFrom(...ATTRIBUTE_NAMES)
      .chain((attribute) =>
        fc
          .subarray([...attributeValues[attribute]], { minLength: 1 })
          .map((is): Condition => ({ attribute, is: is.length === 1 ? (is[0] as string) : is })),
      ),
    fc
      .tuple(
        fc.constantFrom(...signals),
        fc.constantFrom('above', 'atLeast', 'below', 'atMost'),
        limit,
        fc.option(number(0, 20), { nil: undefined }),
      )
      .map(
        ([signal, key, value, most]): Condition => ({ signal, ...(most && { atMost: most }), [key]: value }),
      ),
    fc
      .constantFrom<SignalName | ClockName>(...signals, 'createdAt', 'lastAccessedAt')
      .map((known) => ({ known })),
    fc
      .tuple(
        fc.constantFrom<ClockName>('validUntil', 'expiresAt', 'createdAt'),
        fc.option(fc.constantFrom(0, 1, -1, 86_400_000, -5 * 86_400_000), { nil: undefined }),
      )
      .map(([passed, by]): Condition => ({ passed, ...(by === undefined ? {} : { by }) })),
    fc.constantFrom<Condition>({ param: 'mode', is: 'bold' }, { param: 'active', is: true }),
  );
}

/** The operators that accept any formulas. Those with limits of their own are drawn below. */
const plainOperators = OPERATOR_NAMES.filter((name) => {
  const kinds = Object.values(notationOf(name)?.keys ?? {});
  return name !== 'power' && kinds.every((kind) => kind === 'formula' || kind === 'formulas');
});

function arbitraryOperands(
  op: string,
  one: fc.Arbitrary<Expression>,
  several: fc.Arbitrary<readonly Expression[]>,
): fc.Arbitrary<Expression> {
  const keys = Object.entries(notationOf(op)?.keys ?? {});
  const operands: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
    keys.map(([key, kind]) => [key, kind === 'formula' ? one : several]),
  );
  return fc
    .record(operands, { noNullPrototype: true })
    .map((values) => ({ op, ...values }) as unknown as Expression);
}

interface ExpressionOptions {
  readonly depth: number;
  readonly signals: readonly SignalName[];
  /** The parts that the formula may refer to. */
  readonly refs: readonly string[];
}

/**
 * Draws a formula with a finite value. It may refer to the parameters of {@link arbitraryProfile}, to its part
 * `elapsed` (as an age), and to `refs`.
 */
function arbitraryExpression({ depth, signals, refs }: ExpressionOptions): fc.Arbitrary<Expression> {
  const named = refs.map((name) => fc.constant<Expression>({ op: 'ref', name }));
  const leaf = fc.oneof(
    { weight: 6, arbitrary: arbitrarySignal(signals) },
    { weight: 1, arbitrary: number(-3, 3) },
    { weight: 1, arbitrary: number(-3, 3).map((value): Expression => ({ op: 'constant', value })) },
    { weight: 1, arbitrary: fc.constant<Expression>({ op: 'param', name: 'share' }) },
    ...named.map((arbitrary) => ({ weight: 2, arbitrary })),
  );
  if (depth <= 0) return leaf;
  const inner = arbitraryExpression({ depth: depth - 1, signals, refs });
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  const within = (max: number) => inner.map((of): Expression => ({ op: 'clamp', of, min: 0, max }));
  const condition = arbitraryCondition(signals);
  return fc.oneof(
    { weight: 2, arbitrary: leaf },
    { weight: 3, arbitrary: terms(inner, scalar).map(arbitrarySum) },
    {
      weight: 2,
      arbitrary: terms(inner, number(0.1, 3)).map((terms): Expression => ({ op: 'mean', terms })),
    },
    ...plainOperators.map((op) => ({ weight: 2, arbitrary: arbitraryOperands(op, inner, list) })),
    {
      weight: 2,
      arbitrary: fc
        .record({ base: within(50), exponent: fc.oneof(number(0, 2), within(2)) })
        .map((operands): Expression => ({ op: 'power', ...operands })),
    },
    {
      weight: 1,
      arbitrary: fc
        .record({ of: inner, low: number(-3, 3), span: number(0, 5) })
        .map(({ of, low, span }): Expression => ({ op: 'clamp', of, min: low, max: low + span })),
    },
    {
      weight: 2,
      arbitrary: fc
        .record({ of: inner, cap: number(0.01, 50) })
        .map((operands): Expression => ({ op: 'capped', ...operands })),
    },
    { weight: 4, arbitrary: arbitraryDecay(within(1000)) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(...ATTRIBUTE_NAMES).chain((by) =>
        fc
          .record({
            cases: fc.dictionary(fc.constantFrom(...attributeValues[by]), inner, { maxKeys: 2 }),
            otherwise: inner,
          })
          // Copied, because JSON never gives back an object without a prototype.
          .map(({ cases, otherwise }): Expression => ({ op: 'table', by, cases: { ...cases }, otherwise })),
      ),
    },
    {
      weight: 2,
      arbitrary: fc
        .record({ if: condition, then: inner, else: inner })
        .map((choice): Expression => ({ op: 'when', ...choice })),
    },
    {
      weight: 1,
      arbitrary: fc.record({ of: clock, otherwise: inner }).map(
        ({ of, otherwise }): Expression => ({
          op: 'when',
          if: { known: of },
          // The age is known here, so it needs no decay around it.
          then: { op: 'capped', of: { op: 'age', of }, cap: 365 },
          else: otherwise,
        }),
      ),
    },
  );
}

/** Makes a sum. Declares its total if all weights are numbers. Otherwise adds a term of value 0 with weight 1, so that it is not a mean. */
function arbitrarySum(terms: readonly WeightedTerm[]): Expression {
  const weights = terms.map(({ weight = 1 }) => weight);
  const isKnown = weights.every((weight) => typeof weight === 'number');
  if (!isKnown) return { op: 'sum', terms: [...terms, { weight: 1, of: 0 }] };
  return { op: 'sum', total: weights.reduce((total, weight) => total + weight, 0), terms };
}

function terms(
  of: fc.Arbitrary<Expression>,
  weight: fc.Arbitrary<Scalar>,
): fc.Arbitrary<readonly WeightedTerm[]> {
  return fc.array(fc.record({ weight, of }), { minLength: 1, maxLength: 4 });
}

function arbitrarySignal(signals: readonly SignalName[]): fc.Arbitrary<Expression> {
  return fc
    .constantFrom(...signals)
    .chain((name) =>
      fc
        .option(number(0, 1), { nil: undefined })
        .map(
          (missing): Expression =>
            missing === undefined ? { op: 'signal', name } : { op: 'signal', name, missing },
        ),
    );
}

function arbitraryDecay(nonNegative: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  const elapsed = fc.oneof(
    { weight: 4, arbitrary: age },
    { weight: 2, arbitrary: fc.constant<Expression>({ op: 'ref', name: 'elapsed' }) },
    { weight: 1, arbitrary: nonNegative },
  );
  const pace = fc.oneof<fc.Arbitrary<Expression>[]>(
    number(0.5, 400),
    fc.constant({ op: 'param', name: 'pace.days' }),
    nonNegative.map((of) => ({
      op: 'sum',
      terms: [
        { weight: 1, of: 0.5 },
        { weight: 2, of },
      ],
    })),
  );
  const rate = fc.oneof(number(0, 2), nonNegative);
  const shared = { age: elapsed, missing: number(0, 1) };
  return fc.oneof<fc.Arbitrary<Expression>[]>(
    fc.record({ ...shared, halfLife: pace }).map((decay) => ({ op: 'decay', ...decay })),
    fc.record({ ...shared, rate }).map((decay) => ({ op: 'decay', curve: 'exponential', ...decay })),
    fc.record({ ...shared, scale: pace }).map((decay) => ({ op: 'decay', ...decay })),
    fc
      .record({ ...shared, scale: pace, exponent: number(0.1, 3) })
      .map((decay) => ({ op: 'decay', curve: 'power', ...decay })),
  );
}

/** Draws the signals of a memory for a query. Any of them may be absent, and clocks may lie in the future. */
export function arbitrarySignals(): fc.Arbitrary<Signals> {
  const values = Object.fromEntries(SIGNAL_NAMES.map((name) => [name, arbitrarySignalValue(name)]));
  const instant = fc.oneof(
    fc.integer({ min: -4000 * MILLISECONDS_PER_DAY, max: 10 * MILLISECONDS_PER_DAY }),
    fc.integer({ min: -10, max: 10 }).map((days) => days * MILLISECONDS_PER_DAY),
  );
  const instants = Object.fromEntries(
    CLOCK_NAMES.map((name) => [name, instant.map((offset) => ARBITRARY_NOW + offset)]),
  );
  const attributes = Object.fromEntries(
    ATTRIBUTE_NAMES.map((name) => [
      name,
      isFlag(name) ? fc.boolean() : fc.constantFrom(...attributeValues[name]),
    ]),
  );
  return fc.record(
    { ...values, ...instants, ...attributes },
    { requiredKeys: [], noNullPrototype: true },
  ) as fc.Arbitrary<Signals>;
}

/** Draws a value in the range of a signal. Counts are at most 10,000. Round values, which cause ties, are common. */
export function arbitrarySignalValue(name: SignalName): fc.Arbitrary<number> {
  const [low, high] = SIGNALS[name].range;
  if (high === Infinity) return fc.integer({ min: low, max: 10_000 });
  const tenth = fc.integer({ min: 0, max: 10 }).map((tenths) => low + ((high - low) * tenths) / 10);
  const any = fc.double({ min: low, max: high, noNaN: true }).map((value) => value + 0);
  return (QUERY_SIGNALS as readonly string[]).includes(name) ? fc.oneof(any, tenth) : fc.oneof(tenth, any);
}

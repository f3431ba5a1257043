import { exponentialDecay, halfLifeOfRate, powerDecay } from '../arithmetic.ts';
import { scalarText } from '../show.ts';
import type { Expression, Node, Scalar } from './index.ts';
import { corners, hull, type Interval } from './interval.ts';
import { pairLane } from './lanes.ts';
import type { Operator } from './operator.ts';

/**
 * A value that fades with an age in days.
 *
 * Exponential: 2^(−age/halfLife), or the same curve by its `rate` λ (e^(−λ·age)) or its `scale` (e^(−age/scale)).
 * Power: (1 + age/scale)^(−exponent); it takes a `scale`.
 */
export type DecayExpression = {
  readonly op: 'decay';
  /** Default is `exponential`. */
  readonly curve?: 'exponential' | 'power' | undefined;
  readonly age: Expression;
  /** The value when the age is unknown. Without it an unknown age is an error. */
  readonly missing?: Scalar | undefined;
  /** Only for the power curve. Default is 1. */
  readonly exponent?: Scalar | undefined;
} & ({ readonly halfLife: Expression } | { readonly rate: Expression } | { readonly scale: Expression });

export interface Shape {
  readonly curve: 'exponential' | 'power';
  /** Which key gives the pace. */
  readonly per: 'halfLife' | 'rate' | 'scale';
  readonly exponent: number;
}

export interface DecayNode extends Shape {
  readonly op: 'decay';
  readonly path: string;
  readonly age: Node;
  readonly pace: Node;
  readonly missing: number | undefined;
}

export interface Known extends Shape {
  /** Whether the age was unknown. */
  readonly defaulted?: boolean;
}

const PACES = ['halfLife', 'rate', 'scale'] as const;

export const decay: Operator<DecayExpression, DecayNode, Known> = {
  name: 'decay',
  keys: {
    curve: 'other',
    age: 'formula',
    missing: 'scalar',
    exponent: 'scalar',
    halfLife: 'formula',
    rate: 'formula',
    scale: 'formula',
  },
  resolve(expression, path, resolver) {
    const { curve = 'exponential' } = expression;
    if (curve !== 'exponential' && curve !== 'power') {
      throw resolver.fault(`${path}.curve`, 'write "exponential" or "power"');
    }
    const [per, ...more] = PACES.filter((each) => each in expression);
    if (per === undefined || more.length > 0)
      throw resolver.fault(path, 'give exactly one of halfLife, rate and scale');
    if (curve === 'power' && per !== 'scale')
      throw resolver.fault(`${path}.${per}`, 'the power curve takes a scale');
    if (curve === 'exponential' && expression.exponent !== undefined) {
      throw resolver.fault(`${path}.exponent`, 'only the power curve has an exponent');
    }
    const exponent = resolver.scalar(expression.exponent ?? 1, `${path}.exponent`);
    if (exponent <= 0) throw resolver.fault(`${path}.exponent`, 'the exponent must be above 0');
    const { [per]: pace } = expression as unknown as Record<typeof per, Expression>;
    return {
      op: 'decay',
      curve,
      per,
      age: resolver.formula(expression.age, `${path}.age`),
      pace: resolver.formula(pace, `${path}.${per}`),
      exponent,
      missing:
        expression.missing === undefined ? undefined : resolver.scalar(expression.missing, `${path}.missing`),
      path,
    };
  },
  formula(expression, text) {
    const pace =
      'halfLife' in expression
        ? `half-life ${text.of(expression.halfLife)} d`
        : 'rate' in expression
          ? `rate ${text.of(expression.rate)} a day`
          : `scale ${text.of(expression.scale)} d`;
    const { age, curve, exponent = 1, missing } = expression;
    const power = curve === 'power' ? [`power ${scalarText(exponent)}`] : [];
    const unknown = missing === undefined ? [] : [`unknown ${scalarText(missing)}`];
    return `decay(${[text.of(age), pace, ...power, ...unknown].join(', ')})`;
  },
  children: ({ age, pace }) => [age, pace],
  check(node, { range, fault }) {
    const [pace] = range(node.pace);
    if (node.per === 'rate' ? pace < 0 : pace <= 0) {
      const limit = node.per === 'rate' ? 'must not be below 0' : 'must be above 0';
      throw fault(`${node.path}.${node.per}`, `it can be ${rounded(pace)}, and ${limit}`);
    }
    const [age] = range(node.age);
    if (age < 0) throw fault(`${node.path}.age`, `it can be ${rounded(age)}, and must not be below 0`);
  },
  evaluate(node, walk) {
    const age = walk.of(node.age);
    if (!Number.isNaN(walk.value(age))) return walk.combine(node, [age, walk.of(node.pace)]);
    if (node.missing === undefined) throw walk.unknownAge(node.age);
    return walk.leaf(node, node.missing);
  },
  combine: (shape, [age = 0, pace = 0]) => decayed(shape, age, pace),
  takes: (inputs, { defaulted }) => inputs === (defaulted ? 0 : 2),
  detail: ({ curve, per, exponent }, inputs) =>
    inputs.length === 0 ? { curve, per, exponent, defaulted: true } : { curve, per, exponent },
  interval(node, intervals) {
    const age = intervals.ageOf(node.age);
    const missing: Interval | undefined =
      node.missing === undefined ? undefined : [node.missing, node.missing];
    if (age.unknown === 'always' && missing) return missing;
    const pace = intervals.of(node.pace);
    const known = corners(age.interval, pace, (days, each) => decayed(node, days, each));
    return age.unknown === 'maybe' && missing ? hull(known, missing) : known;
  },
  compile(node, compilation) {
    const { missing } = node;
    return pairLane(compilation, compilation.of(node.age), compilation.of(node.pace), (days, pace) =>
      missing !== undefined && Number.isNaN(days) ? missing : decayed(node, days, pace),
    );
  },
  line({ detail, inputs: [age, pace] }, _, sourceOf) {
    const curve = detail.curve === 'power' ? 'power decay' : 'decay';
    if (age === undefined || pace === undefined) {
      return { words: `${curve}, age unknown (defaulted)`, branches: [] };
    }
    const source = sourceOf(age);
    const per = { halfLife: 'half-life', rate: 'rate', scale: 'scale' }[detail.per ?? 'halfLife'];
    const amount = `${per} ${Number(pace.value.toPrecision(6))} ${detail.per === 'rate' ? 'a day' : 'days'}`;
    const exponent =
      detail.curve === 'power' ? `, exponent ${Number((detail.exponent ?? 1).toPrecision(6))}` : '';
    return {
      words: `${curve}, ${amount}${exponent}`,
      branches: [
        source.op === 'age' ? { tree: age } : { tree: age, role: 'age in days' },
        ...(pace.op === 'constant' && pace.detail.name === undefined ? [] : [{ tree: pace, role: per }]),
      ],
    };
  },
  title: () => 'decay',
};

/** Returns the value at `age` days. `pace` is a half-life, a rate or a scale. */
function decayed({ curve, per, exponent }: Shape, age: number, pace: number): number {
  if (curve === 'power') return powerDecay(age, pace, exponent);
  switch (per) {
    case 'halfLife':
      return exponentialDecay(age, pace);
    case 'rate':
      // A rate of 0 has an infinite half-life: no decay.
      return exponentialDecay(age, halfLifeOfRate(pace));
    case 'scale':
      return exponentialDecay(age, pace * Math.LN2);
  }
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

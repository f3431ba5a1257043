import { CLOCK_NAMES } from '../model/fields.ts';
import { unknown } from '../model/options.ts';
import type { Condition, Expression, Scalar, WeightedTerm } from './expression.ts';
import { invalidProfile } from './faults.ts';
import type { BoundCondition, Node } from './node.ts';
import type { ParameterValue, Profile } from './profile.ts';
import {
  ATTRIBUTE_NAMES,
  type AttributeName,
  isClockName,
  isSignalName,
  SIGNAL_NAMES,
  SIGNALS,
} from './signals.ts';

interface Binding {
  readonly profile: Profile;
  readonly parameters: Readonly<Record<string, ParameterValue>>;
  readonly parts: Map<string, Node>;
  /** The parts being bound, outermost first: meeting one again is a cycle. */
  readonly open: string[];
  /** How many operators the one being bound stands inside of. */
  depth: number;
}

/** Deeper formulas would exhaust the stack of the walks over them. */
const maximumDepth = 200;

const operators = [
  'constant',
  'param',
  'signal',
  'ref',
  'sum',
  'mean',
  'product',
  'power',
  'min',
  'max',
  'clamp',
  'capped',
  'decay',
  'age',
  'table',
  'when',
] as const;

const keys: Readonly<Record<(typeof operators)[number], readonly string[]>> = {
  constant: ['value'],
  param: ['name'],
  signal: ['name', 'missing'],
  ref: ['name'],
  sum: ['total', 'terms'],
  mean: ['terms'],
  product: ['of'],
  power: ['base', 'exponent'],
  min: ['of'],
  max: ['of'],
  clamp: ['of', 'min', 'max'],
  capped: ['of', 'cap'],
  decay: ['curve', 'age', 'missing', 'exponent', 'halfLife', 'rate', 'scale'],
  age: ['of'],
  table: ['by', 'cases', 'otherwise'],
  when: ['if', 'then', 'else'],
};

/** Resolves names and parameters of every formula of a profile. Throws `invalid_profile` with the path. */
export function bindExpressions(
  profile: Profile,
  parameters: Readonly<Record<string, ParameterValue>>,
): {
  readonly root: Node;
  readonly parts: Readonly<Record<string, Node>>;
  readonly require: readonly BoundCondition[];
} {
  const binding: Binding = { profile, parameters, parts: new Map(), open: [], depth: 0 };
  for (const name of Object.keys(profile.parts)) bindPart(binding, name, `parts.${name}`);
  return {
    root: bind(binding, profile.score, 'score'),
    parts: Object.fromEntries(binding.parts),
    require: profile.require.map((condition, index) =>
      bindCondition(binding, condition, `require[${index}]`),
    ),
  };
}

function bind(binding: Binding, expression: Expression, path: string): Node {
  if (binding.depth >= maximumDepth) {
    throw fault(binding, path, `it is nested more than ${maximumDepth} deep`);
  }
  binding.depth += 1;
  const node = bindOperator(binding, expression, path);
  binding.depth -= 1;
  return node;
}

function bindOperator(binding: Binding, expression: Expression, path: string): Node {
  if (typeof expression === 'number') return constant(binding, expression, path);
  checkOperator(binding, expression, path);
  switch (expression.op) {
    case 'constant':
      return constant(binding, expression.value, path);
    case 'param':
      return { op: 'constant', value: scalar(binding, expression, path), parameter: expression.name, path };
    case 'signal': {
      const { name } = expression;
      if (!isSignalName(name)) {
        throw fault(binding, `${path}.name`, unknown('signal', name, SIGNAL_NAMES));
      }
      const missing = expression.missing ?? SIGNALS[name].otherwise;
      return { op: 'signal', name, missing: signalDefault(binding, name, missing, `${path}.missing`), path };
    }
    case 'ref':
      return { op: 'ref', name: expression.name, of: bindPart(binding, expression.name, path), path };
    case 'sum': {
      const { total } = expression;
      if (total !== undefined && !Number.isFinite(total))
        throw fault(binding, `${path}.total`, `${JSON.stringify(total)} is not a finite number`);
      return { op: 'sum', ...bindTerms(binding, expression.terms, path), total, path };
    }
    case 'mean': {
      const { weights, of } = bindTerms(binding, expression.terms, path);
      if (weights.some((weight) => weight < 0))
        throw fault(binding, path, 'the weights of a mean must not be negative');
      if (weights.every((weight) => weight === 0))
        throw fault(binding, path, 'the weights of a mean must not all be 0');
      return { op: 'mean', weights, of, path };
    }
    case 'product':
    case 'min':
    case 'max':
      return { op: expression.op, of: bindList(binding, expression.of, `${path}.of`), path };
    case 'power':
      return {
        op: 'power',
        base: bind(binding, expression.base, `${path}.base`),
        exponent: bind(binding, expression.exponent, `${path}.exponent`),
        path,
      };
    case 'clamp': {
      const min = scalar(binding, expression.min ?? 0, `${path}.min`);
      const max = scalar(binding, expression.max ?? 1, `${path}.max`);
      if (min > max) throw fault(binding, path, `min ${min} is above max ${max}`);
      return { op: 'clamp', min, max, of: bind(binding, expression.of, `${path}.of`), path };
    }
    case 'capped': {
      const cap = scalar(binding, expression.cap, `${path}.cap`);
      if (cap <= 0) throw fault(binding, `${path}.cap`, 'the cap must be above 0');
      return { op: 'capped', cap, of: bind(binding, expression.of, `${path}.of`), path };
    }
    case 'decay':
      return bindDecay(binding, expression, path);
    case 'age':
      return bindAge(binding, expression.of, path);
    case 'table': {
      checkAttribute(binding, expression.by, `${path}.by`);
      const cases = Object.entries(object(binding, expression.cases, `${path}.cases`));
      return {
        op: 'table',
        by: expression.by,
        cases: new Map(
          cases.map(([key, value]) => [key, bind(binding, value as Expression, `${path}.cases.${key}`)]),
        ),
        otherwise: bind(binding, expression.otherwise, `${path}.otherwise`),
        path,
      };
    }
    case 'when':
      return {
        op: 'when',
        condition: bindCondition(binding, expression.if, `${path}.if`),
        then: bind(binding, expression.then, `${path}.then`),
        else: bind(binding, expression.else, `${path}.else`),
        path,
      };
  }
}

function bindPart(binding: Binding, name: string, path: string): Node {
  const bound = binding.parts.get(name);
  if (bound) return bound;
  const part = Object.hasOwn(binding.profile.parts, name) ? binding.profile.parts[name] : undefined;
  if (part === undefined) {
    const known = Object.keys(binding.profile.parts);
    throw fault(binding, path, unknown('part', name, known));
  }
  if (binding.open.includes(name)) {
    const cycle = [...binding.open.slice(binding.open.indexOf(name)), name];
    throw fault(binding, path, `the parts form a cycle: ${cycle.join(' → ')}`);
  }
  binding.open.push(name);
  const node = bind(binding, part, `parts.${name}`);
  binding.open.pop();
  binding.parts.set(name, node);
  return node;
}

function bindTerms(
  binding: Binding,
  terms: readonly WeightedTerm[],
  path: string,
): { readonly weights: readonly number[]; readonly of: readonly Node[] } {
  const list = nonEmpty(binding, terms, `${path}.terms`);
  const weights = list.map((term, index) => {
    const at = `${path}.terms[${index}]`;
    onlyKeys(binding, object(binding, term, at), ['weight', 'of'], at);
    return scalar(binding, term.weight ?? 1, `${at}.weight`);
  });
  const of = list.map((term, index) => bind(binding, term.of, `${path}.terms[${index}].of`));
  return { weights, of };
}

function bindDecay(binding: Binding, expression: Extract<Expression, { op: 'decay' }>, path: string): Node {
  const { curve = 'exponential' } = expression;
  if (curve !== 'exponential' && curve !== 'power') {
    throw fault(binding, `${path}.curve`, 'write "exponential" or "power"');
  }
  const paces = (['halfLife', 'rate', 'scale'] as const).filter((each) => each in expression);
  const per = paces[0];
  if (per === undefined || paces.length > 1)
    throw fault(binding, path, 'give exactly one of halfLife, rate and scale');
  if (curve === 'power' && per !== 'scale')
    throw fault(binding, `${path}.${per}`, 'the power curve takes a scale');
  if (curve === 'exponential' && expression.exponent !== undefined) {
    throw fault(binding, `${path}.exponent`, 'only the power curve has an exponent');
  }
  const exponent = scalar(binding, expression.exponent ?? 1, `${path}.exponent`);
  if (exponent <= 0) throw fault(binding, `${path}.exponent`, 'the exponent must be above 0');
  const pace = (expression as unknown as Record<string, Expression>)[per] as Expression;
  return {
    op: 'decay',
    curve,
    per,
    age: bind(binding, expression.age, `${path}.age`),
    pace: bind(binding, pace, `${path}.${per}`),
    exponent,
    missing:
      expression.missing === undefined ? undefined : scalar(binding, expression.missing, `${path}.missing`),
    path,
  };
}

function bindAge(binding: Binding, of: Extract<Expression, { op: 'age' }>['of'], path: string): Node {
  if (typeof of !== 'string') checkClockList(binding, of, `${path}.of`);
  const [pick, clocks] =
    typeof of === 'string'
      ? (['latest', [of]] as const)
      : 'latest' in of
        ? (['latest', of.latest] as const)
        : (['earliest', of.earliest] as const);
  const names: readonly string[] = nonEmpty<string>(binding, clocks, `${path}.of`);
  for (const name of names) {
    if (!isClockName(name)) {
      throw fault(binding, `${path}.of`, unknown('clock', name, CLOCK_NAMES));
    }
  }
  return { op: 'age', pick, clocks: names.filter(isClockName), path };
}

function checkClockList(binding: Binding, of: object, path: string): void {
  const [key, ...others] = Object.keys(object(binding, of, path));
  if ((key === 'latest' || key === 'earliest') && others.length === 0) return;
  throw fault(binding, path, 'give a clock, or one list of clocks as "earliest" or "latest"');
}

function bindCondition(binding: Binding, condition: Condition, path: string): BoundCondition {
  object(binding, condition, path);
  if ('attribute' in condition) {
    onlyKeys(binding, condition, ['attribute', 'is'], path);
    checkAttribute(binding, condition.attribute, `${path}.attribute`);
    const values =
      typeof condition.is === 'string' ? [condition.is] : nonEmpty(binding, condition.is, `${path}.is`);
    if (values.some((value) => typeof value !== 'string')) {
      throw fault(binding, `${path}.is`, 'an attribute is compared with texts');
    }
    return { test: 'attribute', attribute: condition.attribute, values };
  }
  if ('signal' in condition) {
    onlyKeys(binding, condition, ['signal', 'above', 'atLeast', 'below', 'atMost'], path);
    const { signal } = condition;
    if (!isSignalName(signal))
      throw fault(binding, `${path}.signal`, unknown('signal', signal, SIGNAL_NAMES));
    const limit = (key: 'above' | 'atLeast' | 'below' | 'atMost') => {
      const value = condition[key];
      return value === undefined ? undefined : scalar(binding, value, `${path}.${key}`);
    };
    const bounds = {
      above: limit('above'),
      atLeast: limit('atLeast'),
      below: limit('below'),
      atMost: limit('atMost'),
    };
    if (Object.values(bounds).every((bound) => bound === undefined)) {
      throw fault(binding, path, 'give at least one of above, atLeast, below and atMost');
    }
    return { test: 'signal', signal, missing: SIGNALS[signal].otherwise, bounds };
  }
  if ('known' in condition) {
    onlyKeys(binding, condition, ['known'], path);
    const { known } = condition;
    if (!isSignalName(known) && !isClockName(known)) {
      throw fault(
        binding,
        `${path}.known`,
        unknown('signal or clock', known, [...SIGNAL_NAMES, ...CLOCK_NAMES]),
      );
    }
    return { test: 'known', name: known };
  }
  if ('passed' in condition) {
    onlyKeys(binding, condition, ['passed'], path);
    const { passed } = condition;
    if (!isClockName(passed)) throw fault(binding, `${path}.passed`, unknown('clock', passed, CLOCK_NAMES));
    return { test: 'passed', clock: passed };
  }
  if ('param' in condition) {
    onlyKeys(binding, condition, ['param', 'is'], path);
    const value = parameter(binding, condition.param, path);
    if (typeof value === 'number' || typeof value !== typeof condition.is) {
      throw fault(
        binding,
        path,
        `parameter ${condition.param} cannot be compared with ${JSON.stringify(condition.is)}`,
      );
    }
    return { test: 'fixed', holds: value === condition.is, text: `${condition.param} is ${condition.is}` };
  }
  throw fault(binding, path, 'a condition has attribute, signal, known, passed or param');
}

function scalar(binding: Binding, value: Scalar, path: string): number {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw fault(binding, path, `${value} is not a finite number`);
    return value;
  }
  object(binding, value, path);
  if (value.op !== 'param') throw fault(binding, path, 'a number or a parameter is needed here');
  onlyKeys(binding, value, ['op', 'name'], path);
  const bound = parameter(binding, value.name, path);
  if (typeof bound !== 'number') throw fault(binding, path, `parameter ${value.name} is not a number`);
  return bound;
}

function parameter(binding: Binding, name: string, path: string): ParameterValue {
  const value = Object.hasOwn(binding.parameters, name) ? binding.parameters[name] : undefined;
  if (value !== undefined) return value;
  const known = Object.keys(binding.parameters);
  throw fault(binding, path, unknown('parameter', name, known));
}

function constant(binding: Binding, value: number, path: string): Node {
  return { op: 'constant', value: scalar(binding, value, path), parameter: undefined, path };
}

function signalDefault(binding: Binding, name: keyof typeof SIGNALS, missing: Scalar, path: string): number {
  const value = scalar(binding, missing, path);
  const [low, high] = SIGNALS[name].range;
  if (value < low || value > high) throw fault(binding, path, `${value} is not within ${low} and ${high}`);
  return value;
}

function bindList(binding: Binding, list: readonly Expression[], path: string): Node[] {
  return nonEmpty(binding, list, path).map((each, index) => bind(binding, each, `${path}[${index}]`));
}

function checkOperator(binding: Binding, expression: Expression, path: string): void {
  const { op } = object(binding, expression, path) as { op?: unknown };
  if (typeof op !== 'string' || !Object.hasOwn(keys, op)) {
    throw fault(binding, `${path}.op`, unknown('operator', String(op), operators));
  }
  onlyKeys(binding, expression as object, ['op', ...keys[op as (typeof operators)[number]]], path);
}

function checkAttribute(binding: Binding, name: AttributeName, path: string): void {
  if (!ATTRIBUTE_NAMES.includes(name)) {
    throw fault(binding, path, unknown('attribute', name, ATTRIBUTE_NAMES));
  }
}

function onlyKeys(binding: Binding, value: object, allowed: readonly string[], path: string): void {
  for (const key of Object.keys(value)) {
    if (!allowed.includes(key)) throw fault(binding, `${path}.${key}`, unknown('key', key, allowed));
  }
}

function object<T>(binding: Binding, value: T, path: string): T & object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw fault(
    binding,
    path,
    value === undefined ? 'a formula is needed' : `${JSON.stringify(value)} is not a formula`,
  );
}

function nonEmpty<T>(binding: Binding, list: readonly T[], path: string): readonly T[] {
  if (Array.isArray(list) && list.length > 0) return list;
  throw fault(binding, path, 'a list with at least one element is needed');
}

function fault(binding: Binding, path: string, problem: string) {
  return invalidProfile(binding.profile.name, path, problem);
}

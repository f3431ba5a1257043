import { describe } from '../domain/describe.ts';
import { unknown } from '../domain/options.ts';
import { type ResolvedCondition, resolveCondition } from './condition.ts';
import { invalidProfile } from './faults.ts';
import { type Expression, type Node, notationOf, OPERATOR_NAMES } from './operators/index.ts';
import type { Resolver } from './operators/operator.ts';
import type { ParameterValue, Profile } from './profile.ts';

/** Deeper formulas would exhaust the stack of the walks over them. */
const MAXIMUM_DEPTH = 200;

/** The formulas of a profile with names and parameters resolved. */
export interface ResolvedFormulas {
  readonly root: Node;
  readonly parts: { readonly [name: string]: Node };
  readonly require: readonly ResolvedCondition[];
}

/** Resolves names and parameters of every formula of a profile. Throws `invalid_profile` with the path. */
export function resolveFormulas(
  profile: Profile,
  parameters: Readonly<Record<string, ParameterValue>>,
): ResolvedFormulas {
  const parts = new Map<string, Node>();
  /** The parts being resolved, outermost first. Meeting one again means a cycle. */
  const open: string[] = [];
  let depth = 0;
  const fault: Resolver['fault'] = (path, problem) => invalidProfile(profile.name, path, problem);

  const resolver: Resolver = {
    fault,
    formula(expression, path) {
      if (depth >= MAXIMUM_DEPTH) throw fault(path, `it is nested more than ${MAXIMUM_DEPTH} deep`);
      depth += 1;
      const written =
        typeof expression === 'number' ? { op: 'constant' as const, value: expression } : expression;
      const node = resolveOperator(written, path, resolver);
      depth -= 1;
      return node;
    },
    formulas: (list, path) =>
      resolver.nonEmpty(list, path).map((each, index) => resolver.formula(each, `${path}[${index}]`)),
    condition: (condition, path) => resolveCondition(condition, path, resolver),
    part(name, path) {
      const known = parts.get(name);
      if (known) return known;
      const part = Object.hasOwn(profile.parts, name) ? profile.parts[name] : undefined;
      if (part === undefined) throw fault(path, unknown('part', name, Object.keys(profile.parts)));
      if (open.includes(name)) {
        const cycle = [...open.slice(open.indexOf(name)), name];
        throw fault(path, `the parts form a cycle: ${cycle.join(' → ')}`);
      }
      open.push(name);
      const node = resolver.formula(part, `parts.${name}`);
      open.pop();
      parts.set(name, node);
      return node;
    },
    scalar(value, path) {
      if (typeof value === 'number') {
        if (!Number.isFinite(value)) throw fault(path, `${value} is not a finite number`);
        return value;
      }
      resolver.object(value, path);
      if (value.op !== 'param') throw fault(path, 'expected a number or a parameter');
      resolver.onlyKeys(value, ['op', 'name'], path);
      const fixed = resolver.parameter(value.name, path);
      if (typeof fixed !== 'number') throw fault(path, `parameter ${value.name} is not a number`);
      return fixed;
    },
    parameter(name, path) {
      const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
      if (value === undefined) throw fault(path, unknown('parameter', name, Object.keys(parameters)));
      return value;
    },
    choicesOf(name) {
      const definition = profile.parameters[name];
      return definition?.kind === 'choice' ? definition.choices : undefined;
    },
    object(value, path) {
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
      throw fault(path, value === undefined ? 'expected a formula' : `${describe(value)} is not a formula`);
    },
    nonEmpty(list, path) {
      // Copied, so that the resolved formula shares no list with the caller's.
      if (Array.isArray(list) && list.length > 0) return [...list];
      throw fault(path, 'expected a list with at least one element');
    },
    onlyKeys(value, allowed, path) {
      for (const key of Object.keys(value)) {
        if (!allowed.includes(key)) throw fault(`${path}.${key}`, unknown('key', key, allowed));
      }
    },
    oneOf(kind, name, known, path) {
      const found = known.find((each) => each === name);
      if (found === undefined) throw fault(path, unknown(kind, name, known));
      return found;
    },
  };

  for (const name of Object.keys(profile.parts)) resolver.part(name, `parts.${name}`);
  return {
    root: resolver.formula(profile.score, 'score'),
    parts: Object.fromEntries(parts),
    require: profile.require.map((condition, index) => resolver.condition(condition, `require[${index}]`)),
  };
}

function resolveOperator(expression: Exclude<Expression, number>, path: string, resolver: Resolver): Node {
  const { op } = resolver.object(expression, path) as { op?: unknown };
  const notation = typeof op === 'string' ? notationOf(op) : undefined;
  if (!notation) throw resolver.fault(`${path}.op`, unknown('operator', String(op), OPERATOR_NAMES));
  resolver.onlyKeys(expression, ['op', ...Object.keys(notation.keys)], path);
  return notation.resolve(expression, path, resolver);
}

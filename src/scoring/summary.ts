import type { Explanation } from './explain.ts';
import { sourceOf } from './format.ts';
import { visible } from './show.ts';

/**
 * An explanation in one line: the score as the terms or factors it is made of, each with its value, named parts
 * opened once: `relevance 0.43 (0.6·lexical 0.32 + 0.4·calibrated 0.60) × (0.9 + 0.05·recency 1.00 + …)`.
 *
 * @example
 * ```ts
 * const note = { similarity: 0.92, scope: 'project:shop', updatedAt: '2026-04-15T00:00:00Z' };
 * console.log(summariseExplanation(explain('scoped', note, { now: '2026-04-20T00:00:00Z' })));
 * ```
 */
export function summariseExplanation(tree: Explanation): string {
  const source = bare(tree);
  return expression(source, 2) ?? operand(tree, 1);
}

/** The operation of a node, opened `depth` levels deep; `undefined` for what has no parts worth a line. */
function expression(tree: Explanation, depth: number): string | undefined {
  if (depth === 0) return undefined;
  switch (tree.op) {
    case 'product':
      return tree.inputs.map((input) => operand(input, depth)).join(' × ');
    case 'sum':
    case 'mean':
      return tree.inputs
        .map((input, index) => term(input, tree.detail.weights?.[index] ?? 1, depth))
        .join(' + ')
        .replaceAll(' + -', ' − ');
    case 'min':
    case 'max':
      return `${tree.op}(${tree.inputs.map((input) => operand(input, depth)).join(', ')})`;
    default:
      return undefined;
  }
}

function term(tree: Explanation, weight: number, depth: number): string {
  if (bare(tree).op === 'constant') return short(weight * tree.value);
  return `${weight === 1 ? '' : `${short(weight)}·`}${operand(tree, depth)}`;
}

function operand(tree: Explanation, depth: number): string {
  const name = nameOf(tree);
  const inner = expression(bare(tree), depth - 1);
  if (name === undefined) return inner === undefined ? tree.value.toFixed(2) : `(${inner})`;
  return `${visible(name)} ${tree.value.toFixed(2)}${inner === undefined ? '' : ` (${inner})`}`;
}

function nameOf(tree: Explanation): string | undefined {
  if (tree.op === 'ref' || tree.op === 'signal') return tree.detail.name;
  if (tree.op === 'power') return tree.inputs.map((input) => nameOf(input) ?? short(input.value)).join('^');
  const [inner] = tree.inputs;
  return (tree.op === 'when' || tree.op === 'table' || tree.op === 'clamp') && inner
    ? nameOf(inner)
    : undefined;
}

/** Past everything that passes a value on, clamps that cut nothing off included. */
function bare(tree: Explanation): Explanation {
  const source = sourceOf(tree);
  const [inner] = source.inputs;
  return source.op === 'clamp' && source.detail.clipped === undefined && inner ? bare(inner) : source;
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

import { checkExplanation, type Explanation, sourceOf } from './explain.ts';
import { operatorOf } from './operators/index.ts';
import type { SummaryTerms } from './operators/operator.ts';
import { cut, visible } from './show.ts';

/** Leaves room for the indent of a hit in 100 columns. */
const WIDTH = 94;
/** Less than half of the last digit shown. */
const NOTHING = 0.00005;

/** How much of an explanation its line shows. */
interface Room {
  /** How many nested operators are written out. */
  readonly depth: number;
  /** How many inputs the outer and the inner operators show. The weakest are combined. */
  readonly outer: number;
  readonly inner: number;
  readonly name: number;
  /** Whether this is an inner operator. */
  readonly inside?: true;
}

const rooms: readonly Room[] = [
  { depth: 2, outer: Infinity, inner: Infinity, name: Infinity },
  { depth: 2, outer: Infinity, inner: 3, name: Infinity },
  { depth: 2, outer: Infinity, inner: 2, name: Infinity },
  { depth: 1, outer: Infinity, inner: 0, name: Infinity },
  { depth: 1, outer: Infinity, inner: 0, name: 20 },
  { depth: 1, outer: 4, inner: 0, name: 20 },
  { depth: 1, outer: 3, inner: 0, name: 14 },
  { depth: 1, outer: 2, inner: 0, name: 14 },
];

/**
 * Summarises an explanation in one line of at most 94 characters: the score as its terms or factors with their values,
 * named parts opened once: `relevance 0.43 (0.55·lexical 0.32 + 0.45·calibrated 0.60) × (0.91 + 0.05·recency 0.98 +
 * …)`. Terms that add nothing and factors of 1 are left out. If the line is too long, inner operations are left out
 * too, and the weakest terms are combined. Throws `invalid_argument` for a value that is not an explanation.
 *
 * @example
 * ```ts
 * const note = { similarity: 0.92, scope: 'project:shop', updatedAt: '2026-04-15T00:00:00Z' };
 * console.log(summariseExplanation(explain('scoped', note, { now: '2026-04-20T00:00:00Z' })));
 * ```
 */
export function summariseExplanation(tree: Explanation): string {
  checkExplanation(tree, 'tree');
  let line = '';
  for (const room of rooms) {
    line = operation(bare(tree), room) ?? operand(tree, { ...room, depth: 1 });
    if (line.length <= WIDTH) return line;
  }
  return cut(line, WIDTH);
}

/**
 * Writes out what a node does, as deep as there is room. Returns `undefined` for a node whose parts are not worth a
 * line.
 */
function operation(tree: Explanation, room: Room): string | undefined {
  return room.depth === 0 ? undefined : operatorOf(tree).summary?.(tree, termsIn(room));
}

function termsIn(room: Room): SummaryTerms {
  return {
    factors(inputs) {
      const { shown, rest } = strongest(inputs, (input) => Math.abs(input.value - 1), room);
      const others = rest.reduce((product, input) => product * input.value, 1);
      // A factor may also be displayed as 1.00 because of what is inside it.
      const words = shown.map((input) => {
        const text = operand(input, room, preciseText);
        return text === '1.00' ? preciseText(input.value) : text;
      });
      const all = inputs.reduce((product, input) => product * input.value, 1);
      // Factors that are each close to 1 may multiply to something that is not.
      return [...words, ...more(rest, others, 1, room)].join(' × ') || preciseText(all);
    },
    addends(inputs, weights) {
      const terms = inputs.map((input, index) => ({ input, weight: weights[index] ?? 1 }));
      const { shown, rest } = strongest(terms, ({ input, weight }) => Math.abs(weight * input.value), room);
      const others = rest.reduce((sum, { input, weight }) => sum + weight * input.value, 0);
      const words = shown.map(({ input, weight }) => term(input, weight, room));
      return [...words, ...more(rest, others, 0, room)].join(' + ').replaceAll(' + -', ' − ') || '0.00';
    },
    list: (inputs) => {
      const shown = inputs.slice(0, room.outer).map((input) => operand(input, room));
      return [...shown, ...(shown.length < inputs.length ? ['…'] : [])].join(', ');
    },
  };
}

/** Returns the inputs that change something, in their order. `rest` are those for which there is no room. */
function strongest<Input>(inputs: readonly Input[], effect: (input: Input) => number, room: Room) {
  const effective = inputs.filter((input) => effect(input) >= NOTHING);
  const kept = [...effective].sort((a, b) => effect(b) - effect(a)).slice(0, room.outer);
  return {
    shown: effective.filter((input) => kept.includes(input)),
    rest: effective.filter((input) => !kept.includes(input)),
  };
}

function more(rest: readonly unknown[], value: number, neutral: number, { inside }: Room): readonly string[] {
  if (rest.length === 0) return [];
  return [
    inside || valueText(value) === valueText(neutral) ? '…' : `${valueText(value)} from ${rest.length} more`,
  ];
}

function term(tree: Explanation, weight: number, room: Room): string {
  if (bare(tree).op === 'constant') return short(weight * tree.value);
  const text = operand(tree, room);
  return `${weight === 1 ? '' : `${short(weight)}·`}${text === '0.00' ? preciseText(tree.value) : text}`;
}

function operand(tree: Explanation, room: Room, write = valueText): string {
  const name = nameOf(tree);
  const inner = operation(bare(tree), { ...room, depth: room.depth - 1, outer: room.inner, inside: true });
  if (name === undefined) {
    if (inner === undefined) return write(tree.value);
    return inner.includes(' ') ? `(${inner})` : inner;
  }
  return `${cut(visible(name), room.name)} ${write(tree.value)}${inner === undefined ? '' : ` (${inner})`}`;
}

function nameOf(tree: Explanation): string | undefined {
  const { label, lead } = operatorOf(tree);
  const [inner] = tree.inputs;
  if (label) return label(tree, (input) => nameOf(input) ?? short(input.value));
  return lead && inner ? nameOf(inner) : undefined;
}

/** Returns the node below all nodes that only pass a value on, including clamps that cut nothing off. */
function bare(tree: Explanation): Explanation {
  const source = sourceOf(tree);
  const [inner] = source.inputs;
  return source.op === 'clamp' && source.detail.clipped === undefined && inner ? bare(inner) : source;
}

function valueText(value: number): string {
  return value.toFixed(2).replace(/^-0\.00$/, '0.00');
}

/** Adds decimals if a value would otherwise be displayed as 1 or 0. */
function preciseText(value: number): string {
  const plain = valueText(value);
  const exact = value.toFixed(4);
  return (plain === '1.00' || plain === '0.00') && Number(exact) !== Number(plain) ? exact : plain;
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

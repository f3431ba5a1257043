import type { Explanation } from './explain.ts';
import { codeSpan, visible } from './show.ts';

/** `text` draws a tree with box-drawing characters, `markdown` a nested list. */
export type ExplanationFormat = 'text' | 'markdown';

/** Writes a text of unknown origin so that it cannot be taken for anything else. */
type Quote = (text: string) => string;

interface Branch {
  readonly tree: Explanation;
  /** What the parent makes of this input: its weight and contribution, or the role it plays. */
  readonly role?: string | undefined;
}

interface Line {
  readonly words: string;
  readonly branches: readonly Branch[];
}

/**
 * Draws an explanation: each line a value (4 decimals) and what it is in words. References, choices, tables and
 * bounds that cut nothing off share a line with the value they pass on. Names and attribute values cannot break out
 * of the drawing, nor, in Markdown, become markup.
 *
 * @example
 * ```ts
 * const { hits } = await memory.recall('which coffee?', { limit: 1 });
 * for (const hit of hits) console.log(formatExplanation(hit.explain(), 'text'));
 * ```
 */
export function formatExplanation(tree: Explanation, format: ExplanationFormat): string {
  return format === 'text' ? drawText(tree).join('\n') : drawMarkdown(tree).join('\n');
}

function drawText(tree: Explanation, role?: string): string[] {
  const { words, branches } = lineOf(tree, visible);
  const drawn = branches.flatMap((branch, index) => {
    const last = index === branches.length - 1;
    const [first = '', ...rest] = drawText(branch.tree, branch.role);
    return [`${last ? '└─' : '├─'} ${first}`, ...rest.map((line) => `${last ? '  ' : '│ '} ${line}`)];
  });
  return [`${tree.value.toFixed(4)}  ${words}${role === undefined ? '' : `  · ${role}`}`, ...drawn];
}

function drawMarkdown(tree: Explanation, role?: string): string[] {
  const { words, branches } = lineOf(tree, codeSpan);
  const drawn = branches.flatMap((branch) =>
    drawMarkdown(branch.tree, branch.role).map((line) => `  ${line}`),
  );
  return [`- **${tree.value.toFixed(4)}** ${words}${role === undefined ? '' : ` · ${role}`}`, ...drawn];
}

function lineOf(tree: Explanation, quote: Quote): Line {
  const lead = passedOn(tree, quote);
  const [inner] = tree.inputs;
  if (lead === undefined || inner === undefined) return describe(tree, quote);
  const line = lineOf(inner, quote);
  const repeated = tree.op === 'ref' && inner.op === 'signal' && inner.detail.name === tree.detail.name;
  return repeated ? line : { words: `${lead} ${line.words}`, branches: line.branches };
}

/** The words before those of the one input whose value this node passes on; `undefined` when it changes it. */
function passedOn({ op, detail }: Explanation, quote: Quote): string | undefined {
  switch (op) {
    case 'ref':
      return `${quote(detail.name ?? '?')} =`;
    case 'table': {
      const row = detail.key === null ? ' (otherwise)' : '';
      return `[${detail.by} = ${quote(detail.text ?? detail.key ?? '?')}${row}]`;
    }
    case 'when':
      return `[if ${quote(detail.condition ?? '?')}: ${detail.held ? 'yes' : 'no'}]`;
    case 'clamp':
      return detail.clipped === undefined ? `[within ${detail.min} and ${detail.max}]` : undefined;
    default:
      return undefined;
  }
}

function describe(tree: Explanation, quote: Quote): Line {
  const { op, detail, inputs } = tree;
  const plain = (words: string): Line => ({ words, branches: inputs.map((input) => ({ tree: input })) });
  switch (op) {
    case 'constant':
      return plain(detail.name === undefined ? 'constant' : `parameter ${quote(detail.name)}`);
    case 'signal':
      return plain(`${quote(detail.name ?? '?')}${detail.defaulted ? ' (unknown, defaulted)' : ''}`);
    case 'age':
      return plain(ageWords(tree, quote));
    case 'sum':
      return { words: 'sum', branches: weighted(tree) };
    case 'mean':
      return { words: 'weighted mean', branches: weighted(tree) };
    case 'product':
      return { words: 'product', branches: inputs.map((input) => ({ tree: input, role: 'factor' })) };
    case 'min':
    case 'max':
      return {
        words: op === 'min' ? 'smallest' : 'largest',
        branches: inputs.map((input) => ({
          tree: input,
          role: input.value === tree.value ? 'taken' : undefined,
        })),
      };
    case 'power':
      return { words: 'power', branches: withRoles(inputs, ['base', 'exponent']) };
    case 'clamp':
      return plain(
        `clipped to the ${detail.clipped === 'low' ? `lowest, ${detail.min}` : `highest, ${detail.max}`}`,
      );
    case 'capped':
      return plain(`${cappedWords(tree)}`);
    case 'decay':
      return decayLine(tree, quote);
    default:
      return plain(op);
  }
}

function cappedWords({ detail }: Explanation): string {
  if (detail.clipped === 'high') return `clipped to the cap of ${detail.cap}, as a share of it`;
  if (detail.clipped === 'low') return `clipped to 0, as a share of the cap of ${detail.cap}`;
  return `share of the cap of ${detail.cap}`;
}

function weighted(tree: Explanation): readonly Branch[] {
  const contributions = contributionsOf(tree);
  const whole = contributions.reduce((sum, each) => sum + Math.abs(each), 0);
  return tree.inputs.map((input, index) => {
    const contribution = contributions[index] ?? 0;
    const share = whole === 0 ? 0 : (Math.abs(contribution) / whole) * 100;
    const weight = tree.detail.weights?.[index] ?? 0;
    return {
      tree: input,
      role: `weight ${weight}, adds ${contribution.toFixed(4)} (${share.toFixed(1)} %)`,
    };
  });
}

/** What each term adds to a sum or a mean. */
export function contributionsOf(tree: Explanation): readonly number[] {
  const weights = tree.detail.weights ?? [];
  const whole = tree.op === 'mean' ? weights.reduce((sum, weight) => sum + weight, 0) : 1;
  return tree.inputs.map((input, index) => ((weights[index] ?? 0) * input.value) / whole);
}

const paceWords = { halfLife: 'half-life', rate: 'rate', scale: 'scale' } as const;

function decayLine({ detail, inputs }: Explanation, quote: Quote): Line {
  const [age, pace] = inputs;
  const curve = detail.curve === 'power' ? 'power decay' : 'decay';
  if (age === undefined || pace === undefined) {
    return { words: `${curve}, age unknown (defaulted)`, branches: [] };
  }
  const source = sourceOf(age);
  const per = paceWords[detail.per ?? 'halfLife'];
  const amount = `${per} ${Number(pace.value.toPrecision(6))} ${detail.per === 'rate' ? 'a day' : 'days'}`;
  const from =
    pace.op === 'constant' && pace.detail.name !== undefined ? ` (${quote(pace.detail.name)})` : '';
  const exponent =
    detail.curve === 'power' ? `, exponent ${Number((detail.exponent ?? 1).toPrecision(6))}` : '';
  const branches = [
    ...(source.op === 'age' ? [] : [{ tree: age, role: 'age in days' }]),
    ...(pace.op === 'constant' ? [] : [{ tree: pace, role: per }]),
  ];
  const since = source.op === 'age' ? ` ${ageWords(source, quote)}` : ' days';
  return {
    words: `${curve}, ${amount}${from}${exponent}, age ${age.value.toFixed(2)}${since}`,
    branches,
  };
}

function ageWords({ detail }: Explanation, quote: Quote): string {
  const clocks = (detail.clocks ?? []).map(quote).join(' or ');
  return `days since ${clocks}${detail.at === undefined ? '' : ` (${detail.at})`}`;
}

function withRoles(inputs: readonly Explanation[], roles: readonly string[]): readonly Branch[] {
  return inputs.map((tree, index) => ({ tree, role: roles[index] }));
}

/** The node that a value comes from, past references and choices, which pass it on. */
export function sourceOf(tree: Explanation): Explanation {
  const [inner] = tree.inputs;
  const passes = tree.op === 'ref' || tree.op === 'table' || tree.op === 'when';
  return passes && inner ? sourceOf(inner) : tree;
}

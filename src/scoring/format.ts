import { invalidArgument } from '../domain/check.ts';
import { unknown } from '../domain/options.ts';
import { checkExplanation, type Explanation, sourceOf } from './explain.ts';
import { operatorOf } from './operators/index.ts';
import type { Branch, Line, Quote } from './operators/operator.ts';
import { codeSpan, cut, visible } from './show.ts';

/** Leaves room for the indent of a hit within 100 columns. */
const WIDTH = 94;
/** The least space for words. A deeply nested line is then longer than the others. */
const LEAST_WORDS = 16;
/** Aligns a note with the words of the line above it. */
const NOTE_INDENT = '0.0000  '.length;
/** The longest name or attribute value. The first of these with which a line fits is used. */
const NAME_LENGTHS = [Infinity, 32, 16];

/** `text` draws a tree with box-drawing characters, `markdown` a nested list. */
export type ExplanationFormat = (typeof FORMATS)[number];

const FORMATS = ['text', 'markdown'] as const;

/**
 * Draws an explanation as text: each line has a value (4 decimals) and what it is in words. References, choices, tables
 * and clamps that cut nothing off share a line with the value they pass on. Lines have at most 94 characters, in deep
 * trees a few more: long names and words are cut, values and contributions are not. Names and attribute values cannot
 * break out of the drawing or, in Markdown, become markup.
 *
 * Throws `invalid_argument` for a value that is not an explanation, and for an unknown format.
 *
 * @example
 * ```ts
 * const { hits } = await memory.recall('which coffee?', { limit: 1 });
 * for (const hit of hits) console.log(formatExplanation(hit.explain(), 'text'));
 * ```
 */
export function formatExplanation(tree: Explanation, format: ExplanationFormat): string {
  checkExplanation(tree, 'tree');
  if (!FORMATS.includes(format)) throw invalidArgument('format', unknown('format', format, FORMATS));
  return format === 'text' ? drawText({ tree }, WIDTH).join('\n') : drawMarkdown({ tree }).join('\n');
}

/** An explanation as {@link formatExplanation} draws it, for renderers of other formats. */
export interface Outline {
  readonly value: number;
  readonly words: string;
  /** Its role in the node above: "factor", "weight 7, adds 0.2230". */
  readonly role: string | undefined;
  /** Its share of the node above: "37 %". */
  readonly share: string | undefined;
  /** What it was computed from. */
  readonly note: string | undefined;
  readonly branches: readonly Outline[];
}

/** Returns the lines of {@link formatExplanation} as a tree. The caller must escape their texts for its own markup. */
export function outlineExplanation(tree: Explanation): Outline {
  return outlineOf({ tree });
}

function outlineOf({ tree, role, share }: Branch): Outline {
  const { words, branches, note } = lineOf(tree, visible);
  return { value: tree.value, words, role, share, note, branches: branches.map(outlineOf) };
}

function drawText(branch: Branch, width: number): string[] {
  const { branches, note } = lineOf(branch.tree, visible);
  const drawn = branches.flatMap((inner, index, { length }) => {
    const last = index === length - 1;
    const [first = '', ...rest] = drawText(inner, width - 3);
    return [`${last ? '└─' : '├─'} ${first}`, ...rest.map((line) => `${last ? '  ' : '│ '} ${line}`)];
  });
  const notes = note === undefined ? [] : [`${' '.repeat(NOTE_INDENT)}${cut(note, width - NOTE_INDENT)}`];
  return [fittingLine(branch, width), ...notes, ...drawn];
}

/** Formats a line with its value and role in full, and as much of the rest as fits. */
function fittingLine(branch: Branch, width: number): string {
  const value = `${branch.tree.value.toFixed(4)}  `;
  const role = roleOf({ ...branch, share: undefined });
  const tail = role === '' ? '' : `  · ${role}`;
  const share = branch.share === undefined ? '' : ` (${branch.share})`;
  const room = Math.max(LEAST_WORDS, width - value.length - tail.length);
  let words = '';
  for (const length of NAME_LENGTHS) {
    words = lineOf(branch.tree, (name) => cut(visible(name), length)).words;
    if (words.length <= room) break;
  }
  return `${value}${cut(words, room)}${tail}${words.length + share.length <= room ? share : ''}`;
}

function drawMarkdown(branch: Branch): string[] {
  const { words, branches, note } = lineOf(branch.tree, codeSpan);
  const role = roleOf(branch);
  const drawn = branches.flatMap((inner) => drawMarkdown(inner).map((line) => `  ${line}`));
  const notes = note === undefined ? [] : [`  - ${note}`];
  return [
    `- **${branch.tree.value.toFixed(4)}** ${words}${role === '' ? '' : ` · ${role}`}`,
    ...notes,
    ...drawn,
  ];
}

function roleOf({ role = '', share }: Branch): string {
  return share === undefined ? role : `${role} (${share})`;
}

function lineOf(tree: Explanation, quote: Quote): Line {
  const operator = operatorOf(tree);
  const lead = operator.lead?.(tree, quote);
  const [inner] = tree.inputs;
  if (lead === undefined || inner === undefined) return operator.line(tree, quote, sourceOf);
  const line = lineOf(inner, quote);
  const repeated = tree.op === 'ref' && inner.op === 'signal' && inner.detail.name === tree.detail.name;
  return repeated ? line : { ...line, words: `${lead} ${line.words}` };
}

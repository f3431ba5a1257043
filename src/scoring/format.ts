import { type Explanation, sourceOf } from './explain.ts';
import { operatorOf } from './operators/index.ts';
import type { Line, Quote } from './operators/operator.ts';
import { codeSpan, visible } from './show.ts';

/** `text` draws a tree with box-drawing characters, `markdown` a nested list. */
export type ExplanationFormat = 'text' | 'markdown';

/**
 * Draws an explanation: each line a value (4 decimals) and what it is in words. References, choices, tables and
 * clamps that cut nothing off share a line with the value they pass on. Names and attribute values cannot break out of
 * the drawing, nor, in Markdown, become markup.
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
  const operator = operatorOf(tree);
  const lead = operator.lead?.(tree, quote);
  const [inner] = tree.inputs;
  if (lead === undefined || inner === undefined) return operator.line(tree, quote, sourceOf);
  const line = lineOf(inner, quote);
  const repeated = tree.op === 'ref' && inner.op === 'signal' && inner.detail.name === tree.detail.name;
  return repeated ? line : { words: `${lead} ${line.words}`, branches: line.branches };
}

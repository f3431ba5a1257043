import type { Explanation } from '../scoring/explain.ts';
import { scoreParts } from '../scoring/parts.ts';
import type { Paint, Style } from './paint.ts';

const CELLS = 10;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A share of 0–1 as a bar of ten cells. */
export function drawBar(share: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * CELLS * 8);
  return ('█'.repeat(Math.floor(filled / 8)) + (eighths[filled % 8] ?? '')).padEnd(CELLS);
}

const partStyles: readonly Style[] = ['cyan', 'magenta', 'yellow', 'green', 'blue', 'red'];

/** The bar of a score, each part in its own colour. Parts that take away are not drawn. */
export function drawScore(tree: Explanation, paint: Paint): string {
  const bar = drawBar(tree.value);
  const parts = scoreParts(tree);
  const ends: number[] = [];
  for (const { value } of parts) ends.push((ends.at(-1) ?? 0) + Math.max(0, value) * CELLS);
  let drawn = '';
  let run = '';
  let runPart = 0;
  const flush = () => {
    drawn += paint(partStyles[runPart % partStyles.length] as Style, run);
    run = '';
  };
  [...bar].forEach((cell, index) => {
    // A cell has the colour of the part in its middle; the last, cut one that of what is in it.
    const found = ends.findIndex((end) => end > Math.min(index + 0.5, (ends.at(-1) ?? 0) - 1e-9));
    const part = found === -1 ? parts.length - 1 : found;
    if (part !== runPart) flush();
    runPart = part;
    run += cell;
  });
  flush();
  return drawn;
}

/** Which colour stands for which part; empty where a score has a single one. */
export function drawLegend(tree: Explanation, paint: Paint): string {
  const parts = scoreParts(tree);
  if (parts.length < 2) return '';
  return parts
    .map(({ name }, index) => `${paint(partStyles[index % partStyles.length] as Style, '█')} ${name}`)
    .join('  ');
}

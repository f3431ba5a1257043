import type { Explanation } from '../scoring/explain.ts';
import { scoreParts } from '../scoring/parts.ts';
import type { Paint, Style } from './paint.ts';

const CELLS = 10;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Draws a share of 0–1 as a bar of ten cells. */
export function drawBar(share: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * CELLS * 8);
  return ('█'.repeat(Math.floor(filled / 8)) + (eighths[filled % 8] ?? '')).padEnd(CELLS);
}

const partStyles: readonly Style[] = ['cyan', 'magenta', 'yellow', 'green', 'blue', 'red'];

/** Draws a score as a bar, each part in its own colour. Negative parts are not drawn. */
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
    // A cell has the colour of the part at its middle. If the parts end before that, it has the colour of the last one.
    const found = ends.findIndex((end) => end > Math.min(index + 0.5, (ends.at(-1) ?? 0) - 1e-9));
    const part = found === -1 ? parts.length - 1 : found;
    if (part !== runPart) flush();
    runPart = part;
    run += cell;
  });
  flush();
  return drawn;
}

/** Draws which colour stands for which part. Empty if the score has a single part. */
export function drawLegend(tree: Explanation, paint: Paint): string {
  const parts = scoreParts(tree);
  if (parts.length < 2) return '';
  return parts
    .map(({ name }, index) => `${paint(partStyles[index % partStyles.length] as Style, '█')} ${name}`)
    .join('  ');
}

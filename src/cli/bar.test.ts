import { describe, expect, it } from 'vitest';
import { explain } from '../scoring/index.ts';
import { drawBar, drawLegend, drawScore } from './bar.ts';

const mark = (style: unknown, text: string) => (text === '' ? '' : `<${String(style)}:${text}>`);
const plain = (_style: unknown, text: string) => text;

describe('drawBar', () => {
  it('fills ten cells by eighths', () => {
    expect(drawBar(0)).toBe('          ');
    expect(drawBar(1)).toBe('██████████');
    expect(drawBar(0.5)).toBe('█████     ');
    expect(drawBar(0.8412)).toBe('████████▍ ');
    expect(drawBar(0.0126)).toBe('▏         ');
  });

  it('stays within its cells for any value', () => {
    for (const share of [-1, 0.99999, 2, 1e-9]) expect([...drawBar(share)]).toHaveLength(10);
    expect(drawBar(2)).toBe('██████████');
  });
});

describe('drawScore', () => {
  it('draws each part in its own colour, or a plain bar without colours', () => {
    const tree = explain('lexical', { lexical: 0.5, revisionCount: 10, updatedAt: 0 }, { now: 0 });
    expect(drawScore(tree, mark)).toBe('<cyan:███><magenta:██><yellow:██   >');
    expect(drawScore(tree, plain)).toBe(drawBar(tree.value));
    expect(drawLegend(tree, plain)).toBe('█ lexical  █ recency  █ revision');
  });
});

import { describe, expect, it } from 'vitest';
import { explain } from '../scoring/index.ts';
import { drawBar, drawLegend, drawScore, scoreParts } from './bar.ts';

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

  it('stays within its cells whatever it is given', () => {
    for (const share of [-1, 0.99999, 2, 1e-9]) expect([...drawBar(share)]).toHaveLength(10);
    expect(drawBar(2)).toBe('██████████');
  });
});

describe('scoreParts', () => {
  it('are what the terms of a sum add', () => {
    const tree = explain('lexical', { lexical: 0.5, revisionCount: 10, updatedAt: 0 }, { now: 0 });
    const parts = scoreParts(tree);
    expect(parts.map(({ name }) => name)).toEqual(['lexical', 'recency', 'revision']);
    expect(parts.map(({ value }) => value)).toEqual([0.3, 0.25, expect.closeTo(0.15, 12)]);
  });

  it('reach through a product to the sum in it, and still add up to the score', () => {
    const tree = explain('hybrid', { lexical: 0.5, similarity: 0.9, updatedAt: 0 }, { now: 0 });
    const parts = scoreParts(tree);
    expect(parts.map(({ name }) => name)).toEqual(['words', 'calibrated']);
    expect(parts.reduce((sum, { value }) => sum + value, 0)).toBeCloseTo(tree.value, 12);
  });

  it('are one where there is no sum', () => {
    const tree = explain('vector', { similarity: 0.4 });
    expect(scoreParts(tree)).toEqual([{ name: 'score', value: 0.4 }]);
    expect(drawLegend(tree, plain)).toBe('');
  });
});

describe('drawScore', () => {
  it('gives each part its own colour, and is the plain bar without', () => {
    const tree = explain('lexical', { lexical: 0.5, revisionCount: 10, updatedAt: 0 }, { now: 0 });
    expect(drawScore(tree, mark)).toBe('<cyan:███><magenta:██><yellow:██   >');
    expect(drawScore(tree, plain)).toBe(drawBar(tree.value));
    expect(drawLegend(tree, plain)).toBe('█ lexical  █ recency  █ revision');
  });
});

import { describe, expect, it } from 'vitest';
import { explain } from './index.ts';
import { scoreParts } from './parts.ts';

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

  it('are a single part if there is no sum', () => {
    const tree = explain('vector', { similarity: 0.4 });
    expect(scoreParts(tree)).toEqual([{ name: 'score', value: 0.4 }]);
  });
});

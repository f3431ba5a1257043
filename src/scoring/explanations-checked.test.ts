import { describe, expect, test } from 'vitest';
import { compareExplanations } from './compare.ts';
import type { Explanation } from './explain.ts';
import { formatExplanation } from './format.ts';
import { explain } from './score.ts';
import { summariseExplanation } from './summary.ts';

const tree = explain(
  'lexical',
  { lexical: 0.4, revisionCount: 2, updatedAt: '2026-03-21T00:00:00Z' },
  { now: '2026-04-20T00:00:00Z' },
);

const readers: readonly (readonly [name: string, field: string, read: (tree: Explanation) => unknown])[] = [
  ['formatExplanation', 'tree', (each) => formatExplanation(each, 'text')],
  ['summariseExplanation', 'tree', summariseExplanation],
  ['compareExplanations, first', 'a', (each) => compareExplanations(each, tree)],
  ['compareExplanations, second', 'b', (each) => compareExplanations(tree, each)],
];

describe.each(readers)('%s', (_, field, read) => {
  test('refuses a value that is not an explanation, by its place', () => {
    const [first, ...rest] = tree.inputs;
    for (const [value, at] of [
      [undefined, field],
      [null, field],
      ['0.5', field],
      // A hit in the place of its explanation.
      [{ memory: { id: 'a' }, score: 0.5 }, field],
      [() => tree, field],
      [{ ...tree, op: 'average' }, field],
      [{ ...tree, op: 'constructor' }, field],
      [{ ...tree, value: null }, field],
      [{ ...tree, detail: undefined }, field],
      [{ ...tree, inputs: [] }, field],
      [{ ...tree, inputs: [{ ...first, inputs: null }, ...rest] }, `${field}.inputs[0]`],
    ])
      expect(() => read(value as never)).toThrowError(
        expect.objectContaining({ code: 'invalid_argument', details: { field: at } }),
      );
  });

  test('reads one that went through JSON', () => {
    expect(read(JSON.parse(JSON.stringify(tree)) as Explanation)).toEqual(read(tree));
  });
});

test('an unknown format is refused with those that there are', () => {
  for (const format of ['md', undefined, 'constructor'])
    expect(() => formatExplanation(tree, format as never)).toThrowError(
      /format: unknown format .*\(available: text, markdown\)/,
    );
});

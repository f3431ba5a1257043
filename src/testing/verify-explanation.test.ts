import { describe, expect, test } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { type Explanation, explain } from '../scoring/index.ts';
import { BUILTIN_PROFILE_NAMES } from '../scoring/profiles/index.ts';
import { verifyExplanation } from './index.ts';

const now = Date.UTC(2026, 0, 1);
const signals = { similarity: 0.7, lexical: 0.3, createdAt: now - 1e9, updatedAt: now - 5e8, type: 'event' };
const tree = explain('hybrid', signals, { now });

function expectMismatch(altered: Explanation, path: string, help: RegExp): void {
  try {
    verifyExplanation(altered);
    expect.unreachable();
  } catch (error) {
    if (!SalienceError.isInstance(error)) throw error;
    expect(error.code).toBe('explanation_mismatch');
    expect(error.details).toEqual({ path });
    expect(error.message).toContain(path);
    expect(error.message).toMatch(help);
  }
}

test.each(BUILTIN_PROFILE_NAMES)('an explanation of %s adds up, also after JSON', (name) => {
  const explanation = explain(name, signals, { now });
  verifyExplanation(explanation);
  verifyExplanation(JSON.parse(JSON.stringify(explanation)));
});

describe('an altered explanation', () => {
  const alter = (
    change: (copy: { value: number; inputs: Explanation[] } & Record<string, never>) => void,
  ) => {
    const copy = JSON.parse(JSON.stringify(tree));
    change(copy);
    return copy as Explanation;
  };

  test('in the last bit of its root', () => {
    expectMismatch(
      { ...tree, value: tree.value + 2 ** -53 },
      'root',
      /its inputs give 0\.\d+, and it says 0\.\d+/,
    );
  });
  test('in a leaf: its parent no longer follows', () => {
    const [factor, ...rest] = tree.inputs as [Explanation, ...Explanation[]];
    const path = 'root.inputs[0]';
    expectMismatch({ ...tree, inputs: [{ ...factor, value: 0.25 }, ...rest] }, path, /it says 0\.25/);
  });
  test('in a weight', () => {
    const copy = alter((root) => {
      (root.inputs[4] as { detail: { weights: number[] } } & Explanation).detail.weights[0] = 0.8;
    });
    expectMismatch(copy, 'root.inputs[4]', /its inputs give/);
  });
  test('by a missing term', () => {
    expectMismatch(
      alter((root) => {
        (root.inputs[4] as { inputs: Explanation[] } & Explanation).inputs.pop();
      }),
      'root.inputs[4]',
      /a sum does not have 4 inputs/,
    );
  });
  test('by cutting off everything below', () => {
    expectMismatch({ ...tree, inputs: [] }, 'root', /a product does not have 0 inputs/);
  });
  test('into something that is no number', () => {
    expectMismatch({ ...tree, value: Number.NaN }, 'root', /not a finite number/);
    expectMismatch({ ...tree, value: null as unknown as number }, 'root', /null is not a finite number/);
  });
  test('into something that is no tree', () => {
    expectMismatch({} as Explanation, 'root', /not a node of an explanation/);
    expectMismatch({ ...tree, op: 'guess' as 'sum' }, 'root', /"guess"/);
  });
});

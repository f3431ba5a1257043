import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryKnowledge } from '../testing/arbitrary-knowledge.ts';
import {
  ARBITRARY_NOW,
  arbitraryParameters,
  arbitraryProfile,
  arbitrarySignals,
} from '../testing/arbitrary-profile.ts';
import { scaledRuns } from '../testing/runs.ts';
import { verifyExplanation } from '../testing/verify-explanation.ts';
import { evaluate } from './evaluate.ts';
import { explainNode } from './explain.ts';
import { formatExplanation } from './format.ts';
import { formulaText } from './formula.ts';
import { OPERATOR_NAMES } from './operators/index.ts';
import type { Interval } from './operators/interval.ts';
import { resolveProfile } from './profile.ts';
import { intervalOf, rangeOf } from './range.ts';
import { defineProfile, explain, features, parseProfile, score } from './score.ts';

const runs = { numRuns: scaledRuns(2000) };
const now = ARBITRARY_NOW;

function expectWithin([low, high]: Interval, value: number): void {
  const tolerance = 1e-12 * Math.max(1, ...[low, high, value].map(Math.abs).filter(Number.isFinite));
  expect(value).toBeGreaterThanOrEqual(low - tolerance);
  expect(value).toBeLessThanOrEqual(high + tolerance);
}

test('an explanation has the bits of the score, and every node of it adds up, also after JSON', () => {
  fc.assert(
    fc.property(
      arbitraryProfile(),
      arbitrarySignals(),
      arbitraryParameters(),
      (definition, signals, parameters) => {
        const profile = defineProfile(definition);
        const tree = explain(profile, signals, { now, parameters });
        const value = score(profile, signals, { now, parameters });
        expect(Object.is(tree.value, value)).toBe(true);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        verifyExplanation(tree);
        verifyExplanation(JSON.parse(JSON.stringify(tree)));
        expect(formatExplanation(tree, 'text').startsWith(`${value.toFixed(4)}  `)).toBe(true);
      },
    ),
    runs,
  );
});

test('bounds from partial knowledge hold the value of the formula and of each of its parts', () => {
  const cases = fc
    .tuple(arbitraryProfile(), arbitrarySignals(), arbitraryParameters())
    .chain(([definition, signals, parameters]) =>
      fc.tuple(fc.constant({ definition, signals, parameters }), arbitraryKnowledge(signals)),
    );
  fc.assert(
    fc.property(cases, ([{ definition, signals, parameters }, knowledge]) => {
      const profile = resolveProfile(defineProfile(definition), parameters);
      const { elapsed: _, ...parts } = profile.parts;
      for (const node of [profile.root, ...Object.values(parts)]) {
        expectWithin(intervalOf(node, knowledge), evaluate(node, signals, now));
      }
    }),
    runs,
  );
});

test('a formula never leaves the range that its analysis states', () => {
  fc.assert(
    fc.property(arbitraryProfile(), arbitrarySignals(), (definition, signals) => {
      const profile = resolveProfile(defineProfile(definition));
      const { elapsed: _, ...parts } = profile.parts;
      for (const node of [profile.root, ...Object.values(parts)]) {
        expectWithin(rangeOf(node), explainNode(node, signals, now).value);
      }
    }),
    runs,
  );
});

test('a profile that went through JSON has the same hash, score, features and text', () => {
  fc.assert(
    fc.property(arbitraryProfile(), arbitrarySignals(), (definition, signals) => {
      const profile = defineProfile(definition);
      const parsed = parseProfile(JSON.stringify(definition));
      expect(resolveProfile(parsed).hash).toBe(resolveProfile(profile).hash);
      expect(score(parsed, signals, { now })).toBe(score(profile, signals, { now }));
      expect(features(parsed, signals, { now })).toEqual(features(profile, signals, { now }));
      expect(formulaText(parsed)).toBe(formulaText(profile));
    }),
    runs,
  );
});

test('another formula or other parameters give another hash', () => {
  fc.assert(
    fc.property(arbitraryProfile(), (definition) => {
      const profile = defineProfile(definition);
      const { hash } = resolveProfile(profile);
      expect(resolveProfile(profile, { share: 0.123 }).hash).not.toBe(hash);
      expect(resolveProfile({ ...profile, score: 0.5 }).hash).not.toBe(hash);
      expect(resolveProfile({ ...profile, name: 'another' }).hash).not.toBe(hash);
    }),
    { numRuns: scaledRuns(100) },
  );
});

test('random formulas reach every operator, and scores in between', () => {
  const operators = new Set<string>();
  const values: number[] = [];
  fc.assert(
    fc.property(arbitraryProfile(), arbitrarySignals(), (definition, signals) => {
      for (const [, op] of JSON.stringify(definition).matchAll(/"op":"(\w+)"/g)) operators.add(op as string);
      values.push(score(defineProfile(definition), signals, { now }));
    }),
    { numRuns: 500, seed: 7 },
  );
  expect([...operators].sort()).toEqual([...OPERATOR_NAMES].sort());
  expect(values.filter((value) => value > 0 && value < 1).length).toBeGreaterThan(100);
});

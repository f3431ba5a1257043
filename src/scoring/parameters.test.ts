import { describe, expect, test } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { type ParameterOverrides, type ProfileDefinition, resolveProfile } from './profile.ts';
import { builtinProfile } from './profiles/index.ts';
import { defineProfile, explain, score } from './score.ts';

const now = '2026-01-15T00:00:00Z';
const signals = { similarity: 0.9, importance: 0.2, createdAt: '2026-01-01T00:00:00Z' };

const tuned: ProfileDefinition = {
  name: 'tuned',
  description: 'Every kind of parameter.',
  parameters: {
    'weights.words': { kind: 'number', default: 0.5, min: 0, max: 1 },
    'weights.meaning': { kind: 'number', default: 0.5, min: 0, max: 1 },
    curve: { kind: 'choice', default: 'flat', choices: ['flat', 'steep'] },
    strict: { kind: 'flag', default: false },
  },
  parts: {
    mix: {
      op: 'mean',
      terms: [
        { weight: { op: 'param', name: 'weights.words' }, of: { op: 'signal', name: 'lexical' } },
        { weight: { op: 'param', name: 'weights.meaning' }, of: { op: 'signal', name: 'similarity' } },
      ],
    },
  },
  score: {
    op: 'when',
    if: { param: 'strict', is: true },
    then: { op: 'power', base: { op: 'ref', name: 'mix' }, exponent: 2 },
    else: {
      op: 'when',
      if: { param: 'curve', is: 'steep' },
      then: { op: 'power', base: { op: 'ref', name: 'mix' }, exponent: 3 },
      else: { op: 'ref', name: 'mix' },
    },
  },
};

function failure(run: () => unknown): SalienceError {
  try {
    run();
  } catch (error) {
    if (SalienceError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('overriding parameters', () => {
  const profile = defineProfile(tuned);
  const given = { lexical: 0.4, similarity: 0.8 };
  const scored = (parameters?: ParameterOverrides) => score(profile, given, { parameters });

  test('nested groups, partial groups and dotted names say the same', () => {
    expect(scored()).toBeCloseTo(0.6, 14);
    expect(scored({ weights: { words: 0, meaning: 1 } })).toBe(0.8);
    expect(scored({ 'weights.words': 0, 'weights.meaning': 1 })).toBe(0.8);
    expect(scored({ weights: { words: 0 } })).toBe(0.8);
    expect(scored({ weights: { words: 1 } })).toBeCloseTo((0.4 + 0.5 * 0.8) / 1.5, 14);
    expect(scored({ weights: {} })).toBe(scored());
  });

  test('choices and flags select formulas', () => {
    expect(scored({ strict: true })).toBeCloseTo(0.36, 12);
    expect(scored({ curve: 'steep' })).toBeCloseTo(0.216, 12);
    expect(scored({ strict: true, curve: 'steep' })).toBeCloseTo(0.36, 12);
  });

  test('the explanation names the choice and the parameter', () => {
    expect(explain(profile, given, { parameters: { strict: true } }).detail).toEqual({
      condition: 'parameter strict is true',
      held: true,
    });
    const tree = explain('retention', { ...signals, similarity: 1 }, { now });
    expect(tree.inputs[1]?.inputs[1]).toMatchObject({
      op: 'constant',
      value: 0.3,
      detail: { name: 'alpha' },
    });
  });

  test.each<[string, unknown, string, RegExp]>([
    ['an unknown name', { alpha: 1 }, 'alpha', /unknown parameter "alpha" \(available: weights\.words, /],
    [
      'an unknown name in a group',
      { weights: { luck: 1 } },
      'weights.luck',
      /unknown parameter "weights\.luck"/,
    ],
    ['a text for a number', { weights: { words: '1' } }, 'weights.words', /1 is not a finite number/],
    ['NaN', { weights: { words: Number.NaN } }, 'weights.words', /NaN is not a finite number/],
    ['infinity', { weights: { words: Infinity } }, 'weights.words', /Infinity is not a finite number/],
    ['null', { strict: null }, 'strict', /null is not true or false/],
    ['above the range', { weights: { words: 1.5 } }, 'weights.words', /1.5 is not within 0 and 1/],
    ['below the range', { weights: { words: -0.1 } }, 'weights.words', /-0.1 is not within 0 and 1/],
    ['no such choice', { curve: 'round' }, 'curve', /"round" is not one of flat, steep/],
    ['a text for a flag', { strict: 'yes' }, 'strict', /"yes" is not true or false/],
  ])('%s', (_name, parameters, parameter, help) => {
    const error = failure(() => scored(parameters as ParameterOverrides));
    expect(error.code).toBe('invalid_parameter');
    expect(error.details).toEqual({ profile: 'tuned', parameter });
    expect(error.message).toMatch(help);
  });

  test.each([null, [1], 'x'])('%j are no parameters', (parameters) => {
    const error = failure(() => resolveProfile(profile, parameters as never));
    expect(error.code).toBe('invalid_parameter');
    expect(error.message).toMatch(/names and values/);
  });

  test('a profile without parameters says how to vary it', () => {
    const error = failure(() => score('lexical', {}, { now, parameters: { half: 1 } }));
    expect(error.message).toMatch(/extend it under a new name/);
  });
});

describe('declaring parameters', () => {
  test.each<[string, unknown, string, RegExp]>([
    ['no kind', { default: 1 }, 'parameters.p.kind', /"number", "choice" or "flag"/],
    ['null', null, 'parameters.p.kind', /"number"/],
    ['an unknown kind', { kind: 'text', default: 'x' }, 'parameters.p.kind', /"flag"/],
    [
      'a default of which sums are infinite',
      { kind: 'number', default: 1e51 },
      'parameters.p.default',
      /1e\+51 is not within -1e\+50 and 1e\+50/,
    ],
    ['no default', { kind: 'number' }, 'parameters.p.default', /undefined is not a finite number/],
    [
      'a default out of range',
      { kind: 'number', default: 2, max: 1 },
      'parameters.p.default',
      /2 is not within/,
    ],
    [
      'a bound that is a text',
      { kind: 'number', default: 1, min: '0' },
      'parameters.p.min',
      /0 is not a finite/,
    ],
    ['an infinite bound', { kind: 'number', default: 1, max: Infinity }, 'parameters.p.max', /Infinity/],
    [
      'an unknown key',
      { kind: 'number', default: 1, maximum: 3 },
      'parameters.p.maximum',
      /unknown key ".+" \(.*/,
    ],
    ['a key of another kind', { kind: 'flag', default: true, min: 0 }, 'parameters.p.min', /unknown key/],
    ['no choices', { kind: 'choice', default: 'a' }, 'parameters.p.choices', /expected a list of strings/],
    [
      'choices that are no texts',
      { kind: 'choice', default: 'a', choices: ['a', 1] },
      'parameters.p.choices',
      /strings/,
    ],
    [
      'a default that is no choice',
      { kind: 'choice', default: 'c', choices: ['a'] },
      'parameters.p.default',
      /not one of a/,
    ],
    [
      'a flag that is a number',
      { kind: 'flag', default: 1 },
      'parameters.p.default',
      /1 is not true or false/,
    ],
  ])('%s', (_name, parameter, path, help) => {
    const definition = { name: 'x', description: 'd', score: 1, parameters: { p: parameter } };
    const error = failure(() => defineProfile(definition as ProfileDefinition));
    expect(error.code).toBe('invalid_profile');
    expect(error.details['path']).toBe(path);
    expect(error.message).toMatch(help);
  });
});

describe('extending', () => {
  const news: ProfileDefinition = {
    name: 'news',
    description: 'What is new counts most.',
    extends: 'balanced',
    set: { weights: { recency: 0.6 }, recencyHalfLifeDays: 3 },
  };

  test('"set" gives inherited parameters new defaults, and calls may still override them', () => {
    const profile = defineProfile(news);
    const parameters = { weights: { recency: 0.6 }, recencyHalfLifeDays: 3 };
    expect(score(profile, signals, { now })).toBe(score('balanced', signals, { now, parameters }));
    const back = { weights: { recency: 0.3 }, recencyHalfLifeDays: 14 };
    expect(score(profile, signals, { now, parameters: back })).toBe(score('balanced', signals, { now }));
    expect(profile.lineage).toEqual(['balanced', 'news']);
    expect(profile.source).toBe(builtinProfile('balanced').source);
  });

  test('the parent stays as it was', () => {
    const before = structuredClone(builtinProfile('balanced'));
    defineProfile(news);
    expect(structuredClone(builtinProfile('balanced'))).toEqual(before);
  });

  test('"replace" exchanges a part, the formula around it stays', () => {
    const profile = defineProfile({
      name: 'undated',
      description: 'Nothing ages.',
      extends: 'balanced',
      replace: { recency: 1 },
    });
    expect(score(profile, signals, { now })).toBeCloseTo(0.4 * 0.9 + 0.3 + 0.3 * 0.2, 14);
  });

  test('parts and parameters are added, a score may replace the inherited one, requirements add up', () => {
    const profile = defineProfile({
      name: 'searched',
      description: 'Only what was written more than once.',
      extends: 'lexical',
      parameters: { boost: { kind: 'number', default: 0.5, min: 0, max: 1 } },
      parts: {
        boosted: {
          op: 'product',
          of: [
            { op: 'param', name: 'boost' },
            { op: 'ref', name: 'lexical' },
          ],
        },
      },
      score: { op: 'ref', name: 'boosted' },
      require: [{ signal: 'revisionCount', atLeast: 2 }],
    });
    expect(score(profile, { lexical: 0.8 }, { now })).toBe(0.4);
    expect(profile.require).toEqual([
      { signal: 'lexical', above: 0 },
      { signal: 'revisionCount', atLeast: 2 },
    ]);
  });

  test('a lookup finds profiles of the caller, to any depth', () => {
    const parent = defineProfile(news);
    const find = (name: string) => (name === 'news' ? parent : undefined);
    const profile = defineProfile(
      { ...news, name: 'flash', extends: 'news', set: { recencyHalfLifeDays: 1 } },
      find,
    );
    expect(profile.lineage).toEqual(['balanced', 'news', 'flash']);
    expect(resolveProfile(profile).parameters).toMatchObject({
      'weights.recency': 0.6,
      recencyHalfLifeDays: 1,
    });
  });

  test.each<[string, Partial<ProfileDefinition>, string, RegExp]>([
    ['an inherited part again', { parts: { recency: 1 } }, 'parts.recency', /put it under "replace"/],
    [
      'an inherited parameter again',
      { parameters: { recencyHalfLifeDays: { kind: 'number', default: 1 } } },
      'parameters.recencyHalfLifeDays',
      /new default under "set"/,
    ],
    ['a default for no parameter', { set: { halfLife: 1 } }, 'set.halfLife', /unknown parameter "halfLife"/],
    [
      'a default out of range',
      { set: { recencyHalfLifeDays: 0 } },
      'set.recencyHalfLifeDays',
      /0 is not within/,
    ],
    ['a replacement of no part', { replace: { age: 1 } }, 'replace.age', /unknown inherited part "age"/],
    [
      'a replacement that makes a cycle',
      { replace: { recency: { op: 'ref', name: 'recency' } } },
      'parts.recency',
      /cycle/,
    ],
  ])('%s', (_name, change, path, help) => {
    const error = failure(() =>
      defineProfile({ name: 'x', description: 'd', extends: 'balanced', ...change }),
    );
    expect(error.code).toBe('invalid_profile');
    expect(error.details['path']).toBe(path);
    expect(error.message).toMatch(help);
  });
});

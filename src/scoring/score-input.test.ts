import { describe, expect, test } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { computeCompositeScore, fiveFactorScore, recencyScore, retention, scopedScore } from './helpers.ts';
import { resolveProfile } from './profile.ts';
import { BUILTIN_PROFILE_NAMES, builtinProfile } from './profiles/index.ts';
import { defineProfile, explain, features, readSignals, type SignalInput, score } from './score.ts';

const now = '2026-01-15T00:00:00Z';

function failure(run: () => unknown): SalienceError {
  try {
    run();
  } catch (error) {
    if (SalienceError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('signals', () => {
  test('times are ISO text, dates or milliseconds; what is absent is left out', () => {
    const at = Date.UTC(2026, 0, 1);
    expect(readSignals({ createdAt: '2026-01-01', updatedAt: new Date(at), lastAccessedAt: at })).toEqual({
      createdAt: at,
      updatedAt: at,
      lastAccessedAt: at,
    });
    expect(readSignals({ similarity: undefined, type: null as never })).toEqual({});
  });

  test('sessions may be a count or a list', () => {
    expect(readSignals({ sessions: ['a', 'b'] })).toEqual({ sessionCount: 2 });
    expect(readSignals({ sessions: 3 })).toEqual({ sessionCount: 3 });
  });

  test('counts of 0 and more are accepted', () => {
    expect(readSignals({ accessCount: 0, revisionCount: 0 })).toEqual({ accessCount: 0, revisionCount: 0 });
  });

  test.each<[string, unknown, RegExp]>([
    ['similarity', 1.01, /1\.01 must be a number from 0 to 1/],
    ['similarity', -0.1, /from 0 to 1/],
    ['similarity', Number.NaN, /NaN/],
    ['similarity', '0.5', /"0\.5" must be a number/],
    ['accessCount', -1, /of at least 0/],
    ['accessCount', Infinity, /Infinity/],
    ['type', 5, /expected a string/],
    ['core', 'true', /true or false/],
    ['sessions', -1, /of at least 0/],
    ['likeness', 1, /unknown signal "likeness" \(available: similarity, /],
    ['constructor', 1, /unknown signal "constructor"/],
  ])('%s: %j', (field, value, help) => {
    const error = failure(() => readSignals({ [field]: value } as SignalInput));
    expect(error.code).toBe('invalid_argument');
    expect(error.message).toMatch(help);
  });

  test.each(['yesterday', Number.NaN, 9e15, new Date(Number.NaN)])(
    'createdAt: %j is no time',
    (createdAt) => {
      const error = failure(() => explain('balanced', { createdAt }, { now }));
      expect(error.code).toBe('invalid_time');
      expect(error.details).toEqual({ field: 'createdAt' });
    },
  );
});

describe('the present moment', () => {
  test('is needed where a known clock is looked at: nothing counts as unknown by accident', () => {
    const error = failure(() => score('five-factor', { createdAt: '2026-01-01' }));
    expect(error.code).toBe('invalid_argument');
    expect(error.details).toEqual({ field: 'now' });
    expect(error.message).toMatch(/profile "five-factor" looks at the age of createdAt/);
  });

  test('is not needed otherwise', () => {
    expect(score('bm25', { lexical: 0.5, createdAt: '2026-01-01' })).toBe(0.5);
    expect(score('five-factor', { similarity: 1 })).toBeCloseTo(0.4 + 0.125 + 0.1 + 0.08, 14);
  });

  test('must be a time', () => {
    expect(failure(() => score('bm25', {}, { now: 'soon' })).details).toEqual({ field: 'now' });
  });
});

describe('an unknown age', () => {
  test('without a default is an error that names the clocks and the way out', () => {
    const error = failure(() => score('lexical', { lexical: 1 }, { now }));
    expect(error.code).toBe('missing_signal');
    expect(error.details).toMatchObject({ signals: ['updatedAt'] });
    expect(error.message).toMatch(/needs updatedAt .*"missing" on the decay/);
    expect(failure(() => score('retention', {}, { now })).details).toMatchObject({
      signals: ['lastAccessedAt', 'createdAt'],
    });
  });

  test('passes through choices and tables to the decay around them', () => {
    const profile = defineProfile({
      name: 'x',
      description: 'd',
      parts: {
        elapsed: {
          op: 'table',
          by: 'type',
          cases: { fact: { op: 'age', of: 'updatedAt' } },
          otherwise: { op: 'age', of: 'createdAt' },
        },
      },
      score: { op: 'decay', age: { op: 'ref', name: 'elapsed' }, halfLife: 1, missing: 0.25 },
    });
    const known = { createdAt: '2026-01-14T00:00:00Z' };
    expect(score(profile, { ...known, type: 'event' }, { now })).toBe(0.5);
    expect(score(profile, { ...known, type: 'fact' }, { now })).toBe(0.25);
    expect(explain(profile, { ...known, type: 'fact' }, { now }).detail.defaulted).toBe(true);
    // As a feature the unknown age is left out; the score stands.
    expect(features(profile, { ...known, type: 'fact' }, { now })).toEqual({});
    expect(features(profile, known, { now })).toEqual({ elapsed: 1 });
  });
});

test('a value that overflows is an error with its place and operands, never a score', () => {
  const huge = { op: 'product', of: [1e200, 1e200] } as const;
  const profile = defineProfile({ name: 'x', description: 'd', score: { op: 'clamp', of: huge } });
  const error = failure(() => score(profile, {}));
  expect(error.code).toBe('non_finite_score');
  expect(error.details).toEqual({ path: 'score.of', operands: [1e200, 1e200] });
});

describe('what is no argument at all', () => {
  const nothing = null as never;
  test.each<[string, () => unknown, RegExp]>([
    ['signals', () => score('bm25', nothing), /^signals: expected an object of signals, not null/],
    ['signals', () => explain('bm25', undefined as never), /not undefined/],
    ['signals', () => features('bm25', [0.5] as never), /not a list/],
    ['signals', () => retention(nothing, { now }), /not null/],
    ['signals', () => scopedScore(5 as never, { now }), /not 5/],
    ['memory', () => fiveFactorScore(nothing, { now }), /not null/],
    ['input', () => computeCompositeScore(nothing), /not null/],
    ['profile', () => score(undefined as never, {}), /^profile: expected a profile that defineProfile/],
    ['profile', () => score({ name: 'x', description: 'd', score: 1 } as never, {}), /not an object/],
    ['options', () => score('bm25', {}, nothing), /^options: expected an object of options/],
    ['options', () => recencyScore(now, undefined as never), /expected an object/],
    ['options', () => retention({}, nothing), /expected an object/],
    ['options.nwo', () => score('bm25', {}, { nwo: 1 } as never), /did you mean "now"/],
    ['options.nwo', () => scopedScore({}, { now, nwo: 1 } as never), /did you mean "now"/],
    ['options.curve', () => fiveFactorScore({}, { now, curve: 1 } as never), /unknown option "curve"/],
    ['options.halfLife', () => recencyScore(now, { now, halfLife: 1 } as never), /unknown option "halfLife"/],
  ])('%s', (field, run, help) => {
    const error = failure(run);
    expect([error.code, error.details]).toEqual(['invalid_argument', { field }]);
    expect(error.message).toMatch(help);
  });
});

test('an unknown strategy lists the known ones', () => {
  const error = failure(() => score('best', {}));
  expect(error.code).toBe('unknown_strategy');
  expect(error.message).toContain(BUILTIN_PROFILE_NAMES.join(', '));
  expect(failure(() => score('constructor', {})).code).toBe('unknown_strategy');
});

test('built-in profiles carry their key as name, and each formula has a hash of its own', () => {
  expect(BUILTIN_PROFILE_NAMES.map((name) => builtinProfile(name).name)).toEqual(BUILTIN_PROFILE_NAMES);
  const hashes = BUILTIN_PROFILE_NAMES.map((name) => resolveProfile(builtinProfile(name)).hash);
  expect(new Set(hashes).size).toBe(BUILTIN_PROFILE_NAMES.length);
});

test('recencyScore names its own arguments', () => {
  expect(failure(() => recencyScore('soon', { now }))).toMatchObject({
    code: 'invalid_time',
    details: { field: 'at' },
  });
  expect(failure(() => recencyScore(now, { now, halfLifeDays: 0 }))).toMatchObject({
    code: 'invalid_argument',
    details: { field: 'halfLifeDays' },
  });
});

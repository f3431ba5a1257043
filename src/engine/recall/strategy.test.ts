import { describe, expect, test } from 'vitest';
import { resolveProfile } from '../../scoring/profile.ts';
import { BUILTIN_PROFILE_NAMES, builtinProfile } from '../../scoring/profiles/index.ts';
import { defineProfile } from '../../scoring/score.ts';
import { querySignals, resolveStrategy, strategyOf } from './strategy.ts';

const of = (name: string) => strategyOf(builtinProfile(name));

describe('the strategy of a profile', () => {
  test.each([
    ['lexical', 10, 'none'],
    ['ambient', 10, 'none'],
    ['retention', 10, 'reinforce'],
    ['balanced', 20, 'none'],
    ['five-factor', 10, 'count'],
    ['scoped', 5, 'none'],
    ['hybrid', 10, 'none'],
    ['bm25', 10, 'none'],
    ['vector', 10, 'none'],
  ])('%s returns %d, and writes %s', (name, limit, effect) => {
    expect(of(name)).toMatchObject({ name, limit, effect });
  });

  test('only retention and hybrid follow links, and only in hybrid do scores propagate', () => {
    const following = BUILTIN_PROFILE_NAMES.filter((name) => of(name).association !== undefined);
    expect(following.toSorted()).toEqual(['hybrid', 'retention']);
    const thresholds = {
      linkThreshold: 0.3,
      pathThreshold: 0.3,
      secondHop: true,
      sequence: true,
      minimum: 0.1,
    };
    expect(of('retention').association).toMatchObject(thresholds);
    // The words of neighbours are part of its formula.
    expect(of('hybrid').association).toMatchObject({ ...thresholds, sequence: false });
    expect(of('retention').association?.mode).not.toBe(of('hybrid').association?.mode);
  });

  test('a context takes what balanced says, and else what a recall writes', () => {
    expect(of('balanced').context).toEqual({ minScore: 0.1, maxItems: 20, effect: 'touch' });
    expect(of('five-factor').context).toEqual({ minScore: 0, maxItems: undefined, effect: 'count' });
    expect(of('scoped').context).toEqual({ minScore: 0, maxItems: undefined, effect: 'none' });
  });

  test('a profile that extends another recalls as that does, under its own name', () => {
    const own = defineProfile({ name: 'mine', description: 'Mine.', extends: 'retention' });
    const { name, profile, ...rest } = strategyOf(own);
    const { name: _, profile: __, ...retention } = of('retention');
    expect(name).toBe('mine');
    expect(profile).toBe(own);
    expect(rest).toEqual(retention);
    const grandchild = defineProfile(
      { name: 'grandchild', description: 'Its child.', extends: 'mine' },
      () => own,
    );
    expect(strategyOf(grandchild).effect).toBe('reinforce');
  });
});

describe('parameters for one call', () => {
  const calibration = { floor: 0.125, ceiling: 0.625 };

  test('the calibration of the embedder fills in what the caller leaves open', () => {
    const { parameters } = resolveStrategy(builtinProfile('hybrid'), undefined, calibration);
    const known = Object.values(builtinProfile('hybrid').parameters).filter(
      (each) => each.kind === 'number' && each.from !== undefined,
    );
    expect(known.length).toBeGreaterThan(0);
    const values = Object.values(parameters);
    expect(values).toContain(0.125);
    expect(values).toContain(0.5);
    expect(resolveStrategy(builtinProfile('hybrid'), undefined, undefined)).toEqual(
      resolveProfile(builtinProfile('hybrid')),
    );
  });

  test('what the caller says counts before it', () => {
    const profile = builtinProfile('hybrid');
    const name = Object.entries(profile.parameters).find(
      ([, each]) => each.kind === 'number' && each.from === 'calibration.floor',
    )?.[0] as string;
    const overrides = name
      .split('.')
      .reduceRight<unknown>((inner, part) => ({ [part]: inner }), 0.25) as Record<string, never>;
    expect(resolveStrategy(profile, overrides, calibration).parameters[name]).toBe(0.25);
  });

  test('a profile without such parameters is bound as it is', () => {
    const lexical = builtinProfile('lexical');
    expect(resolveStrategy(lexical, undefined, calibration)).toEqual(resolveProfile(lexical));
  });
});

describe('which signals of a query a formula reads', () => {
  test.each([
    ['ambient', false, false],
    ['bm25', false, true],
    ['lexical', false, true],
    ['vector', true, false],
    ['hybrid', true, true],
  ])('%s', (name, similarity, lexical) => {
    expect(querySignals(resolveProfile(builtinProfile(name)))).toMatchObject({ similarity, lexical });
  });

  test('a requirement reads too', () => {
    const profile = defineProfile({
      name: 'required',
      description: 'Reads a similarity only as a requirement.',
      score: { op: 'signal', name: 'importance' },
      require: [{ signal: 'similarity', above: 0.1 }],
    });
    expect(querySignals(resolveProfile(profile))).toMatchObject({ similarity: true, lexical: false });
  });
});

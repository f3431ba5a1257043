import { describe, expect, test } from 'vitest';
import { SalienceError, type SalienceErrorCode } from '../domain/errors.ts';
import type { ProfileDefinition } from './profile.ts';
import { resolveProfile } from './profile.ts';
import { builtinDefinition } from './profiles/index.ts';
import { defineProfile, parseProfile, score } from './score.ts';

const now = '2026-01-01T00:00:00Z';

function failure(run: () => unknown): SalienceError {
  try {
    run();
  } catch (error) {
    if (SalienceError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

function expectFault(definition: unknown, path: string, help: RegExp): void {
  const error = failure(() => defineProfile(definition as ProfileDefinition));
  expect(error.code).toBe('invalid_profile' satisfies SalienceErrorCode);
  expect(error.details['path']).toBe(path);
  expect(error.message).toContain(path);
  expect(error.message).toMatch(help);
}

const base = { name: 'mine', description: 'For tests.' };
const withScore = (expression: unknown) => ({ ...base, score: expression });
const signal = { op: 'signal', name: 'similarity' };
const age = { op: 'age', of: 'updatedAt' };

describe('the shape of a profile', () => {
  test.each([
    ['no object', 7, '(root)', /name, description and score/],
    ['a list', [], '(root)', /an object/],
    ['no name', { description: 'x', score: 1 }, 'name', /lower-case/],
    [
      'a name in capitals',
      { ...base, name: 'Mine', score: 1 },
      'name',
      /lower-case letters, digits and hyphens/,
    ],
    ['a name that begins with a hyphen', { ...base, name: '-mine', score: 1 }, 'name', /no hyphen first/],
    ['no description', { name: 'mine', score: 1 }, 'description', /what the profile is for/],
    ['a blank description', { ...base, description: ' ', score: 1 }, 'description', /a sentence/],
    ['a source that is no text', { ...base, source: { page: 5 }, score: 1 }, 'source', /a string/],
    ['an unknown key', { ...base, score: 1, weights: {} }, 'weights', /unknown key "weights"/],
    ['no score', base, 'score', /expected a formula/],
    ['parts as a list', { ...base, score: 1, parts: [] }, 'parts', /expected an object/],
    ['parameters as a text', { ...base, score: 1, parameters: 'x' }, 'parameters', /expected an object/],
    ['requirements as an object', { ...base, score: 1, require: {} }, 'require', /a list of conditions/],
    ['an unknown parent', { ...base, extends: 'nobody' }, 'extends', /unknown profile "nobody"/],
    ['a parent that is no name', { ...base, extends: 5 }, 'extends', /unknown profile 5/],
    ['a parent called __proto__', { ...base, extends: '__proto__' }, 'extends', /unknown profile/],
  ])('%s', (_name, definition, path, help) => expectFault(definition, path, help));
});

describe('operators', () => {
  test.each([
    [
      'an unknown operator',
      { op: 'sine', of: 1 },
      'score.op',
      /unknown operator "sine" \((available: constant, |did you mean)/,
    ],
    ['no operator', { of: 1 }, 'score.op', /unknown operator/],
    ['an operator from the prototype', { op: 'constructor' }, 'score.op', /unknown operator/],
    ['a text', 'similarity', 'score', /"similarity" is not a formula/],
    ['null', null, 'score', /null is not a formula/],
    ['a list', [signal], 'score', /is not a formula/],
    ['an unknown key', { ...signal, default: 0 }, 'score.default', /unknown key ".+" \(.*/],
    [
      'an unknown signal',
      { op: 'signal', name: 'likeness' },
      'score.name',
      /unknown signal "likeness" \(available: similarity, /,
    ],
    ['a default out of range', { ...signal, missing: 2 }, 'score.missing', /2 is not within 0 and 1/],
    [
      'an unknown part',
      { op: 'ref', name: 'recency' },
      'score',
      /unknown part "recency" \(available: none\)/,
    ],
    ['a part from the prototype', { op: 'ref', name: 'constructor' }, 'score', /unknown part "constructor"/],
    [
      'an unknown parameter',
      { op: 'param', name: 'alpha' },
      'score',
      /unknown parameter "alpha" \(available: none\)/,
    ],
    [
      'a parameter from the prototype',
      { op: 'param', name: 'toString' },
      'score',
      /unknown parameter "toString"/,
    ],
    ['a sum of nothing', { op: 'sum', terms: [] }, 'score.terms', /at least one element/],
    ['a sum without terms', { op: 'sum' }, 'score.terms', /at least one element/],
    ['a product of nothing', { op: 'product', of: [] }, 'score.of', /at least one element/],
    ['a product of no list', { op: 'product', of: signal }, 'score.of', /a list/],
    ['a minimum of nothing', { op: 'min', of: [] }, 'score.of', /at least one element/],
    ['a maximum of nothing', { op: 'max', of: [] }, 'score.of', /at least one element/],
    ['a bare term', { op: 'sum', terms: [signal] }, 'score.terms[0].op', /unknown key ".+" \(.*/],
    [
      'a term without formula',
      { op: 'sum', terms: [{ weight: 1 }] },
      'score.terms[0].of',
      /expected a formula/,
    ],
    [
      'a formula as weight',
      { op: 'sum', terms: [{ weight: signal, of: 1 }] },
      'score.terms[0].weight',
      /a number or a parameter/,
    ],
    [
      'a negative weight in a mean',
      { op: 'mean', terms: [{ weight: -1, of: 1 }, { of: 1 }] },
      'score',
      /must not be negative/,
    ],
    ['a mean of no weight', { op: 'mean', terms: [{ weight: 0, of: 1 }] }, 'score', /must not all be 0/],
    [
      'a clamp upside down',
      { op: 'clamp', of: signal, min: 0.8, max: 0.2 },
      'score',
      /min 0.8 is above max 0.2/,
    ],
    ['a cap of 0', { op: 'capped', of: signal, cap: 0 }, 'score.cap', /above 0/],
    ['a cap missing', { op: 'capped', of: signal }, 'score.cap', /expected a formula/],
    [
      'a table by no attribute',
      { op: 'table', by: 'colour', cases: {}, otherwise: 1 },
      'score.by',
      /unknown attribute "colour" \(available: type, /,
    ],
    [
      'a table without otherwise',
      { op: 'table', by: 'type', cases: { fact: 1 } },
      'score.otherwise',
      /expected a formula/,
    ],
    ['a table without cases', { op: 'table', by: 'type', otherwise: 1 }, 'score.cases', /expected a formula/],
    [
      'a fault inside a case',
      { op: 'table', by: 'type', cases: { fact: { op: 'x' } }, otherwise: 1 },
      'score.cases.fact.op',
      /unknown operator/,
    ],
    [
      'a choice without else',
      { op: 'when', if: { known: 'similarity' }, then: 1 },
      'score.else',
      /expected a formula/,
    ],
    [
      'an infinite constant',
      { op: 'constant', value: Number.POSITIVE_INFINITY },
      'score',
      /Infinity is not a finite number/,
    ],
    ['NaN', Number.NaN, 'score', /NaN is not a finite number/],
    [
      'an infinite weight',
      { op: 'sum', terms: [{ weight: -Infinity, of: 1 }] },
      'score.terms[0].weight',
      /not a finite number/,
    ],
  ])('%s', (_name, expression, path, help) => expectFault(withScore(expression), path, help));
});

describe('ages and decays', () => {
  test.each([
    ['no pace', { op: 'decay', age }, 'score', /exactly one of halfLife, rate and scale/],
    ['two paces', { op: 'decay', age, halfLife: 1, rate: 1 }, 'score', /exactly one/],
    [
      'a half-life of 0',
      { op: 'decay', age, halfLife: 0 },
      'score.halfLife',
      /it can be 0, and must be above 0/,
    ],
    [
      'a negative rate',
      { op: 'decay', age, rate: -0.1 },
      'score.rate',
      /it can be -0.1, and must not be below 0/,
    ],
    [
      'a scale that can be 0',
      { op: 'decay', age, scale: signal },
      'score.scale',
      /it can be 0, and must be above 0/,
    ],
    [
      'a power curve by half-life',
      { op: 'decay', curve: 'power', age, halfLife: 3 },
      'score.halfLife',
      /takes a scale/,
    ],
    [
      'an unknown curve',
      { op: 'decay', curve: 'linear', age, halfLife: 3 },
      'score.curve',
      /"exponential" or "power"/,
    ],
    [
      'an exponent without power',
      { op: 'decay', age, halfLife: 3, exponent: 2 },
      'score.exponent',
      /only the power curve/,
    ],
    [
      'an exponent of 0',
      { op: 'decay', curve: 'power', age, scale: 3, exponent: 0 },
      'score.exponent',
      /above 0/,
    ],
    ['a negative age', { op: 'decay', age: -1, halfLife: 3 }, 'score.age', /it can be -1/],
    ['no age', { op: 'decay', halfLife: 3 }, 'score.age', /expected a formula/],
    [
      'an unknown clock',
      { op: 'decay', age: { op: 'age', of: 'bornAt' }, halfLife: 3 },
      'score.age.of',
      /unknown clock "bornAt" \(available: validFrom, /,
    ],
    [
      'no clocks',
      { op: 'decay', age: { op: 'age', of: { latest: [] } }, halfLife: 3 },
      'score.age.of',
      /at least one element/,
    ],
    [
      'clocks in a bare list',
      { op: 'decay', age: { op: 'age', of: ['updatedAt'] }, halfLife: 3 },
      'score.age.of',
      /not a formula/,
    ],
    [
      'clocks by another key',
      { op: 'decay', age: { op: 'age', of: { newest: ['updatedAt'] } }, halfLife: 3 },
      'score.age.of',
      /"earliest" or "latest"/,
    ],
    [
      'clocks by two keys',
      {
        op: 'decay',
        age: { op: 'age', of: { latest: ['updatedAt'], earliest: ['createdAt'] } },
        halfLife: 3,
      },
      'score.age.of',
      /one list/,
    ],
  ])('%s', (_name, expression, path, help) => expectFault(withScore(expression), path, help));
});

describe('conditions', () => {
  const choice = (condition: unknown) => withScore({ op: 'when', if: condition, then: 1, else: 0 });
  test.each([
    ['nothing', undefined, 'score.if', /expected a formula/],
    ['an empty one', {}, 'score.if', /attribute, signal, known, passed or param/],
    ['no bound', { signal: 'similarity' }, 'score.if', /at least one of above, atLeast, below and atMost/],
    ['an unknown bound', { signal: 'similarity', over: 1 }, 'score.if.over', /unknown key ".+" \(.*/],
    ['an unknown signal', { signal: 'likeness', above: 1 }, 'score.if.signal', /unknown signal "likeness"/],
    ['a duration as text', { passed: 'validUntil', by: '1d' }, 'score.if.by', /./],
    [
      'an unknown key of a clock',
      { passed: 'validUntil', within: 1 },
      'score.if.within',
      /unknown key "within"/,
    ],
    ['an infinite bound', { signal: 'similarity', above: Infinity }, 'score.if.above', /not a finite number/],
    [
      'an unknown attribute',
      { attribute: 'colour', is: 'red' },
      'score.if.attribute',
      /unknown attribute "colour"/,
    ],
    ['no value', { attribute: 'type', is: [] }, 'score.if.is', /at least one element/],
    ['a number as value', { attribute: 'type', is: ['fact', 3] }, 'score.if.is', /with texts/],
    ['a flag as value', { attribute: 'core', is: true }, 'score.if.is', /a flag with "true" or "false"/],
    ['no value at all', { attribute: 'type' }, 'score.if.is', /with texts/],
    [
      'two conditions',
      { attribute: 'type', is: 'fact', signal: 'similarity' },
      'score.if.signal',
      /unknown key/,
    ],
    ['an unknown name', { known: 'likeness' }, 'score.if.known', /unknown signal or clock "likeness"/],
    ['an unknown parameter', { param: 'mode', is: 'x' }, 'score.if', /unknown parameter "mode"/],
  ])('%s', (_name, condition, path, help) => expectFault(choice(condition), path, help));

  test('values that JSON cannot hold', () => {
    const parameters = { mode: { kind: 'flag', default: true } };
    const circular: { self?: unknown } = {};
    circular.self = circular;
    for (const is of [10n, circular]) {
      expectFault({ ...choice({ param: 'mode', is }), parameters }, 'score.if', /cannot be compared with/);
    }
    const total = withScore({ op: 'sum', total: 1n, terms: [{ of: signal }] });
    expectFault(total, 'score.total', /1 is not a finite number/);
  });

  test.each([
    ['a description that is no text', { description: 5 }, 'description', /a string/],
    ['a value of nobody', { from: 'calibration.roof' }, 'from', /unknown value "calibration.roof"/],
  ])('a parameter with %s', (_name, more, path, help) => {
    const parameters = { count: { kind: 'number', default: 1, ...more } };
    expectFault({ ...withScore(1), parameters }, `parameters.count.${path}`, help);
  });

  test('a parameter is compared with its own kind only', () => {
    const parameters = { count: { kind: 'number', default: 1 }, on: { kind: 'flag', default: true } };
    expectFault(
      { ...choice({ param: 'count', is: '1' }), parameters },
      'score.if',
      /cannot be compared with "1"/,
    );
    expectFault({ ...choice({ param: 'on', is: 'true' }), parameters }, 'score.if', /cannot be compared/);
  });

  test('a choice is compared with one of its values only', () => {
    const parameters = { fading: { kind: 'choice', default: 'none', choices: ['none', 'linear'] } };
    expectFault(
      { ...choice({ param: 'fading', is: 'nome' }), parameters },
      'score.if.is',
      /unknown value "nome" \(did you mean "none"\?\)/,
    );
  });

  test('faults in requirements name their place', () => {
    expectFault({ ...withScore(1), require: [{ known: 'lexical' }, {}] }, 'require[1]', /a condition has/);
  });
});

describe('ranges', () => {
  test.each([
    [
      'weights that sum to 1.2',
      {
        op: 'sum',
        terms: [
          { weight: 0.7, of: signal },
          { weight: 0.5, of: signal },
        ],
      },
      'score',
      /the weights sum to 1\.2, not to 1: .*"total": 1\.2/,
    ],
    [
      'weights that sum to 1.2 on purpose',
      {
        op: 'sum',
        total: 1.2,
        terms: [
          { weight: 0.7, of: signal },
          { weight: 0.5, of: signal },
        ],
      },
      'score',
      /from 0 to 1.2, .*add up to 1.* clamp/,
    ],
    ['a score below 0', { op: 'sum', terms: [{ weight: -1, of: signal }] }, 'score', /from -1 to/],
    ['an unbounded count', { op: 'signal', name: 'accessCount' }, 'score', /from 0 to Infinity/],
    [
      'a negative base',
      { op: 'power', base: { op: 'clamp', of: signal, min: -1, max: 1 }, exponent: -1 },
      'score.exponent',
      /it can be -1/,
    ],
    [
      'a power of what can be negative',
      { op: 'power', base: { op: 'sum', terms: [{ weight: -1, of: signal }] }, exponent: 2 },
      'score.base',
      /it can be -1, and must not be below 0/,
    ],
    [
      'a power of 0 that can be 1 of what is unbounded, plus 1',
      {
        op: 'sum',
        terms: [{ of: 1 }, { of: { op: 'power', base: { op: 'signal', name: 'accessCount' }, exponent: 0 } }],
      },
      'score',
      /from 1 to 2/,
    ],
  ])('%s', (_name, expression, path, help) => expectFault(withScore(expression), path, help));

  describe('the total of weights', () => {
    const shares = (...weights: readonly unknown[]) => weights.map((weight) => ({ weight, of: signal }));
    const fiveFactor = builtinDefinition('five-factor');
    const mistyped = JSON.parse(JSON.stringify(fiveFactor).replace('"weight":0.4', '"weight":0.35'));
    const copy = { ...mistyped, name: 'mine' };

    test('a slip in a weighted mean is named, with the sum', () => {
      expectFault(copy, 'score', /the weights sum to 0\.95, not to 1: .*"total": 0\.95 .*"mean"/);
      const text = JSON.stringify(copy);
      expect(failure(() => parseProfile(text)).message).toMatch(/sum to 0\.95/);
      const parts = { inner: { op: 'sum', terms: shares(0.5, 0.4) } };
      expectFault({ ...withScore(1), parts }, 'parts.inner', /sum to 0\.9,/);
      expectFault(withScore({ op: 'sum', terms: shares(0, 0.4) }), 'score', /sum to 0\.4,/);
    });

    test('a total that is meant is said, and must be so', () => {
      const said = withScore({ op: 'sum', total: 0.9, terms: shares(0.5, 0.4) }) as ProfileDefinition;
      expect(score(defineProfile(said), { similarity: 1 })).toBeCloseTo(0.9, 12);
      expectFault(
        withScore({ op: 'sum', total: 1, terms: shares(0.5, 0.4) }),
        'score.total',
        /it is 1, and the weights sum to 0\.9/,
      );
      for (const total of ['0.9', Number.NaN, null])
        expectFault(withScore({ op: 'sum', total, terms: shares(0.5, 0.4) }), 'score.total', /finite number/);
      expectFault(
        withScore({ op: 'mean', total: 1, terms: shares(1, 2) }),
        'score.total',
        /unknown key ".+" \(.*/,
      );
    });

    test.each([
      ['one share', { op: 'sum', terms: shares(0.5) }],
      ['something added', { op: 'clamp', of: { op: 'sum', terms: shares(1, 0.3) } }],
      ['something taken away', { op: 'clamp', of: { op: 'sum', terms: shares(0.9, -0.3) } }],
      [
        'a count',
        {
          op: 'clamp',
          of: {
            op: 'sum',
            terms: [...shares(0.5), { weight: 0.1, of: { op: 'signal', name: 'accessCount' } }],
          },
        },
      ],
      [
        '1 + 2·importance',
        {
          op: 'product',
          of: [0.3, { op: 'min', of: [3, { op: 'sum', terms: [{ of: 1 }, { weight: 2, of: signal }] }] }],
        },
      ],
    ])('%s is no weighted mean', (_name, expression) => {
      expect(() => defineProfile(withScore(expression) as ProfileDefinition)).not.toThrow();
    });

    test('weights of a call obey the same', () => {
      const parameters = {
        first: { kind: 'number', default: 0.6, min: 0 },
        second: { kind: 'number', default: 0.4, min: 0 },
      } as const;
      const terms = shares({ op: 'param', name: 'first' }, { op: 'param', name: 'second' });
      const definition = { ...base, parameters, score: { op: 'sum', terms } } as ProfileDefinition;
      const profile = defineProfile(definition);
      expect(score(profile, { similarity: 1 }, { parameters: { first: 0.7, second: 0.3 } })).toBeCloseTo(1);
      const error = failure(() => resolveProfile(profile, { first: 0.3 }));
      expect(error.code).toBe('invalid_profile');
      expect(error.message).toMatch(/at score: the weights sum to 0\.7,/);
      expect(() =>
        resolveProfile(defineProfile({ ...definition, score: { op: 'mean', terms } } as ProfileDefinition), {
          first: 0.3,
        }),
      ).not.toThrow();
    });
  });

  test('rounding alone is no fault: ten tenths are 1', () => {
    const terms = Array.from({ length: 10 }, () => ({ weight: 0.1, of: 1 }));
    expect(score(defineProfile({ ...base, score: { op: 'sum', terms } }), {})).toBeCloseTo(1, 14);
    const over = [0.1, 0.2, 0.3, 0.3, 0.1].map((weight) => ({ weight, of: 1 }));
    expect(score(defineProfile({ ...base, score: { op: 'sum', terms: over } }), {})).toBeLessThanOrEqual(1);
  });

  test('a part is checked although the score does not use it: it comes with every hit', () => {
    expectFault(
      { ...withScore(1), parts: { bad: { op: 'decay', age, halfLife: 0 } } },
      'parts.bad.halfLife',
      /above 0/,
    );
  });

  test('parameters that push the score out of range are refused at binding', () => {
    const profile = defineProfile({
      ...base,
      parameters: { share: { kind: 'number', default: 0.5, min: 0 } },
      score: {
        op: 'sum',
        terms: [{ weight: { op: 'param', name: 'share' }, of: { op: 'signal', name: 'lexical' } }],
      },
    });
    expect(score(profile, { lexical: 1 }, { parameters: { share: 1 } })).toBe(1);
    const error = failure(() => resolveProfile(profile, { share: 1.2 }));
    expect(error.code).toBe('invalid_profile');
    expect(error.message).toMatch(/from 0 to 1.2/);
  });
});

describe('cycles and size', () => {
  const ref = (name: string) => ({ op: 'ref', name });
  test('a part that refers to itself', () => {
    expectFault({ ...withScore(1), parts: { a: ref('a') } }, 'parts.a', /cycle: a → a/);
  });
  test('a cycle through several parts is drawn', () => {
    const parts = { start: ref('a'), a: ref('b'), b: { op: 'product', of: [1, ref('a')] } };
    expectFault({ ...withScore(ref('start')), parts }, 'parts.b.of[1]', /cycle: a → b → a/);
  });
  test('nesting that would exhaust the stack', () => {
    const deep = (levels: number) => `${'{"op":"clamp","of":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const json = (levels: number) => `{"name":"deep","description":"d","score":${deep(levels)}}`;
    expect(score(parseProfile(json(150)), {})).toBe(1);
    const error = failure(() => parseProfile(json(5000)));
    expect(error.code).toBe('invalid_profile');
    expect(error.message).toMatch(/nested more than 200 deep/);
  });
  test('parts that double with every line', () => {
    const parts: Record<string, unknown> = { p0: signal };
    for (let index = 1; index <= 60; index++) {
      parts[`p${index}`] = { op: 'product', of: [ref(`p${index - 1}`), ref(`p${index - 1}`)] };
    }
    const error = failure(() => defineProfile({ ...withScore(ref('p60')), parts } as ProfileDefinition));
    expect(error.code).toBe('invalid_profile');
    expect(error.message).toMatch(/refer to fewer parts/);
  });
  test('a long chain of parts', () => {
    const parts: Record<string, unknown> = { p0: signal };
    for (let index = 1; index <= 6000; index++) parts[`p${index}`] = ref(`p${index - 1}`);
    const error = failure(() => defineProfile({ ...withScore(ref('p6000')), parts } as ProfileDefinition));
    expect(error.code).toBe('invalid_profile');
    expect(error.message).toMatch(/refer to fewer parts/);
  });
});

describe('JSON', () => {
  test.each(['', '{', 'not json', '{"name":'])('%j is not valid JSON', (text) => {
    const error = failure(() => parseProfile(text));
    expect(error.code).toBe('invalid_profile');
    expect(error.message).toMatch(/not valid JSON/);
  });
  test('a number beyond float64 is not finite', () => {
    const error = failure(() =>
      parseProfile('{"name":"x","description":"d","score":{"op":"clamp","of":1e999}}'),
    );
    expect(error.details['path']).toBe('score.of');
    expect(error.message).toMatch(/Infinity is not a finite number/);
  });
});

describe('names of the object prototype are names like any other', () => {
  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%s', (name) => {
    const profile = parseProfile(`{
      "name": "odd", "description": "Odd names.",
      "parameters": {"${name}": {"kind": "number", "default": 0.25, "min": 0, "max": 1}},
      "parts": {"${name}": {"op": "param", "name": "${name}"}},
      "score": {"op": "product", "of": [
        {"op": "ref", "name": "${name}"},
        {"op": "table", "by": "type", "cases": {"${name}": 1}, "otherwise": 0.5}]}}`);
    const parameters = JSON.parse(`{"${name}": 0.5}`);
    expect(score(profile, { type: name }, { now })).toBe(0.25);
    expect(score(profile, { type: 'fact' }, { now })).toBe(0.125);
    expect(score(profile, { type: name }, { now, parameters })).toBe(0.5);
    const child = defineProfile(
      JSON.parse(
        `{"name": "child", "description": "d", "extends": "odd", "set": {"${name}": 1}, "replace": {"${name}": 0.75}}`,
      ),
      () => profile,
    );
    expect(score(child, { type: name }, { now })).toBe(0.75);
    expect(resolveProfile(child).parameters[name]).toBe(1);
    expect({}).not.toHaveProperty('op');
  });

  test.each(['__proto__', 'constructor'])('%s is no parameter where nobody declared it', (name) => {
    const parameters = JSON.parse(`{"${name}": 0.5}`);
    expect(failure(() => score('scoped', {}, { now, parameters })).code).toBe('invalid_parameter');
    const definition = JSON.parse(
      `{"name": "child", "description": "d", "extends": "scoped", "set": {"${name}": 1}}`,
    );
    expect(failure(() => defineProfile(definition)).details['path']).toBe(`set.${name}`);
  });
});

test('a parameter that is set twice, to different values, is refused', () => {
  const child = (set: object) => ({ ...base, extends: 'balanced', set });
  for (const set of [
    { weights: { recency: 0.5 }, 'weights.recency': 0.2 },
    { 'weights.recency': 0.2, weights: { recency: 0.5, semantic: 0.1 } },
  ])
    expectFault(child(set), 'set.weights.recency', /set twice/);
  const same = {
    weights: { recency: 0.2, semantic: undefined },
    'weights.recency': 0.2,
    'weights.semantic': 0.7,
  };
  expect(defineProfile(child(same) as ProfileDefinition).parameters).toMatchObject({
    'weights.recency': { default: 0.2 },
    'weights.semantic': { default: 0.7 },
  });
});

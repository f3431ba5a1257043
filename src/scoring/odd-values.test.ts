import { expect, test } from 'vitest';
import { settingText } from '../domain/settings.ts';
import { forCaller } from '../engine/caller.ts';
import { compareScores, makeScore, type Score } from './comparable.ts';
import { compareExplanations, formatComparison } from './compare.ts';
import { formulaText } from './formula.ts';
import { cappedLinear, exponentialDecay, usefulness } from './helpers.ts';
import { builtinDefinition, builtinProfile } from './profiles/index.ts';
import { explain } from './score.ts';

const score: Score<string> = makeScore<string>('lexical', 'hash', 0.5);
const tree = explain('bm25', { lexical: 0.4 });
const comparison = compareExplanations(tree, explain('bm25', { lexical: 0.3 }));
const [term] = comparison.terms;
const odd = [undefined, null, 7, 10n, Symbol('s'), new Date(0), new Map(), () => score];

const numeric: ReadonlySet<string> = new Set(['positive', 'age', 'halfLife', 'n', 'cap']);

const functions: readonly (readonly [
  name: string,
  field: string,
  run: (value: never) => unknown,
  others: readonly unknown[],
])[] = [
  [
    'formulaText',
    'profile',
    formulaText,
    [
      {},
      [],
      'hybrid',
      builtinDefinition('hybrid'),
      { ...builtinProfile('hybrid'), parts: null },
      { ...builtinProfile('hybrid'), parameters: [] },
      { ...builtinProfile('hybrid'), require: undefined },
      { ...builtinProfile('hybrid'), score: undefined },
    ],
  ],
  [
    'compareScores, first',
    'a',
    (value) => compareScores(value, score),
    [{}, [], 'x', { ...score, value: '1' }],
  ],
  ['compareScores, second', 'b', (value) => compareScores(score, value), [{}, [], 'x', JSON.parse('0.5')]],
  [
    'formatComparison',
    'comparison',
    formatComparison,
    [{}, [], 'x', { ...comparison, terms: undefined }, { ...comparison, difference: '1' }],
  ],
  ['settingText', 'setting', settingText, []],
  ['forCaller, name', 'name', (value) => forCaller(value, async () => 1), [{}, [], ' ']],
  [
    'exponentialDecay, age',
    'age',
    (value) => exponentialDecay(value, 1),
    [{}, [], 'x', Number.POSITIVE_INFINITY],
  ],
  ['exponentialDecay, half-life', 'halfLife', (value) => exponentialDecay(1, value), [{}, [], 'x', 0, -1]],
  ['cappedLinear, number', 'n', (value) => cappedLinear(value, 1), [{}, [], 'x']],
  ['cappedLinear, cap', 'cap', (value) => cappedLinear(1, value), [{}, [], 'x', 0, -1]],
  ['usefulness', 'positive', (value) => usefulness(value, 0), [{}, [], 'x', -1]],
];

test.each(functions)('%s refuses what is no such thing, by its place', (_name, field, run, others) => {
  const takesNumbers = numeric.has(field);
  for (const value of [...odd.filter((each) => !takesNumbers || each !== 7), ...others])
    expect(() => run(value as never)).toThrowError(
      expect.objectContaining({ code: 'invalid_argument', details: { field } }),
    );
});

test('a caller without work is refused', () => {
  for (const work of [undefined, null, {}, Promise.resolve()])
    expect(() => forCaller('bot', work as never)).toThrowError(
      expect.objectContaining({ code: 'invalid_argument', details: { field: 'work' } }),
    );
});

test('an invalid term of a comparison is refused, naming its place', () => {
  for (const wrong of [
    null,
    'x',
    { ...term, name: 1 },
    { ...term, a: '1' },
    { ...term, contribution: undefined },
  ])
    expect(() => formatComparison({ ...comparison, terms: [term, wrong] } as never)).toThrowError(
      expect.objectContaining({ code: 'invalid_argument', details: { field: 'comparison.terms[1]' } }),
    );
});

test('an explanation that went through JSON reads as before', () => {
  const copied = <Value>(value: Value) => JSON.parse(JSON.stringify(value)) as Value;
  expect(formatComparison(copied(comparison))).toBe(formatComparison(comparison));
  expect(formulaText(copied(builtinProfile('hybrid')))).toBe(formulaText(builtinProfile('hybrid')));
  expect(settingText([])).toBe('[]');
});

import { expect, test } from 'vitest';
import { formulaText } from './formula.ts';
import type { Expression } from './operators/index.ts';
import { builtinProfile } from './profiles/index.ts';
import { defineProfile } from './score.ts';

test('a profile reads as a formula, a line for each part', () => {
  expect(formulaText(builtinProfile('lexical'))).toBe(
    `score = 0.60·lexical + 0.25·recency + 0.15·revision

parts:
  lexical = the signal lexical
  recency = decay(age(updatedAt), half-life 30 d)
  revision = capped(revisionCount, at 10)

only where:
  lexical > 0`,
  );
});

test('parameters are listed with default, range and meaning', () => {
  const text = formulaText(builtinProfile('retention'));
  expect(text).toContain('score = relevance × (retention^alpha)');
  expect(text).toContain('  alpha = 0.30 (0 to 10): How strongly fading counts; 0 turns it off.');
  expect(text).toContain('  curve = exponential (exponential, power): The shape of forgetting.');
  expect(text).toContain('  hybridSearch = false (true or false): ');
  expect(formulaText(builtinProfile('balanced'))).toContain(
    '  recencyHalfLifeDays = 14 (at least 0.000001): ',
  );
});

const read = (score: Expression) =>
  formulaText(defineProfile({ name: 'x', description: 'd', score: { op: 'clamp', of: score } })).split(
    '\n',
  )[0];
const lexical: Expression = { op: 'signal', name: 'lexical' };

test.each<[Expression, string]>([
  [0.5, '0.50'],
  [{ op: 'constant', value: -0.005 }, '-0.005'],
  [
    { op: 'sum', terms: [{ of: lexical }, { weight: -2, of: { op: 'signal', name: 'importance' } }] },
    'lexical − 2·importance',
  ],
  [
    {
      op: 'sum',
      terms: [
        { weight: -1, of: lexical },
        { weight: 0.9, of: 1 },
      ],
    },
    '−lexical + 0.90',
  ],
  [{ op: 'product', of: [{ op: 'sum', terms: [{ of: 1 }, { of: lexical }] }, -2] }, '(1 + lexical) × (-2)'],
  [{ op: 'mean', terms: [{ weight: 2, of: lexical }, { of: 0.5 }] }, 'mean(2·lexical, 0.50)'],
  [{ op: 'power', base: lexical, exponent: { op: 'max', of: [1, 2] } }, 'lexical^max(1, 2)'],
  [
    { op: 'power', base: { op: 'signal', name: 'lexical', missing: 0.1 }, exponent: 2 },
    '(lexical or 0.10)^2',
  ],
  [{ op: 'clamp', of: lexical, max: 0.7 }, 'clamp(lexical, 0 to 0.70)'],
  [
    {
      op: 'decay',
      age: { op: 'age', of: { earliest: ['createdAt', 'validFrom'] } },
      rate: 0.05,
      missing: 0.5,
    },
    'decay(age(earliest of createdAt, validFrom), rate 0.05 a day, unknown 0.50)',
  ],
  [{ op: 'decay', curve: 'power', age: 3, scale: 9, exponent: 1.5 }, 'decay(3, scale 9 d, power 1.50)'],
  [
    { op: 'table', by: 'type', cases: { 'odd\nname': 1 }, otherwise: 0 },
    'table(by type, odd\\u{a}name: 1, otherwise: 0)',
  ],
  [
    { op: 'when', if: { signal: 'lexical', above: 0, atMost: 0.5 }, then: 1, else: 0 },
    '(if lexical > 0 and lexical ≤ 0.50 then 1 else 0)',
  ],
  [
    { op: 'when', if: { attribute: 'type', is: ['fact', 'rule'] }, then: 1, else: 0 },
    '(if type is fact or rule then 1 else 0)',
  ],
])('%j', (expression, text) => {
  expect(read(expression)).toBe(`score = clamp(${text}, 0 to 1)`);
});

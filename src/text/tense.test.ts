import { expect, test } from 'vitest';
import { asksForThePast } from './tense.ts';

test.each([
  ['What was my budget before?', true],
  ['When did the project start?', true],
  ['WERE there two meetings', true],
  ['how long had it taken', true],
  ['What is my budget?', false],
  ['How much do I spend on the candidate, Wasserman?', false],
  ['', false],
])('%s: %s', (query, past) => {
  expect(asksForThePast(query)).toBe(past);
});

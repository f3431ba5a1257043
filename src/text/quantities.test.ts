import { describe, expect, test } from 'vitest';
import { createAnalyzer } from './analyze.ts';
import { mayUpdate, quantitiesOf } from './quantities.ts';

const analyzer = createAnalyzer();
const quantities = (text: string) =>
  Object.fromEntries(
    [...quantitiesOf(text, analyzer)].map(([unit, { all, changed }]) => [unit, [[...all], [...changed]]]),
  );

describe('quantities', () => {
  test.each([
    ['I save $1,200.50, about 12%.', { $: [['1200.50'], []], '%': [['12'], []] }],
    ['The course has 8 weeks and 3 teachers.', { week: [['8'], []], teacher: [['3'], []] }],
    ['The meeting is at 10:30, room 4', { room: [['10:30'], []], '<room': [['4'], []] }],
    // Neither a number nor a stop word is a unit.
    ['version 3 of 5', { '<version': [['3'], []] }],
    ['7 8', {}],
    ['no number at all', {}],
    ['', {}],
  ])('%s', (text, expected) => {
    expect(quantities(text)).toEqual(expected);
  });

  test('a value is changed when its own sentence says so', () => {
    expect(quantities('I run 5 km. Now I run 8 km!\nThe goal is 12 km')).toEqual({
      km: [['5', '8', '12'], ['8']],
    });
    expect(quantities('The deadline moved to March 3, from 12 days to 9')).toMatchObject({
      day: [['12'], ['12']],
    });
    expect(quantities('nowhere near 5 km, newton said')).toEqual({ km: [['5'], []] });
  });

  test('list numbers are not quantities', () => {
    expect(quantities('1. buy 3 apples\n2) eat 2 apples')).toEqual({ appl: [['3', '2'], []] });
  });

  test('an endless number is ignored, and takes no time', () => {
    expect(quantities(`1${'.'.repeat(100_000)}2 weeks and 4 days`)).toEqual({ day: [['4'], []] });
  });
});

describe('a possible update', () => {
  const may = (newer: string, older: string) =>
    mayUpdate(quantitiesOf(newer, analyzer), quantitiesOf(older, analyzer));

  test.each([
    ['My budget is now $600', 'My budget is $500', true],
    ['The team has grown, it is now 12 people', 'We are a team of 10 people', true],
    // Nothing says that something changed.
    ['My budget is $600', 'My budget is $500', false],
    // The change is in another sentence.
    ['I changed my mind. My budget is $600.', 'My budget is $500', false],
    // Another unit.
    ['My budget is now €600', 'My budget is $500', false],
    // The older one has the value already; the newer one repeats the older.
    ['My budget is now $600', 'My budget rose from $500 to $600', false],
    ['My budget is now $600 instead of $500', 'My budget is $500', false],
    ['The price is now lower', 'The price is $5', false],
  ])('%s ← %s: %s', (newer, older, expected) => {
    expect(may(newer, older)).toBe(expected);
  });
});

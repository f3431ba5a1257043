import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAnalyzer } from './analyze.ts';
import { snippet } from './snippet.ts';

const analyzer = createAnalyzer();
const make = (text: string, query: string, maxCharacters?: number) =>
  snippet(text, analyzer.analyze(query), analyzer, { maxCharacters });

const story =
  'We left early in the morning. The train was late, so we had coffee at the station and talked about work. ' +
  'In the afternoon Jane told me that she prefers dark roast from a small roastery in Lisbon, never anything ' +
  'with sugar. Later it rained and we went home without seeing the museum.';

test('a text that fits comes back whole, white space collapsed', () => {
  expect(make('  two\n\nlines\tof text ', 'lines')).toBe('two lines of text');
});

test('the window holds the matching words, cut at whole words', () => {
  expect(make(story, 'dark roast in Lisbon', 60)).toBe(
    '…prefers dark roast from a small roastery in Lisbon, never…',
  );
});

test('stemmed forms match', () => {
  expect(make(story, 'trains', 30)).toContain('train');
  expect(make(story, 'raining', 30)).toContain('rained');
});

test('more distinct terms beat more repetitions', () => {
  const text = `${'coffee coffee coffee '}${'filler '.repeat(30)}coffee in Lisbon ${'filler '.repeat(30)}`;
  expect(make(text, 'coffee Lisbon', 40)).toContain('coffee in Lisbon');
});

test('without a match it is the beginning', () => {
  expect(make(story, 'volcano', 40)).toBe('We left early in the morning. The…');
  expect(make(story, '', 40)).toBe('We left early in the morning. The…');
});

test('default is 160 characters', () => {
  const made = make(story, 'Jane');
  expect(made.length).toBeLessThanOrEqual(160);
  expect(made.length).toBeGreaterThan(140);
});

test('Chinese is cut between words', () => {
  const text = `${'天气很好。'.repeat(20)}他在东京吃寿司。${'天气很好。'.repeat(20)}`;
  const made = make(text, '寿司', 20);
  expect(made).toContain('寿司');
  expect(made.length).toBeLessThanOrEqual(20);
  expect(made.startsWith('…')).toBe(true);
  expect(made.endsWith('…')).toBe(true);
});

test('a word longer than the limit is cut, never inside a surrogate pair', () => {
  expect(make(`see ${'x'.repeat(300)} there`, 'x'.repeat(300), 10)).toBe('…xxxxxxxx…');
  expect(make('😀'.repeat(50), 'smile', 10)).toBe('😀😀😀😀…');
});

test('a word longer than the limit is cut between what a reader sees as characters', () => {
  expect(make('👩‍👩‍👧'.repeat(50), 'smile', 20)).toBe('👩‍👩‍👧👩‍👩‍👧…');
  expect(make('🇩🇪'.repeat(50), 'smile', 12)).toBe('🇩🇪🇩🇪…');
  expect(make(`see ${'e\u0301'.repeat(99)}`, 'e\u0301'.repeat(99), 11)).toBe(`…${'e\u0301'.repeat(4)}…`);
});

test('never longer than the limit, never anything but text and ellipses, and a fitting match is shown', () => {
  const word = fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'epsilon', '東京', 'x', 'omega');
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 60 }),
      fc.integer({ min: 1, max: 80 }),
      (words, maxCharacters) => {
        const text = words.join(' ');
        const made = make(text, 'omega', maxCharacters);
        expect(made.length).toBeLessThanOrEqual(maxCharacters);
        const inner = made.replace(/^…/, '').replace(/…$/, '');
        expect(text).toContain(inner);
        if (maxCharacters >= 7 && words.includes('omega')) expect(inner).toContain('omega');
      },
    ),
  );
});

test('any text, any limit', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.integer({ min: 1, max: 50 }),
      (text, query, limit) => {
        const made = make(text, query, limit);
        expect(made.length).toBeLessThanOrEqual(limit);
        expect(made.isWellFormed()).toBe(true);
      },
    ),
  );
});

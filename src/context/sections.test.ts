import { describe, expect, test } from 'vitest';
import { MEMORY_TYPES } from '../domain/memory.ts';
import { contextTokens } from './budget.ts';
import { BOOTSTRAP, chooseSections, DEFAULT_SECTIONS, PINNED, sectionOf } from './sections.ts';

describe('contextTokens', () => {
  test.each([
    [{ maxTokens: 1234 }, 1234],
    [{ window: 1000 }, 1000 - 500 - 50],
    [{ window: 8192 }, 8192 - 1229 - 410],
    [{ window: 128_000 }, 128_000 - 4096 - 6400],
  ])('%j leaves %i', (budget, tokens) => {
    expect(contextTokens(budget)).toBe(tokens);
  });

  test.each([
    [
      {},
      /^maxTokens: give maxTokens, the most tokens of the context, such as 2000; or window, the tokens of the model$/,
    ],
    [{ maxTokens: 1, window: 1 }, /^maxTokens: give maxTokens or window, not both$/],
    [{ maxTokens: 0 }, /maxTokens/],
    [
      { window: 527 },
      /^window: 527 tokens leave nothing beside the 500 kept for the reply and the 27 kept as a margin/,
    ],
  ])('refuses %j', (budget, message) => {
    expect(() => contextTokens(budget as { maxTokens: number })).toThrow(message);
  });
});

describe('sections', () => {
  test('what is pinned shares its tokens evenly', () => {
    expect(new Set(PINNED.sections.map(({ share }) => share))).toEqual(new Set([1]));
  });

  test('the shares add up to 1.1, and are divided by their sum', () => {
    expect(DEFAULT_SECTIONS.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1.1);
  });

  test.each([
    ['summary', 'summaries'],
    ['profile', 'profile'],
    ['preference', 'profile'],
    ['fact', 'facts'],
    ['event', 'facts'],
    ['transient_state', 'facts'],
    ['something else', 'facts'],
    ['entity', 'entities'],
    ['decision', 'decisions'],
    ['rule', 'decisions'],
    ['feedback', 'corrections'],
    ['learning', 'learnings'],
    ['discovery', 'learnings'],
    ['pattern', 'learnings'],
    ['procedure', 'procedures'],
  ])('%s goes to %s', (type, section) => {
    expect(sectionOf({ type }, DEFAULT_SECTIONS)?.name).toBe(section);
    expect(sectionOf({ type, isAssociative: true }, DEFAULT_SECTIONS)?.name).toBe('related');
  });

  test.each([
    ['bootstrap', BOOTSTRAP, 30_000],
    ['pinned', PINNED, 5000],
  ])('%s has a place for every type, equal shares and its documented size', (_, context, maxTokens) => {
    const { sections } = context;
    expect(context.maxTokens).toBe(maxTokens);
    for (const type of [...MEMORY_TYPES, 'other']) expect(sectionOf({ type }, sections)).toBeDefined();
    expect(chooseSections(sections)).toEqual(sections);
    expect(new Set(sections.map(({ share }) => share)).size).toBe(1);
  });

  test('are chosen by name, or given', () => {
    const news = { name: 'news', types: ['event'], share: 2 };
    const sections = chooseSections(['decisions', news]);
    expect(sections.map(({ name }) => name)).toEqual(['decisions', 'news']);
    expect(sectionOf({ type: 'event' }, sections)).toBe(news);
    expect(sectionOf({ type: 'event', isAssociative: true }, sections)).toBe(news);
    expect(sectionOf({ type: 'fact' }, sections)).toBeUndefined();
  });

  test.each([
    [['rules'], /sections\[0\].*summaries, profile/],
    [['facts', 'facts'], /"facts" is there twice/],
    [[{ name: 'a', types: [], share: 0 }], /sections\[0\]\.share/],
    [[{ types: ['fact'], share: 1 }], /sections\[0\]\.name: expected a string/],
    [['facts', { name: 'a', share: 1 }], /sections\[1\]\.types: expected a list/],
    [[{ name: 'a', types: 'fact', share: 1 }], /sections\[0\]\.types: expected a list/],
    [[{ name: 'a', types: [], takesOthers: 'yes', share: 1 }], /sections\[0\]\.takesOthers/],
    [[{ name: 'a', types: [], takesAssociates: 1, share: 1 }], /sections\[0\]\.takesAssociates/],
    [[{ name: 'a', types: [], share: 1, takesAll: true }], /sections\[0\].*takesAll/],
    [[{ name: 'n'.repeat(201), types: [], share: 1 }], /sections\[0\]\.name/],
    [[{ name: 'a', types: ['t'.repeat(201)], share: 1 }], /sections\[0\]\.types/],
    [[{ name: 'a', types: Array(1001).fill('t'), share: 1 }], /sections\[0\]\.types/],
    [[], /at least one/],
  ])('refuses %j', (chosen, message) => {
    expect(() => chooseSections(chosen as never)).toThrow(message);
  });
});

import { describe, expect, it } from 'vitest';
import { alsoCalled, keysOf, onlyKeys } from './options.ts';

const problem = (value: unknown, known: readonly string[]): string => {
  try {
    onlyKeys(value, known, 'recall');
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
};

it.each([
  ['memory_id', 'id'],
  ['text', 'content'],
  ['containerTag', 'space'],
  ['search_memories', 'recall'],
  ['get_all', 'list'],
])('%s is what other memories call %s', (name, meant) => {
  expect(alsoCalled(name, ['content', 'id', 'list', 'recall', 'space'])).toBe(meant);
});

describe('an unknown option', () => {
  const known = ['minScore', 'limit', 'strategy', 'userId', 'types', 'typesExclude'];

  it.each([
    ['minscore', 'recall: unknown option "minscore" (did you mean "minScore"?)'],
    ['min_score', 'recall: unknown option "min_score" (did you mean "minScore"?)'],
    ['limti', 'recall: unknown option "limti" (did you mean "limit"?)'],
    ['type', 'recall: unknown option "type" (did you mean "types"?)'],
    ['user_id', 'recall: unknown option "user_id" (did you mean "userId"?)'],
    ['topK', 'recall: unknown option "topK" (did you mean "limit"?)'],
    ['top_k', 'recall: unknown option "top_k" (did you mean "limit"?)'],
    ['category', 'recall: unknown option "category" (did you mean "types"?)'],
    ['search', `recall: unknown option "search" (available: ${known.join(', ')})`],
    ['llm', `recall: unknown option "llm" (available: ${known.join(', ')})`],
    ['', `recall: unknown option "" (available: ${known.join(', ')})`],
    ['constructor', `recall: unknown option "constructor" (available: ${known.join(', ')})`],
  ])('%j is named, with the one that was probably meant or all there are', (name, message) => {
    expect(problem({ [name]: 1 }, known)).toBe(message);
  });

  it('is one even if its value is undefined', () => {
    expect(problem({ topK: undefined }, known)).toContain('unknown option "topK"');
  });

  it('may be called __proto__', () => {
    expect(problem(JSON.parse('{"__proto__": {"limit": 1}}'), known)).toContain('unknown option "__proto__"');
  });

  it('is named by the error for programs', () => {
    expect(() => onlyKeys({ topK: 1 }, known, 'recall')).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: { field: 'recall.topK' } }),
    );
  });
});

it.each([null, [], 'text', 3])('%j is no object of options', (value) => {
  expect(problem(value, ['limit'])).toBe('recall: expected an object of options (available: limit)');
});

it('gives the names of a type', () => {
  expect(keysOf<{ readonly a: 1; readonly b?: 2 }>()({ a: true, b: true })).toEqual(['a', 'b']);
});

import { format, inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { compareScores, makeScore, type Score } from './comparable.ts';

const low = makeScore('lexical', 'hash', 0.25);
const high = makeScore('lexical', 'hash', 0.75);

function expectRefused(run: () => unknown, help: RegExp): void {
  try {
    run();
  } catch (error) {
    if (!SalienceError.isInstance(error)) throw error;
    expect(error.code).toBe('incomparable_scores');
    expect(error.message).toMatch(help);
    return;
  }
  expect.unreachable();
}

test('compareScores puts the higher score first', () => {
  expect([low, high, low].sort(compareScores)).toEqual([high, low, low]);
  expect(compareScores(low, makeScore('lexical', 'hash', 0.25))).toBe(0);
});

describe('what the compiler cannot forbid throws, and names compareScores', () => {
  test.each<[string, () => unknown]>([
    ['<', () => low < high],
    ['>', () => low > high],
    ['−', () => (low as unknown as number) - (high as unknown as number)],
    ['Math.max', () => Math.max(low as unknown as number, 1)],
    ['+ 1', () => (low as unknown as number) + 1],
  ])('%s', (_name, run) => expectRefused(run, /compareScores\(a, b\).*score\.value/));
});

test('as text a score is its number', () => {
  expect(`${low}`).toBe('0.25');
  expect(String(high)).toBe('0.75');
  expect(JSON.stringify({ low })).toBe('{"low":0.25}');
});

test('printed, a score is its number and its strategy, on one line', () => {
  expect(inspect(low)).toBe('0.25 (lexical)');
  expect(inspect({ hits: [{ score: high }] })).toBe('{ hits: [ { score: 0.75 (lexical) } ] }');
  expect(format('%s', high)).toBe('0.75');
  expect({ ...low }).toEqual(expect.not.objectContaining({ [inspect.custom]: expect.anything() }));
});

test('scores of one strategy with other parameters do not compare', () => {
  expectRefused(() => compareScores(low, makeScore('lexical', 'another', 0.5)), /made with other parameters/);
});

test('scores of two strategies do not compare even if a cast hides their types', () => {
  const other = makeScore('ambient', 'hash', 0.5) as unknown as Score<'lexical'>;
  expectRefused(() => compareScores(low, other), /a score of lexical cannot be compared with one of ambient/);
  expectRefused(() => [high, other, low].sort(compareScores), /recall once with one strategy/);
});

test('JSON writes the number, toString shows it, and a score cannot be changed', () => {
  expect(JSON.stringify({ score: high })).toBe('{"score":0.75}');
  expect(high.toString()).toBe('0.75');
  expect(() => Object.assign(high, { value: 1 })).toThrow(TypeError);
  expect(high.value).toBe(0.75);
});

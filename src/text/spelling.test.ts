import { expect, test } from 'vitest';
import {
  compareStandIns,
  distanceWithin,
  isSpelt,
  mayBegin,
  mistakesIn,
  unitsOf,
  weightOf,
} from './spelling.ts';

test('how many mistakes a word may hold, by its length', () => {
  expect(['abcd', 'abcde', 'abcdefgh', 'abcdefghi'].map((each) => mistakesIn(each))).toEqual([0, 1, 1, 2]);
  // Numbers and names of versions hold none, however long.
  // Letters are counted as written: those of a stem are fewer.
  expect(mistakesIn('cofe', 'cofee')).toBe(1);
  expect(mistakesIn('abcd', "abcd's")).toBe(0);
  expect(mistakesIn('cof', 'cofing')).toBe(0);
  expect(mistakesIn('strawbri', 'strawbries')).toBe(2);
  expect(['12345', 'v1234', 'abcdefgh-i'].map((each) => mistakesIn(each))).toEqual([0, 0, 0]);
});

test('a word of four letters may be the beginning of another', () => {
  expect(['abc', 'abcd', 'abc1', 'naïv'].map(mayBegin)).toEqual([false, true, false, true]);
});

test('two Korean syllables or one Chinese character may be the beginning of another word, but hold no mistake', () => {
  expect(['커피', '커', '猫', '𠮷', '食べ'].map(mayBegin)).toEqual([true, false, true, true, true]);
  expect(['ネコ', 'です', '猫7', 'кот', 'แมว'].map(mayBegin)).toEqual([false, false, false, false, false]);
  expect(['커피', '猫'].map((each) => mistakesIn(each, '커피를마셔요'))).toEqual([0, 0]);
});

test('a word is letters and their marks, and nothing else', () => {
  expect(['a', 'é', 'e\u0301', '東'].every(isSpelt)).toBe(true);
  expect(['', '1', 'a1', 'a b', 'a-b'].some(isSpelt)).toBe(false);
});

test('a misspelt word counts by half, a beginning by a quarter', () => {
  expect(weightOf({ term: 'a', distance: 1 })).toBe(0.5);
  expect(weightOf({ term: 'a', distance: 2 })).toBe(0.5);
  expect(weightOf({ term: 'a', distance: undefined })).toBe(0.25);
});

test('the nearest come first, beginnings last, then the frequent, then by code units', () => {
  const standIn = (term: string, distance: number | undefined, frequency: number) => ({
    term,
    distance,
    frequency,
  });
  const sorted = [
    standIn('near', 1, 1),
    standIn('frequent', 2, 5),
    standIn('a', 2, 3),
    standIn('b', 2, 3),
    standIn('begun', undefined, 9),
    standIn('rarely begun', undefined, 2),
  ];
  for (const [at, a] of sorted.entries()) {
    for (const [other, b] of sorted.entries()) {
      expect(Math.sign(compareStandIns(a, b)), `${a.term} and ${b.term}`).toBe(Math.sign(at - other));
    }
  }
});

test('two letters exchanged are one mistake, at the beginning and at the end too', () => {
  for (const word of ['ypthon', 'pyhton', 'pythno']) {
    expect(distanceWithin(unitsOf(word), unitsOf('python'), 2)).toBe(1);
    expect(distanceWithin(unitsOf('python'), unitsOf(word), 2)).toBe(1);
  }
});

test('distances within a list of other letters, and beyond the room that is kept', () => {
  const units = unitsOf('xxpythonxx').units;
  const inner = { units, start: 2, length: 6 };
  expect(distanceWithin(inner, unitsOf('pyhton'), 2)).toBe(1);
  expect(distanceWithin(unitsOf('pyhton'), inner, 2)).toBe(1);
  expect(distanceWithin(inner, unitsOf('pythons'), 2)).toBe(1);
  // An exchange looks no further back than the word begins.
  expect(distanceWithin({ units: unitsOf('ba').units, start: 1, length: 1 }, unitsOf('ab'), 2)).toBe(1);
  for (const length of [158, 159, 160, 161, 400]) {
    const long = 'ab'.repeat(length).slice(0, length);
    expect(distanceWithin(unitsOf(long), unitsOf(long), 2)).toBe(0);
    expect(distanceWithin(unitsOf(long), unitsOf(`${long.slice(0, -2)}cc`), 2)).toBe(2);
    expect(distanceWithin(unitsOf(long), unitsOf(`c${long}`), 2)).toBe(1);
    expect(distanceWithin(unitsOf(`c${long}`), unitsOf(long), 2)).toBe(1);
  }
});

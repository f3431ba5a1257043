import { expectTypeOf, test } from 'vitest';
import { compareScores, makeScore, type Score } from './comparable.ts';

declare const lexical: Score<'lexical'>;
declare const anotherLexical: Score<'lexical'>;
declare const ambient: Score<'ambient'>;

test('operators do not compare scores of two strategies', () => {
  // @ts-expect-error
  void (lexical < ambient);
  // @ts-expect-error
  void (lexical > ambient);
  // @ts-expect-error
  void (lexical <= ambient);
  // @ts-expect-error
  void (lexical >= ambient);
  // @ts-expect-error
  void (lexical - ambient);
  // @ts-expect-error
  void (lexical === ambient);
});

test('nor a score with a number, nor do they calculate with scores', () => {
  // @ts-expect-error
  void (lexical < 0.5);
  // @ts-expect-error
  void (lexical - anotherLexical);
  // @ts-expect-error
  void Math.max(lexical, anotherLexical);
});

test('compareScores takes scores of one strategy', () => {
  expectTypeOf(compareScores(lexical, anotherLexical)).toEqualTypeOf<number>();
  [lexical, anotherLexical].sort(compareScores);
  [lexical].toSorted(compareScores);
  // @ts-expect-error
  compareScores(lexical, ambient);
  // @ts-expect-error
  compareScores<'lexical' | 'ambient'>(lexical, ambient);
  // @ts-expect-error
  compareScores<string>(lexical, ambient);
});

test('a mixed list cannot be sorted by compareScores', () => {
  const mixed = [lexical, ambient];
  // @ts-expect-error
  mixed.sort(compareScores);
  // @ts-expect-error
  mixed.toSorted((a, b) => compareScores(a, b));
  const hits: readonly { readonly score: Score<'lexical'> | Score<'ambient'> }[] = [];
  // @ts-expect-error
  hits.toSorted((a, b) => compareScores(a.score, b.score));
});

test('a score of one strategy is not a score of several', () => {
  expectTypeOf<Score<'lexical'>>().not.toExtend<Score<'lexical' | 'ambient'>>();
  expectTypeOf<Score<'lexical'>>().not.toExtend<Score<string>>();
  expectTypeOf<Score<string>>().not.toExtend<Score<'lexical'>>();
  expectTypeOf<Score<'lexical' | 'ambient'>>().not.toExtend<Score<'lexical'>>();
  // @ts-expect-error
  void (lexical satisfies Score<string>);
  // @ts-expect-error
  void (lexical satisfies Score<'lexical' | 'ambient'>);
});

test('what belongs together goes together', () => {
  expectTypeOf(makeScore('lexical', 'hash', 0.5)).toEqualTypeOf<Score<'lexical'>>();
  expectTypeOf<Score<'lexical'>>().toExtend<Score<'lexical'> | Score<'ambient'>>();
  expectTypeOf(lexical.value).toEqualTypeOf<number>();
  const sorted = <Strategy extends string>(scores: readonly Score<Strategy>[]) =>
    scores.toSorted(compareScores);
  expectTypeOf(sorted([lexical, anotherLexical])).toEqualTypeOf<Score<'lexical'>[]>();
});

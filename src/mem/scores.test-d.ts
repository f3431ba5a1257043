import { test } from 'vitest';
import { compareScores } from '../index.ts';
import type { ContextMemory, SearchResult } from './index.ts';

declare const found: SearchResult[];
declare const known: ContextMemory[];

test('what a search found is not sorted together with what a session begins with', () => {
  found.toSorted((a, b) => compareScores(a.score, b.score));
  known.toSorted((a, b) => compareScores(a.score, b.score));
  // @ts-expect-error
  [...found, ...known].sort((a, b) => compareScores(a.score, b.score));
  // @ts-expect-error
  void (found.map(({ score }) => score)[0] < known.map(({ score }) => score)[0]);
});

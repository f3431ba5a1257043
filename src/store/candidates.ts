import { namesOfCondition } from '../scoring/condition.ts';
import type { ResolvedProfile } from '../scoring/profile.ts';
import type { SearchAnswer } from './store.ts';

/** Whether the candidates of an answer are an upper bound: some of them were not looked at, and may fail a condition. */
export function areAtMost(
  { candidates, scored }: Pick<SearchAnswer, 'candidates' | 'scored'>,
  { floor, require }: Pick<ResolvedProfile, 'floor' | 'require'>,
): boolean {
  if (scored >= candidates) return false;
  return floor !== undefined || require.some((each) => namesOfCondition(each).includes('similarity'));
}

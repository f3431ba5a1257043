import { namesOfCondition } from '../scoring/condition.ts';
import type { ResolvedProfile } from '../scoring/profile.ts';
import type { SearchAnswer } from './store.ts';

/** Whether `candidates` of an answer is only an upper bound, because some were not scored and may fail a requirement. */
export function areAtMost(
  { candidates, scored }: Pick<SearchAnswer, 'candidates' | 'scored'>,
  { floor, require }: Pick<ResolvedProfile, 'floor' | 'require'>,
): boolean {
  if (scored >= candidates) return false;
  return floor !== undefined || require.some((each) => namesOfCondition(each).includes('similarity'));
}

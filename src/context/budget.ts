import { invalidArgument, wholeNumber } from '../domain/check.ts';
import type { SalienceError } from '../domain/errors.ts';

/** The size limit of a context: a number of tokens, or the model's whole window, part of which is reserved. */
export type ContextBudget =
  | { readonly maxTokens: number; readonly window?: undefined }
  | { readonly window: number; readonly maxTokens?: undefined };

/** More than the window of any model. */
const MOST_TOKENS = 1_000_000_000;

/**
 * Reserved in a window: 15 % for the reply, but 500 to 4,096 tokens, and 5 % for tokens that the counter does not see.
 */
const REPLY = { share: 0.15, least: 500, most: 4096 };
const SAFETY_SHARE = 0.05;

export function missingBudget(): SalienceError {
  return invalidArgument(
    'maxTokens',
    'give maxTokens, the most tokens of the context, such as 2000; or window, the tokens of the model',
  );
}

/**
 * Returns how many tokens a context may have. `maxTokens` is used as given. From `window`, the reply and a margin are
 * subtracted, both rounded up.
 *
 * Throws `invalid_argument` if neither or both are given, or if the reply and the margin leave no room in the window.
 */
export function contextTokens({ maxTokens, window }: ContextBudget): number {
  if (maxTokens === undefined && window === undefined) throw missingBudget();
  if (maxTokens !== undefined && window !== undefined) {
    throw invalidArgument('maxTokens', 'give maxTokens or window, not both');
  }
  if (maxTokens !== undefined) return wholeNumber(maxTokens, 'maxTokens', 1, MOST_TOKENS);
  const whole = wholeNumber(window, 'window', 1, MOST_TOKENS);
  const reply = Math.min(REPLY.most, Math.max(REPLY.least, Math.ceil(REPLY.share * whole)));
  const margin = Math.ceil(SAFETY_SHARE * whole);
  const left = whole - reply - margin;
  if (left >= 1) return left;
  throw invalidArgument(
    'window',
    `${whole} tokens leave nothing beside the ${reply} kept for the reply and the ${margin} kept as a margin; give maxTokens`,
  );
}

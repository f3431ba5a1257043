import { invalidArgument, wholeNumber } from '../domain/check.ts';
import type { SalienceError } from '../domain/errors.ts';

/** How much a context may take: a number of tokens, or the model's whole window, of which a part is kept back. */
export type ContextBudget =
  | { readonly maxTokens: number; readonly window?: undefined }
  | { readonly window: number; readonly maxTokens?: undefined };

/** More than any model reads. */
const MOST_TOKENS = 1_000_000_000;

/** Of a window: 15 % for the reply, within 500 and 4,096 tokens, and 5 % for what the counter does not see. */
const REPLY = { share: 0.15, least: 500, most: 4096 };
const SAFETY_SHARE = 0.05;

export function missingBudget(): SalienceError {
  return invalidArgument(
    'maxTokens',
    'give either maxTokens or window, not both, for example context(query, { maxTokens: 2000 })',
  );
}

/**
 * The tokens that a context may have. `maxTokens` is taken as it is; of a `window` the reply's part and a margin are
 * kept back, rounded up.
 *
 * Throws `invalid_argument` when neither or both are given, or the window has no room beside the reply.
 */
export function contextTokens({ maxTokens, window }: ContextBudget): number {
  if ((maxTokens === undefined) === (window === undefined)) {
    throw missingBudget();
  }
  if (maxTokens !== undefined) return wholeNumber(maxTokens, 'maxTokens', 1, MOST_TOKENS);
  const whole = wholeNumber(window, 'window', 1, MOST_TOKENS);
  const reply = Math.min(REPLY.most, Math.max(REPLY.least, Math.ceil(REPLY.share * whole)));
  const left = whole - reply - Math.ceil(SAFETY_SHARE * whole);
  if (left >= 1) return left;
  throw invalidArgument(
    'window',
    `${whole} tokens leave nothing beside the ${reply} kept for the reply; give maxTokens`,
  );
}

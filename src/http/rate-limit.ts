import { LONGEST_BATCH } from '../domain/arguments.ts';
import type { Clock, Instant } from '../domain/time.ts';

export interface RateLimit {
  /** Requests at once; they come back evenly over a minute. */
  readonly requestsPerMinute: number;
}

/**
 * Seconds to wait before the next request of this token, or `undefined`: it may go on. What came in already, and turns out to be so
 * many requests `more`, is counted all the same: those that follow wait for it.
 */
export type RateLimiter = (token: string, more?: number) => number | undefined;

/**
 * A token bucket for each token: full at first, refilled evenly. It holds as many buckets as there are tokens that
 * were used, and strangers have none.
 */
export function createRateLimiter({ requestsPerMinute }: RateLimit, clock: Clock): RateLimiter {
  const buckets = new Map<string, { left: number; at: Instant }>();
  // A longer batch is refused as a whole, and must not lock its token out for hours.
  const mostOwed = Math.max(requestsPerMinute, LONGEST_BATCH);
  const perMillisecond = requestsPerMinute / 60_000;
  return (token, more) => {
    const now = clock();
    const bucket = buckets.get(token) ?? { left: requestsPerMinute, at: now };
    // A clock that was set back must not lock anybody out.
    const refilled = Math.min(requestsPerMinute, bucket.left + Math.max(0, now - bucket.at) * perMillisecond);
    const allowed = more !== undefined || refilled >= 1;
    buckets.set(token, { left: allowed ? Math.max(refilled - (more ?? 1), -mostOwed) : refilled, at: now });
    return allowed ? undefined : Math.ceil((1 - refilled) / perMillisecond / 1000);
  };
}

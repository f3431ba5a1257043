import { LONGEST_BATCH } from '../domain/arguments.ts';
import type { Clock, Instant } from '../domain/time.ts';

export interface RateLimit {
  /** Size of the bucket, and how many requests are refilled per minute. */
  readonly requestsPerMinute: number;
}

/**
 * Returns the seconds to wait before the next request of this token, or `undefined` if it may proceed. With `more`,
 * counts that many further requests without refusing them; later requests wait for them.
 */
export type RateLimiter = (token: string, more?: number) => number | undefined;

/**
 * Creates one token bucket per API token, full at first and refilled evenly. Only authenticated tokens get a bucket, so
 * their number is bounded.
 */
export function createRateLimiter({ requestsPerMinute }: RateLimit, clock: Clock): RateLimiter {
  const buckets = new Map<string, { left: number; at: Instant }>();
  // A longer batch is refused as a whole, and must not lock its token out for hours.
  const mostOwed = Math.max(requestsPerMinute, LONGEST_BATCH);
  const perMillisecond = requestsPerMinute / 60_000;
  return (token, more) => {
    const now = clock();
    const bucket = buckets.get(token) ?? { left: requestsPerMinute, at: now };
    // A clock that was set back must not lock a token out.
    const refilled = Math.min(requestsPerMinute, bucket.left + Math.max(0, now - bucket.at) * perMillisecond);
    const allowed = more !== undefined || refilled >= 1;
    buckets.set(token, { left: allowed ? Math.max(refilled - (more ?? 1), -mostOwed) : refilled, at: now });
    return allowed ? undefined : Math.ceil((1 - refilled) / perMillisecond / 1000);
  };
}

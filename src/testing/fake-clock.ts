import type { Clock, Instant } from '../domain/time.ts';

/** A clock that stands still until it is told otherwise. */
export interface FakeClock {
  readonly now: Clock;
  set(at: Instant): void;
  /** Moves on by so many milliseconds; backwards if negative. */
  advance(milliseconds: number): void;
}

/**
 * Default start is 2026-01-01T00:00:00Z.
 *
 * @example
 * ```ts
 * import { createFakeClock } from 'salience/testing';
 * const clock = createFakeClock(Date.parse('2026-04-20T09:00:00Z'));
 * await using memory = await openMemory({ path: ':memory:', space: 'test', clock: clock.now });
 * clock.advance(7 * 86_400_000); // a week later
 * ```
 */
export function createFakeClock(start: Instant = Date.UTC(2026, 0, 1)): FakeClock {
  let at = start;
  return {
    now: () => at,
    set(instant) {
      at = instant;
    },
    advance(milliseconds) {
      at += milliseconds;
    },
  };
}

import type { Clock, Instant } from '../domain/time.ts';

/** A clock that moves only when it is told to. */
export interface FakeClock {
  readonly now: Clock;
  set(at: Instant): void;
  /** Moves the clock forwards by `milliseconds`, or backwards if negative. */
  advance(milliseconds: number): void;
}

/**
 * Creates a clock that starts at the given time. Default start is 2026-01-01T00:00:00Z.
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

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ago } from '../../web/parts/time.ts';

const NOW = Date.UTC(2026, 5, 15);
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it.each([
  [0, 'now'],
  [59, 'now'],
  [59.6, '1 min. ago'],
  [59.4 * MINUTE, '59 min. ago'],
  [59.6 * MINUTE, '1 hr. ago'],
  [23.4 * HOUR, '23 hr. ago'],
  [23.6 * HOUR, 'yesterday'],
  [30.3 * DAY, '30 days ago'],
  [31 * DAY, 'last mo.'],
  [345 * DAY, '11 mo. ago'],
  [360 * DAY, 'last yr.'],
  [-59.6 * MINUTE, 'in 1 hr.'],
])('says of %d seconds ago: %s', (seconds, said) => {
  expect(ago(new Date(NOW - seconds * 1000).toISOString())).toBe(said);
});

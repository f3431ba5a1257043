import type { Instant } from '../domain/time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats how long ago something was, in the unit that people would use: `now`, `5 min`, `3 d`, `2 y`. */
export function formatAge(at: Instant, now: Instant): string {
  const age = Math.max(0, now - at);
  if (age < MINUTE) return 'now';
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min`;
  if (age < 2 * DAY) return `${Math.floor(age / HOUR)} h`;
  if (age < 60 * DAY) return `${Math.floor(age / DAY)} d`;
  if (age < 730 * DAY) return `${Math.floor(age / (30.44 * DAY))} mo`;
  return `${Math.floor(age / (365.25 * DAY))} y`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KiB`;
  if (bytes < 1024 ** 3) return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

/** Formats a whole number with commas: `12,345`. The first call of `toLocaleString` would take 15 ms. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 memory`, `2 memories`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

export function formatSeconds(seconds: number): string {
  if (seconds < 90) return `${Math.max(0, Math.ceil(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTimeToLive } from './duration.ts';
import { formatInstant, parseInstant } from './time.ts';

const from = parseInstant('2026-01-31T12:00:00Z');
const until = (ttl: string, at: string = formatInstant(from)) =>
  formatInstant(parseTimeToLive(ttl, parseInstant(at)));

describe('a time to live', () => {
  it.each([
    ['90s', '2026-01-31T12:01:30.000Z'],
    ['90m', '2026-01-31T13:30:00.000Z'],
    ['24h', '2026-02-01T12:00:00.000Z'],
    ['7d', '2026-02-07T12:00:00.000Z'],
    ['2W', '2026-02-14T12:00:00.000Z'],
    [' 1.5 h ', '2026-01-31T13:30:00.000Z'],
    ['P7D', '2026-02-07T12:00:00.000Z'],
    ['p2w', '2026-02-14T12:00:00.000Z'],
    ['PT90M', '2026-01-31T13:30:00.000Z'],
    ['P1Y2M10DT2H', '2027-04-10T14:00:00.000Z'],
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T01:00:00+01:00', '2026-03-01T00:00:00.000Z'],
  ])('%j ends at %s', (ttl, end) => {
    expect(until(ttl)).toBe(end);
  });

  it('may be a date', () => {
    expect(parseTimeToLive(new Date(from + 1), from)).toBe(from + 1);
  });

  it('counts months and years by the calendar, to the last day where a month is shorter', () => {
    expect(until('P1M')).toBe('2026-02-28T12:00:00.000Z');
    expect(until('P1M1D')).toBe('2026-03-01T12:00:00.000Z');
    expect(until('P25M')).toBe('2028-02-29T12:00:00.000Z');
    expect(until('P1Y', '2028-02-29')).toBe('2029-02-28T00:00:00.000Z');
    expect(until('P4Y', '2028-02-29')).toBe('2032-02-29T00:00:00.000Z');
    expect(until('P12M', '2026-12-31')).toBe('2027-12-31T00:00:00.000Z');
  });

  it.each([
    '',
    'soon',
    'd',
    '-1d',
    '1 month',
    '1y',
    '1e3d',
    'P',
    'PT',
    'P1DT',
    'P1H',
    'P-1D',
    'P1.5D',
    '7 d ays',
    '2026-02-30',
  ])('%j is none, and the error says what is', (ttl) => {
    expect(() => parseTimeToLive(ttl, from)).toThrow(
      /^ttl: .* is not a duration; write "7d", "24h", ISO 8601/,
    );
  });

  it.each(['0d', 'P0D', 'PT0S', '2026-01-31', '2026-01-31T12:00:00Z', '99999999999w', 'P999999Y', '0.0001s'])(
    '%j ends before it begins, or never',
    (ttl) => {
      expect(() => parseTimeToLive(ttl, from, 'validUntil')).toThrow(
        expect.objectContaining({ code: 'invalid_argument', details: { field: 'validUntil' } }),
      );
    },
  );

  it('ends within the years that there are', () => {
    expect(parseTimeToLive('9999-12-31T23:59:59.999Z', from)).toBe(Date.parse('9999-12-31T23:59:59.999Z'));
    for (const ttl of ['100000000d', '9999999d', 'P8000Y', 'P999999Y', `${'9'.repeat(400)}s`])
      expect(() => parseTimeToLive(ttl, from)).toThrow(
        'ttl: it would end after the year 9999; leave it out for what never ends',
      );
  });

  it('is later the longer it is, whatever the start and the unit', () => {
    const starts = fc.date({ min: new Date('1970-01-01'), max: new Date('2200-01-01'), noInvalidDate: true });
    const milliseconds = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
    const unit = fc.constantFrom('s', 'm', 'h', 'd', 'w');
    fc.assert(
      fc.property(starts, fc.integer({ min: 1, max: 5000 }), unit, (date, count, each) => {
        const start = date.getTime();
        expect(parseTimeToLive(`${count}${each}`, start)).toBe(start + count * milliseconds[each]);
      }),
    );
    fc.assert(
      fc.property(starts, fc.integer({ min: 1, max: 600 }), (date, months) => {
        const start = date.getTime();
        const end = parseTimeToLive(`P${months}M`, start);
        expect(end).toBeGreaterThan(start);
        expect(parseTimeToLive(`P${months + 1}M`, start)).toBeGreaterThan(end);
        const [a, b] = [new Date(start), new Date(end)];
        const monthsBetween =
          (b.getUTCFullYear() - a.getUTCFullYear()) * 12 + b.getUTCMonth() - a.getUTCMonth();
        expect(monthsBetween).toBe(months);
        expect(end % 86_400_000).toBe(start % 86_400_000);
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { checkedClock, formatInstant, parseInstant } from './time.ts';

describe('a time', () => {
  it.each([
    ['0000-01-01', '0000-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0050-06-01', '0050-06-01T00:00:00.000Z'],
    ['0096-02-29', '0096-02-29T00:00:00.000Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
    ['2026-03-01T01:00:00+01:00', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T01:00-23:59', '2026-03-02T00:59:00.000Z'],
    ['9999-12-31T23:59:59.9999Z', '9999-12-31T23:59:59.999Z'],
  ])('%j is %s', (text, at) => {
    expect(formatInstant(parseInstant(text))).toBe(at);
    expect(parseInstant(formatInstant(parseInstant(text)))).toBe(parseInstant(text));
  });

  it.each([
    '0099-02-29',
    '2026-02-29',
    '2026-01-01T00:00+24:00',
    '2026-01-01T00:00+00:60',
    '2026-01-01T00:00+99:99',
  ])('%j is none', (text) => {
    expect(() => parseInstant(text, 'at')).toThrow(/^at: "[^"]*" is not a time; write ISO 8601/);
  });

  it.each(['0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01', new Date(8.64e15), new Date(-8.64e15)])(
    '%s is outside the years that there are',
    (value) => {
      expect(() => parseInstant(value)).toThrow(
        expect.objectContaining({
          code: 'invalid_time',
          message: expect.stringMatching(/^time: ".*" is not within the years 0 to 9999$/),
        }),
      );
    },
  );
});

describe('a clock', () => {
  it.each([0, -1, Date.parse('9999-12-31T23:59:59.999Z')])('may say %s', (at) => {
    expect(checkedClock(() => at)()).toBe(at);
  });

  it.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 8.64e15, '2026', undefined])('may not say %s', (at) => {
    expect(checkedClock(() => at as number)).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        message: `clock: returned ${at}; expected whole milliseconds since 1970, within the years 0 to 9999`,
      }),
    );
  });

  it('is named when it fails', () => {
    const cause = new Error('no battery');
    const clock = () => {
      throw cause;
    };
    expect(checkedClock(clock)).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        message: 'clock: it failed: no battery',
        details: { field: 'clock' },
        cause,
      }),
    );
  });
});

import { expect, test } from 'vitest';
import { readEnglishDates } from './dates.ts';
import { formatDateRange } from './shown.ts';

const shown = async (text: string, timeZone: string) => {
  const [range] = await readEnglishDates(text, { now: Date.UTC(2026, 5, 10, 12), timeZone });
  const [from = '', to = ''] = [range!.start, range!.end].map((at) => new Date(at).toISOString());
  return formatDateRange({ from, to });
};

test.each([
  ['in May', 'UTC', '2026-05-01 to before 2026-06-01'],
  ['in May', 'Europe/Berlin', '2026-04-30T22:00Z to before 2026-05-31T22:00Z'],
  ['before May', 'UTC', 'before 2026-05-01'],
  ['before May', 'Pacific/Kiritimati', 'before 2026-04-30T10:00Z'],
  ['before May', 'Pacific/Pago_Pago', 'before 2026-05-01T11:00Z'],
])('%s in %s: %s', async (text, timeZone, expected) => {
  expect(await shown(text, timeZone)).toBe(expected);
});

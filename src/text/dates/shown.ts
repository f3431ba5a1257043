/** What a range without a begin starts before, in every time zone. */
const FIRST_DAY_ENDS = '0001-01-02';

/**
 * Formats a date of a trace: "2026-05-01 to before 2026-06-01". A moment that is not midnight in UTC has its time too, as
 * days of other time zones do.
 */
export function formatDateRange({ from, to }: { readonly from: string; readonly to: string }): string {
  const end = `before ${formatMoment(to)}`;
  return from < FIRST_DAY_ENDS ? end : `${formatMoment(from)} to ${end}`;
}

function formatMoment(iso: string): string {
  return iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : `${iso.slice(0, 16)}Z`;
}

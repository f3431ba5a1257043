const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365.25 * 86_400],
  ['month', 30.44 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** "3 days ago". */
export function ago(instant: string): string {
  const seconds = (Date.parse(instant) - Date.now()) / 1000;
  const [unit, length] =
    UNITS.find(([, each], index) => {
      // A value that rounds up to a whole larger unit uses that unit: "1 hour", never "60 minutes".
      const smaller = UNITS[index + 1]?.[1] ?? 1;
      return Math.round(Math.abs(seconds) / smaller) * smaller >= each;
    }) ?? (['second', 1] as const);
  return unit === 'second' ? 'now' : relative.format(Math.round(seconds / length), unit);
}

/** "2026-11-23 07:25", in the time of the reader. */
export function moment(instant: string): string {
  const at = new Date(instant);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

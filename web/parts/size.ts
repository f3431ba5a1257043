const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Formats bytes for people, such as `4.2 MiB`. */
export function sizeOf(bytes: number): string {
  if (bytes === 0) return 'in memory';
  let size = bytes / 1024;
  let unit = 0;
  while (size >= 1000 && unit < UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.ceil(size).toLocaleString('en')} ${UNITS[unit]}`;
}

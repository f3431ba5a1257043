const dots = /^~*\.{1,2}$/;

/**
 * A value as a segment of a URL's path. However they are written, a URL takes `.` for "here" and `..` for "above": they
 * get a `~` in front, and so does whatever would be mistaken for them then, such as `~.`.
 */
export function toPathSegment(value: string): string {
  return encodeURIComponent(dots.test(value) ? `~${value}` : value);
}

/** The value of a segment that has been percent-decoded. */
export function fromPathSegment(segment: string): string {
  return segment.startsWith('~') && dots.test(segment) ? segment.slice(1) : segment;
}

const dots = /^~*\.{1,2}$/;

/**
 * Encodes a value as a segment of a URL path. URLs resolve `.` and `..` even if they are percent-encoded, so these get the
 * prefix `~`, and so does a value such as `~.`, which would otherwise decode to `.`.
 */
export function toPathSegment(value: string): string {
  return encodeURIComponent(dots.test(value) ? `~${value}` : value);
}

/** Decodes a segment that is already percent-decoded. */
export function fromPathSegment(segment: string): string {
  return segment.startsWith('~') && dots.test(segment) ? segment.slice(1) : segment;
}

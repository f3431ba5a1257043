import { clip } from './clip.ts';

/** The maximum length of a query in UTF-16 units. Every word costs time, during which other callers of a server wait. */
export const LONGEST_QUERY = 32_768;

/** The message for a query that is too long; `length` is in UTF-16 units. */
export function longQuery(length: number): string {
  return `${length} characters are too many for a query; at most ${LONGEST_QUERY} are allowed. Ask with the part that matters`;
}

/** Shortens a text of any length to the maximum length of a query. */
export function asQuery(text: string): string {
  return clip(text, LONGEST_QUERY, '');
}

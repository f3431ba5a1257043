import { clip } from './clip.ts';

/** UTF-16 units. A query costs time with each of its words, and whoever waits for the server waits for it. */
export const LONGEST_QUERY = 32_768;

/** What is wrong with a query of so many UTF-16 units. */
export function longQuery(length: number): string {
  return `${length} characters are too many for a query; at most ${LONGEST_QUERY} are allowed. Ask with the part that matters`;
}

/** A text of any length as a query: as much of its beginning as a query may have. */
export function asQuery(text: string): string {
  return clip(text, LONGEST_QUERY, '');
}

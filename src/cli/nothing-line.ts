import type { Nothing } from '../index.ts';

/** That nothing was found, why, and what to do. */
export function nothingLine({ reason, message }: Nothing): string {
  return reason === 'irrelevant' ? `${message}. --min-relevance 0 shows the best of them` : message;
}

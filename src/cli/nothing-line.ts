import type { Nothing } from '../index.ts';

/** That nothing was found, why, and what to do; warnings that follow name what was not searched. */
export function nothingLine({ reason, message }: Nothing): string {
  if (reason === 'unsearched') return 'could not search everything, and found nothing:';
  return reason === 'irrelevant' ? `${message}. --min-relevance 0 shows the best of them` : message;
}

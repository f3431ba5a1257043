import type { Nothing } from '../index.ts';
import { plainLine } from './terminal-text.ts';

/** Says that nothing was found, why, and what to do. */
export function nothingLine({ reason, message }: Nothing): string {
  const line = plainLine(message)
    .replace(/\bbelow minScore\b/, 'below --min-score')
    .replace(/\bwhich exceptSession\b/, 'which --except-session');
  return reason === 'irrelevant' ? `${line}. --min-relevance 0 shows the best of them` : line;
}

import type { ModelUsage } from '../index.ts';
import { formatCount, plural } from './units.ts';

/** What a language model was asked. */
export function usageText({ calls, promptTokens, completionTokens }: ModelUsage): string {
  return `${plural(calls, 'call')}, ${formatCount(promptTokens)} + ${formatCount(completionTokens)} tokens`;
}

import type { ModelUsage } from '../index.ts';
import { formatCount, plural } from './units.ts';

/** Formats the usage of a language model. */
export function usageText({ calls, promptTokens, completionTokens }: ModelUsage): string {
  return `${plural(calls, 'call')}, ${formatCount(promptTokens)} + ${formatCount(completionTokens)} tokens`;
}

/** Formats the failures of a language model, each reason once: a server that is down fails on every question. */
export function failureTexts(failures: readonly string[]): readonly string[] {
  return [...new Set(failures)].map((reason) => {
    const times = failures.filter((each) => each === reason).length;
    return `the language model failed${times > 1 ? ` ${formatCount(times)} times` : ''}: ${reason}`;
  });
}

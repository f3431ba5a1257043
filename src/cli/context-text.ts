import type { Context as BuiltContext } from '../index.ts';
import { missingArms } from './hits-text.ts';
import { redactedLines } from './look-back.ts';
import { nothingLine } from './nothing-line.ts';
import { plainBlock, plainLine } from './terminal-text.ts';
import { plural } from './units.ts';

/**
 * Formats a built context, its counts, and what could not be searched. With `why`, also the reason for each memory that
 * was left out.
 */
export function contextText(
  built: Pick<BuiltContext, 'text' | 'omitted' | 'nothing' | 'tokens' | 'maxTokens' | 'trace'> & {
    readonly items: readonly unknown[];
  },
  why: boolean | undefined,
): string {
  const leftOut = built.omitted.map(({ id, message }) => plainLine(`${id}: ${message}`));
  return [
    plainBlock(built.text === '' ? emptyText(built) : built.text.trimEnd()),
    '',
    `${plural(built.items.length, 'memory', 'memories')}, ${built.tokens} of ${built.maxTokens} tokens, ${leftOut.length} left out`,
    ...(why ? leftOut : []),
    ...missingArms(built),
    ...redactedLines(built.trace.asOf?.redacted),
  ].join('\n');
}

function emptyText({
  nothing,
  omitted,
  maxTokens,
}: Pick<BuiltContext, 'nothing' | 'omitted' | 'maxTokens'>): string {
  if (nothing) return nothingLine(nothing);
  return omitted.some(({ reason }) => reason === 'does-not-fit')
    ? `none of the memories found fits into ${maxTokens} tokens; raise --max-tokens`
    : 'nothing found';
}

import type { Command } from 'commander';
import { throwIfAborted } from '../../domain/errors.ts';
import type { Memory, MemoryPage } from '../../index.ts';
import { action } from '../context.ts';
import { type LookBackFlags, redactedLines, viewedFrom } from '../look-back.ts';
import { formatMemories } from '../memory-text.ts';
import { openToRead } from '../open.ts';
import { plainLine } from '../terminal-text.ts';
import { formatCount } from '../units.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

interface Options extends LookBackFlags {
  readonly limit?: number | undefined;
  readonly all?: boolean | undefined;
}

export const examples = [
  'salience list --type preference --limit 5',
  'salience list --sort accessed --direction asc --tier hot',
  'salience list --tag coffee --all --json',
  'salience list --where "priority>=3" --where open=true',
] as const;

/** Formats the place in the list, such as `1–20 of 1,340`. Empty if everything is shown. */
function placeLines(
  { position, total }: Pick<MemoryPage, 'position' | 'total'>,
  shown: number,
): readonly string[] {
  if (position === undefined || total === undefined || shown === total) return [];
  const [first, last, all] = [position + 1, position + shown, total].map(formatCount);
  return [shown === 0 ? `none here: ${all} before` : `${first}–${last} of ${all}`];
}

export function configure(command: Command): void {
  addVerbOptions(command, 'list')
    .option('--all', 'every page')
    .action(
      action<Options, []>(async (context) => {
        const { options, columns } = context;
        await using memory = await openToRead(context);
        const memories: Memory[] = [];
        const limit = options.limit ?? (options.all ? 1000 : undefined);
        let page = await memory.list({ ...argumentsOf('list', options), limit });
        // Position and total come from the first page.
        const { memories: _, nextCursor: __, ...first } = page;
        memories.push(...page.memories);
        while (options.all && page.nextCursor !== undefined) {
          throwIfAborted(context.signal);
          const next = { limit, cursor: page.nextCursor, offset: undefined, around: undefined, count: false };
          page = await memory.list({ ...argumentsOf('list', options), ...next });
          memories.push(...page.memories);
        }
        const cursor = page.nextCursor;
        if (options.json) {
          return context.printJson({
            memories,
            ...(cursor === undefined ? {} : { nextCursor: cursor }),
            ...first,
          });
        }
        const view = { now: viewedFrom(context), columns };
        await context.print(memories.length === 0 ? 'no memories' : formatMemories(memories, view));
        for (const line of placeLines(first, memories.length))
          await context.print(context.paint('dim', line));
        for (const line of redactedLines(first.redacted)) await context.print(context.paint('dim', line));
        if (cursor) await context.print(context.paint('dim', `more: --cursor ${plainLine(cursor)}`));
      }),
    );
}

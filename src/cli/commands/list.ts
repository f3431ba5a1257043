import type { Command } from 'commander';
import type { Memory } from '../../index.ts';
import { throwIfAborted } from '../../model/errors.ts';
import { action } from '../context.ts';
import { addFilterOptions, type FilterFlags, filtersOf } from '../filters.ts';
import { formatMemories } from '../memory-text.ts';
import { open } from '../open.ts';
import { parseWholeNumber } from '../options.ts';
import { plainLine } from '../terminal-text.ts';

interface Options extends FilterFlags {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly all?: boolean | undefined;
}

export const examples = [
  'salience list --type preference --limit 5',
  'salience list --tag coffee --all --json',
] as const;

export function configure(command: Command): void {
  addFilterOptions(command)
    .option('--limit <number>', 'memories on a page, 1 to 1000 (default: 20)', parseWholeNumber)
    .option('--cursor <text>', 'continue after an earlier page')
    .option('--all', 'every page')
    .action(
      action<Options, []>(async (context) => {
        const { options } = context;
        await using memory = await open(context, { readOnly: true });
        const memories: Memory[] = [];
        let cursor = options.cursor;
        do {
          throwIfAborted(context.signal);
          const limit = options.limit ?? (options.all ? 1000 : undefined);
          const page = await memory.list({ ...filtersOf(options), limit, cursor });
          memories.push(...page.memories);
          cursor = page.nextCursor;
        } while (options.all && cursor !== undefined);
        if (options.json) return context.printJson({ memories, ...(cursor ? { nextCursor: cursor } : {}) });
        await context.print(memories.length === 0 ? 'no memories' : formatMemories(memories, context));
        if (cursor) await context.print(context.paint('dim', `more: --cursor ${plainLine(cursor)}`));
      }),
    );
}

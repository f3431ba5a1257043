import type { Command } from 'commander';
import { throwIfAborted } from '../../domain/errors.ts';
import type { Memory } from '../../index.ts';
import { action } from '../context.ts';
import { type LookBackFlags, redactedLines, viewedFrom } from '../look-back.ts';
import { formatMemories } from '../memory-text.ts';
import { open } from '../open.ts';
import { plainLine } from '../terminal-text.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

interface Options extends LookBackFlags {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly all?: boolean | undefined;
}

export const examples = [
  'salience list --type preference --limit 5',
  'salience list --tag coffee --all --json',
  'salience list --where "priority>=3" --where open=true',
] as const;

export function configure(command: Command): void {
  addVerbOptions(command, 'list')
    .option('--all', 'every page')
    .action(
      action<Options, []>(async (context) => {
        const { options, columns } = context;
        await using memory = await open(context, { readOnly: true });
        const memories: Memory[] = [];
        let cursor = options.cursor;
        let redacted: number | undefined;
        do {
          throwIfAborted(context.signal);
          const limit = options.limit ?? (options.all ? 1000 : undefined);
          const page = await memory.list({ ...argumentsOf('list', options), limit, cursor });
          memories.push(...page.memories);
          cursor = page.nextCursor;
          redacted = page.redacted;
        } while (options.all && cursor !== undefined);
        if (options.json) {
          const next = cursor === undefined ? {} : { nextCursor: cursor };
          return context.printJson({ memories, ...next, ...(redacted === undefined ? {} : { redacted }) });
        }
        const view = { now: viewedFrom(context), columns };
        await context.print(memories.length === 0 ? 'no memories' : formatMemories(memories, view));
        for (const line of redactedLines(redacted)) await context.print(context.paint('dim', line));
        if (cursor) await context.print(context.paint('dim', `more: --cursor ${plainLine(cursor)}`));
      }),
    );
}

import type { Command } from 'commander';
import { action } from '../context.ts';
import { open } from '../open.ts';
import { parseWholeNumber } from '../options.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';

export const examples = ['salience undo', 'salience undo 2 --json'] as const;

/** So many memories are named; of a whole import, only their number. */
const NAMED = 20;

export function configure(command: Command): void {
  command
    .argument(
      '[operation]',
      'as history numbers it (default: the latest that can be undone)',
      parseWholeNumber,
    )
    .action(
      action<object, [number | undefined]>(async (context, operation) => {
        await using memory = await open(context);
        const undone = await memory.undo(operation, { signal: context.signal });
        if (context.options.json) return context.printJson(undone);
        // A link is no memory: whoever takes one back is told no more than that.
        const count = undone.memories.length;
        const what = count === 0 ? '' : ` of ${plural(count, 'memory', 'memories')}`;
        await context.print(`undid ${undone.verb} (operation ${undone.operation})${what}`);
        for (const { id, memory: restored } of undone.memories.slice(0, NAMED)) {
          await context.print(
            `  ${plainLine(id)}: ${restored ? `revision ${restored.revisionCount} again` : 'taken away'}`,
          );
        }
      }),
    );
}

import type { Command } from 'commander';
import { action } from '../context.ts';
import { openToRead } from '../open.ts';
import { plainLine } from '../terminal-text.ts';

export const examples = ['salience backup memory-backup.db'] as const;

export function configure(command: Command): void {
  command
    .argument('<file>', 'a new file')
    .addHelpText(
      'after',
      '\nA backup is complete and consistent, also while others write. Never copy the file of a store instead.',
    )
    .action(
      action<object, [string]>(async (context, file) => {
        await using memory = await openToRead(context);
        await memory.backup(file);
        if (context.options.json) return context.printJson({ file });
        await context.print(`wrote ${plainLine(file)}`);
      }),
    );
}

import type { Command } from 'commander';
import { SalienceError } from '../../domain/errors.ts';
import type { MemoryEngine } from '../../index.ts';
import { action, type Context } from '../context.ts';
import { openExisting, openToRead } from '../open.ts';
import { refuseStdout } from '../output-file.ts';
import { plainLine } from '../terminal-text.ts';

export const examples = ['salience backup memory-backup.db'] as const;

export function configure(command: Command): void {
  command
    .argument('<file>', 'a new file, outside of the folder of the store')
    .addHelpText(
      'after',
      '\nA backup is complete and consistent, also while others write. Never copy the file of a store instead.',
    )
    .action(
      action<object, [string]>(async (context, file) => {
        refuseStdout(file, 'file');
        await using memory = await openToBackUp(context);
        await memory.backup(file, { signal: context.signal });
        if (context.options.json) return context.printJson({ file });
        await context.print(`wrote ${plainLine(file)}`);
      }),
    );
}

/** Opens the space for writing, so that it records its backup. A store that cannot be written is opened for reading. */
async function openToBackUp(context: Context): Promise<MemoryEngine> {
  try {
    return await openExisting(context);
  } catch (error) {
    if (SalienceError.isInstance(error) && error.code === 'store_read_only') return openToRead(context);
    throw error;
  }
}

import type { Command } from 'commander';
import { action } from '../context.ts';
import { openExisting } from '../open.ts';
import { plainLine } from '../terminal-text.ts';

export const examples = [
  'salience invalidate roast --reason "She meant the other Ann"',
  'salience invalidate roast --reason "A misunderstanding" --json',
] as const;

export function configure(command: Command): void {
  command
    .argument('<id>')
    .requiredOption('--reason <text>', 'why it is no longer true')
    .addHelpText(
      'after',
      '\nIt is kept, and no longer recalled. The same statement stays inactive when it is remembered again, until reinstate.',
    )
    .action(
      action<{ readonly reason: string }, [string]>(async (context, id) => {
        const { options, signal } = context;
        await using memory = await openExisting(context);
        const found = await memory.invalidate(id, options.reason, { signal });
        if (options.json) return context.printJson(found);
        await context.print(`invalidated ${plainLine(id)}: ${plainLine(found.invalidReason ?? '')}`);
      }),
    );
}

import type { Command } from 'commander';
import { action } from '../context.ts';
import { openExisting } from '../open.ts';
import { plainLine } from '../terminal-text.ts';

export const examples = ['salience reinstate roast', 'salience reinstate roast --json'] as const;

export function configure(command: Command): void {
  command.argument('<id>').action(
    action<object, [string]>(async (context, id) => {
      await using memory = await openExisting(context);
      const found = await memory.reinstate(id, { signal: context.signal });
      if (context.options.json) return context.printJson(found);
      await context.print(`reinstated ${plainLine(id)}`);
    }),
  );
}

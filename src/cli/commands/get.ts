import type { Command } from 'commander';
import { action } from '../context.ts';
import { formatMemory } from '../memory-text.ts';
import { missing } from '../missing.ts';
import { open } from '../open.ts';

export const examples = ['salience get roast', 'salience get roast --json'] as const;

export function configure(command: Command): void {
  command.argument('<id>').action(
    action<object, [string]>(async (context, id) => {
      await using memory = await open(context, { readOnly: true });
      const found = await memory.get(id);
      if (!found) throw missing(id, memory.space);
      await (context.options.json ? context.printJson(found) : context.print(formatMemory(found, context)));
    }),
  );
}

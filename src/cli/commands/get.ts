import type { Command } from 'commander';
import { action } from '../context.ts';
import { type LookBackFlags, viewedFrom } from '../look-back.ts';
import { formatMemory } from '../memory-text.ts';
import { missing } from '../missing.ts';
import { openToRead } from '../open.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = ['salience get roast', 'salience get roast --json'] as const;

export function configure(command: Command): void {
  addVerbOptions(command.argument('<id>'), 'get').action(
    action<LookBackFlags, [string]>(async (context, id) => {
      const { options, paint } = context;
      await using memory = await openToRead(context);
      const found = await memory.get(id, argumentsOf('get', options));
      if (!found) throw missing([id], memory.space);
      if (options.json) return context.printJson(found);
      await context.print(formatMemory(found, { now: viewedFrom(context), paint }));
    }),
  );
}

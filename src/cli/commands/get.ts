import type { Command } from 'commander';
import { action } from '../context.ts';
import { AS_OF, asOfOf, type LookBackFlags, viewedFrom } from '../look-back.ts';
import { formatMemory } from '../memory-text.ts';
import { missing } from '../missing.ts';
import { open } from '../open.ts';

export const examples = ['salience get roast', 'salience get roast --json'] as const;

interface Options extends Pick<LookBackFlags, 'asOf'> {
  readonly scope?: string | undefined;
}

export function configure(command: Command): void {
  command
    .argument('<id>')
    .option('--scope <scope>', 'as seen from this scope: what its weight depends on (default: all)')
    .option(...AS_OF)
    .action(
      action<Options, [string]>(async (context, id) => {
        const { options, paint } = context;
        const asOf = asOfOf(options);
        await using memory = await open(context, { readOnly: true });
        const found = await memory.get(id, { scope: options.scope, asOf });
        if (!found) throw missing(id, memory.space);
        if (options.json) return context.printJson(found);
        await context.print(formatMemory(found, { now: viewedFrom(context), paint }));
      }),
    );
}

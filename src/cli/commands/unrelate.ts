import type { Command } from 'commander';
import { action } from '../context.ts';
import { openExisting } from '../open.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = ['salience unrelate roast goes_with grinder'] as const;

export function configure(command: Command): void {
  addVerbOptions(
    command
      .argument('<from>', 'the name of an entity, or the id of a memory')
      .argument('<name>', 'as it was stated')
      .argument('<to>', 'the name of an entity, or the id of a memory'),
    'unrelate',
  ).action(
    action<object, [string, string, string]>(async (context, from, name, to) => {
      await using memory = await openExisting(context);
      const ended = await memory.unrelate(from, name, to, {
        ...argumentsOf('unrelate', context.options),
        now: new Date(context.now),
        signal: context.signal,
      });
      if (context.options.json) return context.printJson(ended);
      const { sentence, statements } = ended;
      await context.print(
        plainLine(`ended: ${sentence}; stated by ${plural(statements.length, 'memory', 'memories')}`),
      );
    }),
  );
}

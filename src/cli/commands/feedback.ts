import { Argument, type Command } from 'commander';
import { action } from '../context.ts';
import { open } from '../open.ts';
import { plainLine } from '../terminal-text.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = ['salience feedback roast up', 'salience feedback roast down --voter ann'] as const;

export function configure(command: Command): void {
  addVerbOptions(
    command
      .argument('<id>')
      .addArgument(new Argument('<vote>', 'whether the memory helped').choices(['up', 'down'])),
    'feedback',
  )
    .addHelpText('after', '\nA voter has one vote on a memory, and the latest counts.')
    .action(
      action<object, [string, 'up' | 'down']>(async (context, id, vote) => {
        const { options, signal } = context;
        await using memory = await open(context);
        const after = await memory.feedback(id, vote, { ...argumentsOf('feedback', options), signal });
        if (options.json) return context.printJson(after);
        await context.print(`${plainLine(id)}: usefulness ${after.usefulness.toFixed(2)}`);
      }),
    );
}

import type { Command } from 'commander';
import { action } from '../context.ts';
import { openExisting } from '../open.ts';
import { plainLine } from '../terminal-text.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = [
  'salience link roast grinder',
  'salience link roast grinder --weight 0.9 --json',
] as const;

export function configure(command: Command): void {
  addVerbOptions(command.argument('<id>').argument('<other>'), 'link')
    .addHelpText('after', '\nA stated link never fades; unlink takes it away, undo too.')
    .action(
      action<object, [string, string]>(async (context, a, b) => {
        await using memory = await openExisting(context);
        await memory.link(a, b, { ...argumentsOf('link', context.options), signal: context.signal });
        if (context.options.json) {
          const links = await memory.links(a, { now: new Date(context.now) });
          return context.printJson(links.find(({ id, kind }) => id === b && kind === 'stated'));
        }
        await context.print(`linked ${plainLine(a)} with ${plainLine(b)}`);
      }),
    );
}

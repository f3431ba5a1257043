import type { Command } from 'commander';
import type { MemoryChanges } from '../../index.ts';
import { action } from '../context.ts';
import { open } from '../open.ts';
import { contentOf } from '../stdin.ts';
import { plainLine } from '../terminal-text.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = [
  'salience update roast "Prefers dark roast, and never decaf"',
  'salience update roast --importance 0.8 --tag coffee --tag taste',
] as const;

export function configure(command: Command): void {
  command
    .argument('<id>')
    .argument('[content]', 'the new content; "-" reads it from stdin (default: unchanged)');
  addVerbOptions(command, 'update').action(
    action<object, [string, string | undefined]>(async (context, id, argument) => {
      const { options } = context;
      const changes: MemoryChanges = {
        content: argument === undefined ? undefined : await contentOf(argument, context),
        ...argumentsOf('update', options),
      };
      if (Object.values(changes).every((value) => value === undefined)) {
        context.misused('nothing to change: give new content, or an option that changes something');
      }
      await using memory = await open(context);
      const updated = await memory.update(id, changes, { signal: context.signal });
      if (options.json) return context.printJson(updated);
      await context.print(`updated ${plainLine(updated.id)}, revision ${updated.revisionCount}`);
    }),
  );
}

import type { Command } from 'commander';
import { action } from '../context.ts';
import { lineOf } from '../memory-text.ts';
import { openToRead } from '../open.ts';
import { formatTable } from '../table.ts';

export const examples = ['salience timeline roast', 'salience timeline roast --json'] as const;

export function configure(command: Command): void {
  command.argument('<id>').action(
    action<object, [string]>(async (context, id) => {
      await using memory = await openToRead(context);
      const found = await memory.timeline(id);
      if (context.options.json) return context.printJson(found);
      const rows = [...found.before, found.memory, ...found.after].map((each) => [
        each.id === found.memory.id ? '→' : '',
        each.createdAt,
        each.id,
        each.type,
        lineOf(each),
      ]);
      const titles = ['', 'created', 'id', 'type', 'content'];
      await context.print(
        formatTable(
          titles.map((title) => ({ title })),
          rows,
          context.columns,
        ),
      );
    }),
  );
}

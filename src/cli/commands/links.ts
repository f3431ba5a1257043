import type { Command } from 'commander';
import { parseInstant } from '../../domain/time.ts';
import { action } from '../context.ts';
import { lineOf } from '../memory-text.ts';
import { openToRead } from '../open.ts';
import { formatTable } from '../table.ts';
import { plainLine } from '../terminal-text.ts';
import { formatAge } from '../units.ts';

export const examples = ['salience links roast', 'salience links roast --json'] as const;

export function configure(command: Command): void {
  command.argument('<id>').action(
    action<object, [string]>(async (context, id) => {
      const now = new Date(context.now);
      await using memory = await openToRead(context);
      const links = await memory.links(id, { now });
      if (context.options.json) return context.printJson({ id, links });
      if (links.length === 0) return context.print(`${plainLine(id)} has no links`);
      const rows: string[][] = [];
      for (const { id: other, kind, weight, storedWeight, at } of links) {
        const found = await memory.get(other);
        const age = formatAge(parseInstant(at), context.now);
        rows.push([
          other,
          kind,
          weight.toFixed(3),
          storedWeight.toFixed(3),
          age,
          found ? lineOf(found) : '(forgotten)',
        ]);
      }
      const titles = ['id', 'kind', 'weight', 'stored', 'since', 'content'];
      const columns = titles.map((title) => ({
        title,
        align: ['weight', 'stored', 'since'].includes(title) ? ('right' as const) : ('left' as const),
      }));
      await context.print(formatTable(columns, rows, context.columns));
    }),
  );
}

import type { Command } from 'commander';
import type { HistoryEntry } from '../../index.ts';
import { action } from '../context.ts';
import { lineOf } from '../memory-text.ts';
import { missing } from '../missing.ts';
import { openToRead } from '../open.ts';
import { formatTable } from '../table.ts';

export const examples = ['salience history roast', 'salience history roast --json'] as const;

export function configure(command: Command): void {
  command.argument('<id>').action(
    action<object, [string]>(async (context, id) => {
      await using memory = await openToRead(context);
      const events = await memory.history(id);
      if (events.length === 0) throw missing([id], memory.space);
      if (context.options.json) return context.printJson({ id, events });
      // The history includes what the memory superseded and what superseded it. Then a column names the memory of each
      // event.
      const chained = events.some(({ memoryId }) => memoryId !== id);
      const columns = [
        { title: 'operation', align: 'right' as const },
        { title: 'at' },
        { title: 'verb' },
        ...(chained ? [{ title: 'memory' }] : []),
        { title: 'before' },
      ];
      const rows = events.map((event) => [
        String(event.operation),
        event.at,
        verbOf(event),
        ...(chained ? [event.memoryId] : []),
        beforeOf(event),
      ]);
      await context.print(formatTable(columns, rows, context.columns));
    }),
  );
}

function verbOf({ verb, undoes }: HistoryEntry): string {
  return undoes === undefined ? verb : `${verb} of ${undoes}`;
}

function beforeOf({ before, redacted, link, memoryId }: HistoryEntry): string {
  if (link) {
    const other = link.link.ids.find((id) => id !== memoryId);
    const weight = link.before ? String(Number(link.before.weight.toFixed(4))) : 'none';
    return `${link.link.kind} link with ${other}: ${weight}`;
  }
  if (redacted) return '(forgotten)';
  return before ? lineOf(before) : '(nothing)';
}

import type { Command } from 'commander';
import type { Operation } from '../../index.ts';
import { action } from '../context.ts';
import { openToRead } from '../open.ts';
import { formatTable } from '../table.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = ['salience operations', 'salience operations --verb forget --json'] as const;

export function configure(command: Command): void {
  addVerbOptions(command, 'operations').action(
    action<object, []>(async (context) => {
      await using memory = await openToRead(context);
      const operations = await memory.operations(argumentsOf('operations', context.options));
      if (context.options.json) return context.printJson({ operations });
      if (operations.length === 0) return context.print('no operations');
      const columns = [
        { title: 'operation', align: 'right' as const },
        { title: 'at' },
        { title: 'verb' },
        { title: 'undo' },
        // Last, because it is the widest, and a narrow terminal shows the beginning of a row.
        { title: 'memories' },
      ];
      const rows = operations.map((each) => [
        String(each.operation),
        each.at,
        each.undoes === undefined ? each.verb : `${each.verb} of ${each.undoes}`,
        undoOf(each),
        memoriesOf(each),
      ]);
      await context.print(formatTable(columns, rows, context.columns));
      for (const [run, [latest, ...others]] of undoableRuns(operations)) {
        if (others.length === 0) continue;
        const shown = `operation ${latest} and ${plural(others.length, 'other')} are one run`;
        await context.print(`${shown}; to undo all of it: salience undo --run ${plainLine(run)}`);
      }
    }),
  );
}

/** Returns the operations that can be undone, by their run: a process that was killed has not printed its id. */
function undoableRuns(operations: readonly Operation[]): ReadonlyMap<string, readonly number[]> {
  const runs = new Map<string, number[]>();
  for (const { run, operation, undoable } of operations) {
    if (run === undefined || !undoable) continue;
    const found = runs.get(run);
    if (found) found.push(operation);
    else runs.set(run, [operation]);
  }
  return runs;
}

function memoriesOf({ memories, ids, links }: Operation): string {
  if (memories > 1)
    return `${plural(memories, 'memory', 'memories')}: ${ids.join(', ')}${memories > ids.length ? ', …' : ''}`;
  return ids.length > 0 ? ids.join(' – ') : links > 0 ? plural(links, 'link') : '';
}

const reasons = {
  undo: 'it is an undo',
  undone: 'undone',
  forgotten: 'forgotten for good',
  changed: 'changed since: undo that first',
} as const;

function undoOf({ because, undoneBy }: Operation): string {
  if (because === undefined) return 'yes';
  return undoneBy === undefined ? reasons[because] : `${reasons[because]} by ${undoneBy}`;
}

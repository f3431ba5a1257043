import type { Command } from 'commander';
import { action } from '../context.ts';
import { open } from '../open.ts';
import { parseWholeNumber } from '../options.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';
import { addVerbOptions } from '../verb-options.ts';

export const examples = ['salience undo'] as const;

interface Options {
  readonly run?: string | undefined;
}

/** Most memories that are named. */
const NAMED = 20;

export function configure(command: Command): void {
  addVerbOptions(
    command.argument(
      '[operation]',
      'as history numbers it (default: the latest that can be undone)',
      parseWholeNumber,
    ),
    'undo',
  ).action(
    action<Options, [number | undefined]>(async (context, operation) => {
      await using memory = await open(context);
      const { run } = context.options;
      if (run !== undefined && operation !== undefined) {
        command.error("error: option '--run <id>' goes without an operation");
      }
      const undone = await memory.undo({ operation, run, signal: context.signal });
      if (context.options.json) return context.printJson(undone);
      // Undoing a link changes no memory, so there is no number to show.
      const count = undone.memories.length;
      const what = count === 0 ? '' : ` of ${plural(count, 'memory', 'memories')}`;
      const which =
        undone.run === undefined ? `operation ${undone.operation}` : `run ${plainLine(undone.run)}`;
      await context.print(`undid ${undone.verb} (${which})${what}`);
      for (const { id, memory: restored } of undone.memories.slice(0, NAMED)) {
        await context.print(
          `  ${plainLine(id)}: ${restored ? `revision ${restored.revisionCount} again` : 'taken away'}`,
        );
      }
      for (const { id, reason } of undone.skipped ?? []) {
        await context.print(`  ${plainLine(id)}: left as it is, ${reason} since`);
      }
    }),
  );
}

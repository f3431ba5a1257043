import { type Command, Option } from 'commander';
import type { Schema } from '../../domain/arguments.ts';
import { verbEntry } from '../../domain/verbs.ts';
import { type Activity, SalienceError } from '../../index.ts';
import { action } from '../context.ts';
import { openToRead } from '../open.ts';
import { plainLine } from '../terminal-text.ts';
import { addVerbOptions, withValuesOf } from '../verb-options.ts';

interface Options {
  readonly follow?: boolean | undefined;
  readonly limit?: number | undefined;
}

export const examples = ['salience activity', 'salience activity --follow'] as const;

/** Milliseconds that one call waits before the next one. */
const WAIT = 30_000;

export function configure(command: Command): void {
  addVerbOptions(
    command.argument('[after]', 'a position that was printed; start (default), or end with --follow'),
    'activity',
    'limit',
  )
    .addOption(
      withValuesOf(
        new Option('--limit <number>', 'how much of it at most, 1 to 1000 (default: all of it)'),
        verbEntry('activity').arguments?.['limit'] as Schema,
      ),
    )
    .option('--follow', 'keep printing what happens, until Ctrl-C')
    .action(
      action<Options, [string | undefined]>(async (context, after) => {
        const { options, signal } = context;
        const { follow = false, limit } = options;
        await using memory = await openToRead(context);
        const entries: Activity['entries'][number][] = [];
        let position = after ?? (follow ? 'end' : 'start');
        for (;;) {
          const page = await memory
            .activity(position, { wait: follow ? WAIT : 0, limit, signal })
            .catch((error: unknown) => {
              if (follow && SalienceError.isInstance(error) && error.code === 'aborted') return undefined;
              throw error;
            });
          if (!page) return;
          position = page.position;
          for (const entry of page.entries) {
            if (!options.json) await context.print(lineOf(entry));
            else if (follow) await context.printJson(entry);
            else entries.push(entry);
          }
          if (!follow && (page.entries.length === 0 || limit !== undefined)) break;
        }
        if (options.json) return context.printJson({ entries, position });
        await context.print(context.paint('dim', `position ${position}`));
      }),
    );
}

function lineOf(entry: Activity['entries'][number]): string {
  const what =
    entry.kind === 'use'
      ? `used by ${entry.strategy} (${entry.effect})`
      : entry.undoes === undefined
        ? entry.verb
        : `${entry.verb} of ${entry.undoes}`;
  return plainLine(`${entry.at} ${what} ${entry.ids.join(', ')}`.trimEnd());
}

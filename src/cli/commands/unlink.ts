import type { Command } from 'commander';
import { action } from '../context.ts';
import { openExisting } from '../open.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = [
  'salience unlink roast grinder',
  'salience unlink roast grinder --kind stated co-retrieval --json',
] as const;

export function configure(command: Command): void {
  addVerbOptions(command.argument('<id>').argument('<other>'), 'unlink')
    .addHelpText(
      'after',
      '\nLinks of the kind sequence follow from the sessions of memories: they are not stored, and stay.',
    )
    .action(
      action<object, [string, string]>(async (context, a, b) => {
        const { options, signal } = context;
        await using memory = await openExisting(context);
        const kindsBetween = async () =>
          (await memory.links(a, { now: new Date(context.now) }))
            .filter(({ id }) => id === b)
            .map(({ kind }) => kind);
        const before = await kindsBetween();
        await memory.unlink(a, b, { ...argumentsOf('unlink', options), signal });
        const left = await kindsBetween();
        const removed = before.filter((kind) => !left.includes(kind));
        if (options.json) return context.printJson({ ids: [a, b], removed, left });
        const names = (kinds: readonly string[]) => (kinds.length === 0 ? '' : ` (${kinds.join(', ')})`);
        const stays = left.length === 0 ? '' : `; ${plural(left.length, 'link')} left${names(left)}`;
        await context.print(
          `removed ${plural(removed.length, 'link')} between ${plainLine(a)} and ${plainLine(b)}${names(removed)}${stays}`,
        );
      }),
    );
}

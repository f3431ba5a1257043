import { type Command, Option } from 'commander';
import type { MemoryLink } from '../../index.ts';
import { LINK_KINDS } from '../../store/store.ts';
import { action } from '../context.ts';
import { openExisting } from '../open.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';

interface Options {
  readonly kind?: readonly MemoryLink['kind'][] | undefined;
}

export const examples = [
  'salience unlink roast grinder',
  'salience unlink roast grinder --kind stated co-retrieval --json',
] as const;

export function configure(command: Command): void {
  command
    .argument('<id>')
    .argument('<other>')
    .addOption(new Option('--kind <kind...>', 'only of these kinds (default: all)').choices(LINK_KINDS))
    .addHelpText(
      'after',
      '\nLinks of the kind sequence follow from the sessions of memories: they are not stored, and stay.',
    )
    .action(
      action<Options, [string, string]>(async (context, a, b) => {
        const { options, signal } = context;
        await using memory = await openExisting(context);
        const kindsBetween = async () =>
          (await memory.links(a, { now: new Date(context.now) }))
            .filter(({ id }) => id === b)
            .map(({ kind }) => kind);
        const before = await kindsBetween();
        await memory.unlink(a, b, { kinds: options.kind, signal });
        const left = await kindsBetween();
        const removed = before.filter((kind) => !left.includes(kind));
        if (options.json) return context.printJson({ ids: [a, b], removed, left });
        const names = (kinds: readonly string[]) => (kinds.length === 0 ? '' : ` (${kinds.join(', ')})`);
        const stays = left.length === 0 ? '' : `; ${plural(left.length, 'link')} left${names(left)}`;
        await context.print(
          `took away ${plural(removed.length, 'link')} between ${plainLine(a)} and ${plainLine(b)}${names(removed)}${stays}`,
        );
      }),
    );
}

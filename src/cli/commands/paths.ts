import type { Command } from 'commander';
import { verbEntry } from '../../domain/verbs.ts';
import { action } from '../context.ts';
import { formatPath } from '../graph-text.ts';
import { openToRead } from '../open.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = ['salience paths roast grinder'] as const;

/** Most relations of a path. */
const LONGEST = verbEntry('paths').arguments?.['maxLength']?.maximum ?? 0;

export function configure(command: Command): void {
  command
    .argument('<from>', 'the name of an entity, or the id of a memory')
    .argument('<to>', 'the other end, given in the same way');
  addVerbOptions(command, 'paths').action(
    action<{ readonly maxLength?: number | undefined }, [string, string]>(async (context, from, to) => {
      await using memory = await openToRead(context);
      const paths = await memory.paths(from, to, {
        ...argumentsOf('paths', context.options),
        signal: context.signal,
      });
      if (context.options.json) return context.printJson(paths);
      if (paths.length === 0) return context.print(`no path${adviceOn(context.options.maxLength)}`);
      const ids = [...new Set(paths.flatMap((path) => path.ids))];
      const titles = await Promise.all(ids.map(async (id) => (await memory.get(id))?.title ?? id));
      const names = new Map(ids.map((id, at) => [id, titles[at] as string]));
      await context.print(paths.map((path) => formatPath(path, (id) => names.get(id) ?? id)).join('\n'));
    }),
  );
}

function adviceOn(maxLength: number | undefined): string {
  return maxLength === LONGEST ? '' : ': a higher --max-length may find one';
}

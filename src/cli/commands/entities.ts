import type { Command } from 'commander';
import { action } from '../context.ts';
import { openToRead } from '../open.ts';
import { formatTable } from '../table.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = ['salience entities', 'salience entities Acme --kind organisation'] as const;

export function configure(command: Command): void {
  command.argument('[query]', 'a name, or what to look for (default: all)');
  addVerbOptions(command, 'entities').action(
    action<object, [string | undefined]>(async (context, query) => {
      await using memory = await openToRead(context);
      const entities = await memory.entities(query, {
        ...argumentsOf('entities', context.options),
        signal: context.signal,
      });
      if (context.options.json) return context.printJson(entities);
      if (entities.length === 0) {
        const advice =
          query === undefined ? '; `salience remember … --type entity --title NAME` makes one' : '';
        return context.print(`no entities${advice}`);
      }
      const columns = [{ title: 'name' }, { title: 'kind' }, { title: 'other names' }, { title: 'id' }];
      const rows = entities.map(({ title = '', kind = '', aliases = [], id }) => [
        title,
        kind,
        aliases.join(', '),
        id,
      ]);
      await context.print(formatTable(columns, rows, context.columns));
    }),
  );
}

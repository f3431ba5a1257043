import type { Command } from 'commander';
import { createSqliteStore } from '../../store/sqlite/index.ts';
import { action } from '../context.ts';
import { storePath } from '../open.ts';
import { plainLine } from '../terminal-text.ts';

export const examples = ['salience spaces', 'salience spaces --json'] as const;

export function configure(command: Command): void {
  command.action(
    action<object, []>(async (context) => {
      const path = storePath(context.options);
      await using store = createSqliteStore({ directory: path });
      const spaces = await store.listSpaces();
      if (context.options.json) return context.printJson({ path, spaces });
      await context.print(
        spaces.length === 0 ? `no spaces in ${plainLine(path)}` : spaces.map(plainLine).join('\n'),
      );
    }),
  );
}

import type { Command } from 'commander';
import { SalienceError } from '../../domain/errors.ts';
import type { Store } from '../../store/store.ts';
import { confirm, reportKept } from '../confirm.ts';
import { action } from '../context.ts';
import { placeOf, storeOf } from '../open.ts';
import { plainLine } from '../terminal-text.ts';

export const examples = ['salience spaces', 'salience spaces --json'] as const;

export function configure(command: Command): void {
  command.action(
    action<object, []>(async (context) => {
      const path = placeOf(context.options);
      await using store = await storeOf(context.options);
      const spaces = await store.listSpaces();
      const notListed = (await store.copying?.unlisted?.()) ?? [];
      if (context.options.json) {
        return context.printJson({ path, spaces, ...(notListed.length > 0 && { notListed }) });
      }
      for (const sentence of notListed) context.warn(`not listed: ${sentence}`);
      // Not on stdout, which scripts read as names.
      if (spaces.length === 0) return context.warn(`no spaces in ${plainLine(path)}`);
      await context.print(spaces.map(plainLine).join('\n'));
    }),
  );
  command
    .command('delete')
    .description('delete a space and all that it holds, for good')
    .argument('<space>', 'its name')
    .option('--yes', 'do not ask')
    .action(
      action<{ readonly yes?: boolean | undefined }, [string]>(async (context, space) => {
        const { options } = context;
        if (!options.yes && !process.stdin.isTTY) {
          context.misused('deleting a space is final: add --yes to confirm, since this is not a terminal');
        }
        await using store = await storeOf(options);
        const memories = await countIn(store, space);
        const held =
          memories === undefined ? '' : ` with its ${memories === 1 ? '1 memory' : `${memories} memories`}`;
        const question = `Delete the space ${plainLine(space)}${held}? It is gone for good.`;
        if (!options.yes && !(await confirm(question, 'nothing was deleted', context))) {
          return reportKept(context);
        }
        await store.deleteSpace(space);
        if (options.json) return context.printJson({ space, memories, outcome: 'deleted' });
        await context.print(`deleted the space ${plainLine(space)}${held}`);
      }),
    );
}

/** Returns how many memories a space holds; `undefined` if it can no longer be read. Throws `not_found`. */
async function countIn(store: Store, name: string): Promise<number | undefined> {
  try {
    await using space = await store.openSpace(name, { readOnly: true });
    return (await space.info()).memories;
  } catch (error) {
    if (SalienceError.isInstance(error) && error.code !== 'not_found') return undefined;
    throw error;
  }
}

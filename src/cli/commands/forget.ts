import type { Command } from 'commander';
import { confirm } from '../confirm.ts';
import { action } from '../context.ts';
import { lineOf } from '../memory-text.ts';
import { open } from '../open.ts';
import { cutToWidth, plainLine } from '../terminal-text.ts';

export const examples = ['salience forget roast --yes'] as const;

export function configure(command: Command): void {
  command
    .argument('<id>')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      '\nForgetting is for good: the text is erased from the store, its history and its log. There is no undo.',
    )
    .action(
      action<{ readonly yes?: boolean | undefined }, [string]>(async (context, id) => {
        const { options, signal } = context;
        if (!options.yes && !process.stdin.isTTY) {
          context.misused('forgetting is for good: give --yes where nobody can be asked');
        }
        await using memory = await open(context);
        if (!options.yes) {
          // A memory that is gone but has its text in the history can be forgotten too.
          const found = await memory.get(id);
          const text = found ? ` "${cutToWidth(plainLine(lineOf(found)), 60)}"` : '';
          const question = `Forget ${plainLine(id)}${text}? It is erased for good.`;
          if (!(await confirm(question, 'nothing was forgotten', context))) return context.print('kept');
        }
        await memory.forget(id, { signal });
        if (options.json) return context.printJson({ id, outcome: 'forgotten' });
        await context.print(`forgot ${plainLine(id)} for good`);
      }),
    );
}

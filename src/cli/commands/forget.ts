import type { Command } from 'commander';
import type { MemoryEngine } from '../../index.ts';
import { SalienceError } from '../../model/errors.ts';
import { action, type Context } from '../context.ts';
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
        if (!options.yes && !(await confirm(id, memory, context))) {
          await context.print('kept');
          return;
        }
        await memory.forget(id, { signal });
        if (options.json) return context.printJson({ id, outcome: 'forgotten' });
        await context.print(`forgot ${plainLine(id)} for good`);
      }),
    );
}

/** Asks on the terminal. Only a yes is a yes. A memory that is gone but has its text in the history can be forgotten too. */
async function confirm(
  id: string,
  memory: MemoryEngine,
  { signal }: Pick<Context, 'signal'>,
): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const found = await memory.get(id);
  const text = found ? ` "${cutToWidth(plainLine(lineOf(found)), 60)}"` : '';
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new AbortController();
  reader.once('close', () => ended.abort());
  // A terminal in the hands of readline gives Ctrl-C to it alone.
  reader.on('SIGINT', () => process.emit('SIGINT'));
  try {
    const question = `Forget ${plainLine(id)}${text}? It is erased for good. [y/N] `;
    const answer = await reader.question(question, { signal: AbortSignal.any([signal, ended.signal]) });
    return /^y(es)?$/i.test(answer.trim());
  } catch (cause) {
    if (signal.aborted) throw new SalienceError('aborted', 'nothing was forgotten', { cause });
    if (ended.signal.aborted) return false;
    throw cause;
  } finally {
    reader.close();
  }
}

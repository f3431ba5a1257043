import { Argument, type Command } from 'commander';
import { type MemoryEngine, RESOLUTIONS, type Resolution } from '../../index.ts';
import { confirm, reportKept } from '../confirm.ts';
import { action } from '../context.ts';
import { lineOf } from '../memory-text.ts';
import { openExisting } from '../open.ts';
import { cutToWidth, plainLine } from '../terminal-text.ts';

export const examples = ['salience resolve 1 supersede', 'salience resolve 2 keep-both --json'] as const;

const outcomes: Readonly<Record<Resolution, (id: string) => string>> = {
  'keep-both': (id) => `both hold, ${id} and the older one`,
  update: (id) => `${id} now has the text of the newer memory`,
  supersede: (id) => `${id} has taken the place of the older one`,
  delete: (id) => `${id} stays, the older one is erased for good`,
};

export function configure(command: Command): void {
  command
    .argument('<conflict>', 'its number; salience conflicts lists them')
    .addArgument(new Argument('<resolution>', 'how it is resolved').choices(RESOLUTIONS))
    .option('--yes', 'do not ask before a delete')
    .addHelpText(
      'after',
      `
keep-both  both hold, and it is not asked again
update     the older memory takes the text of the newer one, which goes
supersede  the older one is hidden wherever the newer one is visible and valid
delete     the older one is forgotten for good; there is no undo`,
    )
    .action(
      action<{ readonly yes?: boolean | undefined }, [string, Resolution]>(
        async (context, conflictId, resolution) => {
          const { options, signal } = context;
          const asks = resolution === 'delete' && !options.yes;
          if (asks && !process.stdin.isTTY) {
            context.misused(
              'delete erases the older memory for good: add --yes to confirm, since this is not a terminal',
            );
          }
          await using memory = await openExisting(context);
          if (asks) {
            const question = `Forget ${await olderOf(memory, conflictId)}? It is erased for good.`;
            if (!(await confirm(question, 'nothing was forgotten', context))) return reportKept(context);
          }
          const resolved = await memory.resolve(conflictId, resolution, { signal });
          if (options.json) return context.printJson({ conflictId, ...resolved });
          const outcome = outcomes[resolution](plainLine(resolved.memory.id));
          await context.print(`conflict ${plainLine(conflictId)}: ${outcome}`);
        },
      ),
    );
}

/** Names the older memory of a conflict, with its text if the conflict is among the first 1,000 open ones. */
async function olderOf(memory: MemoryEngine, conflictId: string): Promise<string> {
  const open = await memory.conflicts({ limit: 1000 });
  const conflict = open.find((each) => each.conflictId === conflictId);
  if (!conflict) return `the older memory of conflict ${plainLine(conflictId)}`;
  const text = cutToWidth(plainLine(lineOf(conflict.older)), 60);
  return `${plainLine(conflict.older.id)} "${text}"`;
}

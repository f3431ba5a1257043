import type { Command } from 'commander';
import { restoreSpace } from '../../index.ts';
import { action } from '../context.ts';
import { storeOf } from '../open.ts';
import { refuseSpace } from '../options.ts';
import { createProgress } from '../progress.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';

export const examples = ['salience restore memory-backup.db --path ./restored'] as const;

export function configure(command: Command): void {
  command
    .argument('<file>', 'a file that salience backup wrote')
    .addHelpText(
      'after',
      '\nThe space comes back under its own name, checked and complete, into the store that --path or SALIENCE_STORE names. A\nspace that is there is never replaced: restore into another directory, or delete the space first.',
    )
    .action(
      action<object, [string]>(async (context, file) => {
        const { options, signal } = context;
        refuseSpace(command, context, 'the space comes back under the name that is in the backup');
        await using to = await storeOf(options);
        const progress = createProgress('restoring', process.stderr);
        try {
          const { space, memories } = await restoreSpace({
            ...{ file, to, signal },
            progress: (done, total) => progress.update(done, total > 0 ? done / total : 1),
          });
          progress.finish();
          if (options.json) return await context.printJson({ file, space, memories });
          await context.print(
            `restored ${plainLine(space)}: ${plural(memories, 'memory', 'memories')}; nothing is damaged`,
          );
        } finally {
          progress.finish();
        }
      }),
    );
}

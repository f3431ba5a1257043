import type { Command } from 'commander';
import { copiedOntoItself } from '../../copy-spaces.ts';
import { SalienceError } from '../../domain/errors.ts';
import { copySpaces, type SpaceCopy } from '../../index.ts';
import { action, type Context } from '../context.ts';
import { isSameStore, storeAt } from '../open.ts';
import { refuseSpace } from '../options.ts';
import { createProgress } from '../progress.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';

interface Options {
  readonly from: string;
  readonly to: string;
}

export const examples = [
  'salience copy --from ./memory --to ./memory-copy',
  'salience copy --from ./memory --to env:SALIENCE_STORE alice',
] as const;

export function configure(command: Command): void {
  command
    .argument('[spaces...]', 'default: all')
    .requiredOption(
      '--from <store>',
      'a directory, the URL of a database, or env:NAME, a variable that holds one',
    )
    .requiredOption('--to <store>', 'the same; it has none of these spaces')
    .addHelpText(
      'after',
      '\nCopies everything that a space holds, its logs included, also while others write to it, and verifies it by counts\nand checksums. A space is there once it is complete. If the copy of a space was interrupted, copy that space again to\ncontinue; spaces that are there already are refused, so name the others. A URL with a password is refused:\nothers can read a command line. SALIENCE_STORE_SCHEMA names the schema.',
    )
    .action(
      action<Options, [readonly string[]]>(async (context, spaces) => {
        const { options, signal } = context;
        refuseSpace(command, context, 'name the spaces to copy at the end of the line');
        if (isSameStore(options.from, options.to)) throw copiedOntoItself('--to');
        await using from = await storeAt(options.from, '--from');
        await using to = await storeAt(options.to, '--to');
        const progress = createProgress('copying', process.stderr);
        const copies: SpaceCopy[] = [];
        try {
          await copySpaces({
            from,
            to,
            ...(spaces.length > 0 ? { spaces } : {}),
            signal,
            progress: (_, done, total) => progress.update(done, total > 0 ? done / total : 1),
            copied: (copy) => copies.push(copy),
          });
          if (copies.length === 0) {
            throw new SalienceError(
              'not_found',
              `--from: there are no spaces in ${options.from}; check that it names the right store`,
              { details: { field: 'from' } },
            );
          }
        } finally {
          progress.finish();
          // What was copied before an error stays copied.
          if (copies.length > 0) await report(copies, context);
        }
      }),
    );
}

async function report(copies: readonly SpaceCopy[], context: Context): Promise<void> {
  if (context.options.json) return context.printJson(copies);
  for (const { space, rows } of copies) {
    const { memory, event, usage } = rows;
    await context.print(
      `copied ${plainLine(space)}: ${plural(memory, 'memory', 'memories')}, ${plural(event, 'event')}, ${plural(usage, 'use')}; counts and checksums are the same`,
    );
  }
}

import type { Command } from 'commander';
import { confirm, reportKept } from '../confirm.ts';
import { action } from '../context.ts';
import { schemaOption, urlGiven } from '../open.ts';
import { createProgress } from '../progress.ts';
import { formatBytes } from '../units.ts';

interface Options {
  readonly url?: string | undefined;
  readonly yes?: boolean | undefined;
}

export const examples = ['salience erase --yes', 'salience erase --url env:SALIENCE_OWNER'] as const;

const LOCKS =
  'Each table is locked against reading and writing while it is rewritten, and takes its room on the disk twice.';

export function configure(command: Command): void {
  command
    .option(
      '--url <url>',
      'URL of the database, without a password, or env:NAME; its user must own the tables',
    )
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `\nForgetting removes rows; PostgreSQL leaves their bytes in its files until it needs the room. This rewrites the tables\nand their indexes without them. ${LOCKS}\nThe write-ahead log, standbys and backups keep what they have.`,
    )
    .action(
      action<Options, []>(async (context) => {
        const { options } = context;
        const url = await urlGiven(options.url);
        if (!options.yes && !process.stdin.isTTY) {
          context.misused(`${LOCKS} Add --yes to confirm, since this is not a terminal`);
        }
        if (!options.yes && !(await confirm(`${LOCKS} Go on?`, 'nothing was rewritten', context))) {
          return reportKept(context, 'nothing was rewritten');
        }
        const { erasePostgres } = await import('../../stores/postgres/index.ts');
        const progress = createProgress('rewriting', process.stderr);
        try {
          const tables = await erasePostgres(url, {
            ...schemaOption(),
            progress: (_, done, total) => progress.update(done, done / total),
          });
          progress.finish();
          if (options.json) return context.printJson({ tables });
          const sum = (key: 'before' | 'after') =>
            formatBytes(tables.reduce((all, each) => all + each[key], 0));
          await context.print(`rewrote ${tables.length} tables: ${sum('before')} → ${sum('after')}`);
        } finally {
          progress.finish();
        }
      }),
    );
}

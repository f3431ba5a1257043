import type { Command } from 'commander';
import { action } from '../context.ts';
import { schemaOption, urlGiven } from '../open.ts';

interface Options {
  readonly url?: string | undefined;
}

export const examples = ['salience migrate', 'salience migrate --url env:SALIENCE_OWNER'] as const;

export function configure(command: Command): void {
  command
    .option(
      '--url <url>',
      'URL of the database, without a password, or env:NAME; its user must be allowed to change the schema',
    )
    .addHelpText(
      'after',
      '\nMigrates the schema that SALIENCE_STORE_SCHEMA names to this version, in one transaction. Run it before you deploy a\nnew version of a program whose database user cannot create tables; programs of the previous version keep working.',
    )
    .action(
      action<Options, []>(async (context) => {
        const { migratePostgres } = await import('../../stores/postgres/index.ts');
        const { from, to } = await migratePostgres(await urlGiven(context.options.url), schemaOption());
        if (context.options.json) return context.printJson({ from, to });
        await context.print(
          from === to ? `the schema is of version ${to} already` : `schema ${from} → ${to}`,
        );
      }),
    );
}

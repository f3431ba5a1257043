import type { Command } from 'commander';
import { parseInstant } from '../../domain/time.ts';
import { action } from '../context.ts';
import { openToRead } from '../open.ts';
import { formatTable } from '../table.ts';
import { formatAge } from '../units.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = ['salience recalls', 'salience recalls --limit 5 --json'] as const;

export function configure(command: Command): void {
  addVerbOptions(command, 'recalls')
    .addHelpText(
      'after',
      '\nRecalls are recorded where the space says so: salience configure --record-recalls 30 --record-texts.',
    )
    .action(
      action<object, []>(async (context) => {
        await using memory = await openToRead(context);
        const recalls = await memory.recalls(argumentsOf('recalls', context.options));
        if (context.options.json) return context.printJson({ recalls });
        if (recalls.length === 0) {
          const { recordRecalls } = await memory.configure();
          return context.print(
            recordRecalls === 'off'
              ? 'this space does not record recalls: salience configure --record-recalls 30'
              : 'no recalls are recorded',
          );
        }
        const titles = ['recall', 'asked', 'strategy', 'hits', 'query'];
        const rows = recalls.map(({ recallId, at, strategy, hits, query, queryHash, redacted }) => [
          recallId,
          formatAge(parseInstant(at), context.now),
          strategy,
          String(hits.length),
          query ?? (redacted ? '(forgotten)' : queryHash === undefined ? '' : '(not recorded)'),
        ]);
        await context.print(
          formatTable(
            titles.map((title) => ({
              title,
              align: /^(?:recall|asked|hits)$/.test(title) ? 'right' : 'left',
            })),
            rows,
            context.columns,
          ),
        );
      }),
    );
}

import type { Command } from 'commander';
import { parseInstant } from '../../domain/time.ts';
import type { Memory, PendingConflict } from '../../index.ts';
import { action, type Context } from '../context.ts';
import { lineOf } from '../memory-text.ts';
import { openToRead } from '../open.ts';
import { formatTable } from '../table.ts';
import { formatAge } from '../units.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = ['salience conflicts', 'salience conflicts --limit 5 --json'] as const;

export function configure(command: Command): void {
  addVerbOptions(command, 'conflicts')
    .addHelpText(
      'after',
      '\nPairs of memories that say nearly the same, or contradict each other: noticed when one was remembered, or by\nmaintain. Each waits for resolve.',
    )
    .action(
      action<object, []>(async (context) => {
        await using memory = await openToRead(context);
        const conflicts = await memory.conflicts(argumentsOf('conflicts', context.options));
        if (context.options.json) return context.printJson({ conflicts });
        if (conflicts.length === 0) return context.print('no open conflicts');
        await context.print(formatConflicts(conflicts, context));
        await context.print(
          context.paint(
            'dim',
            'resolve one: salience resolve CONFLICT keep-both | update | supersede | delete',
          ),
        );
      }),
    );
}

function formatConflicts(
  conflicts: readonly PendingConflict[],
  { now, columns }: Pick<Context, 'now' | 'columns'>,
): string {
  const titles = ['conflict', 'similarity', 'memory', 'updated', 'content'];
  const sideOf = (memory: Memory) => [
    memory.id,
    formatAge(parseInstant(memory.updatedAt), now),
    lineOf(memory),
  ];
  return formatTable(
    titles.map((title) => ({ title, align: /^(?:memory|content)$/.test(title) ? 'left' : 'right' })),
    conflicts.flatMap(({ conflictId, similarity, older, newer }) => [
      [conflictId, similarity.toFixed(2), ...sideOf(older)],
      ['', '', ...sideOf(newer)],
    ]),
    columns,
  );
}

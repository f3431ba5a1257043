import type { Command } from 'commander';
import { parseInstant } from '../../domain/time.ts';
import type { Belief } from '../../index.ts';
import { action } from '../context.ts';
import { lineOf } from '../memory-text.ts';
import { openToRead } from '../open.ts';
import { formatTable } from '../table.ts';
import { plainLine } from '../terminal-text.ts';
import { formatAge } from '../units.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = ['salience beliefs coffee/roast', 'salience beliefs coffee/roast --json'] as const;

export function configure(command: Command): void {
  addVerbOptions(command.argument('<topic>', 'as remember --topic was told'), 'beliefs')
    .addHelpText(
      'after',
      '\nAll that is kept about a topic, and whether it is believed. What a memory said before it was updated: history.',
    )
    .action(
      action<object, [string]>(async (context, topic) => {
        const { options, now, columns } = context;
        await using memory = await openToRead(context);
        const beliefs = await memory.beliefs(topic, argumentsOf('beliefs', options));
        if (options.json) return context.printJson({ topicKey: topic, beliefs });
        if (beliefs.length === 0) return context.print(`nothing is known about ${plainLine(topic)}`);
        const rows = beliefs.map((belief) => [
          belief.memory.id,
          belief.memory.scope,
          formatAge(parseInstant(belief.memory.updatedAt), now),
          stateOf(belief),
          lineOf(belief.memory),
        ]);
        const titles = ['id', 'scope', 'updated', 'believed', 'content'];
        await context.print(
          formatTable(
            titles.map((title) => ({ title, align: title === 'updated' ? 'right' : 'left' })),
            rows,
            columns,
          ),
        );
      }),
    );
}

function stateOf({ believed, because, supersededBy, memory }: Belief): string {
  if (believed) return 'yes';
  if (because === 'superseded') return `no: superseded by ${supersededBy.join(', ')}`;
  return `no: ${because}${because === 'invalidated' && memory.invalidReason ? `, ${memory.invalidReason}` : ''}`;
}

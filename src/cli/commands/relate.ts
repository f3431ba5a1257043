import type { Command } from 'commander';
import { action } from '../context.ts';
import { openExisting } from '../open.ts';
import { plainLine } from '../terminal-text.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

export const examples = ['salience relate roast goes_with grinder'] as const;

export function configure(command: Command): void {
  addVerbOptions(
    command
      .argument('<from>', 'the name of an entity, or the id of a memory')
      .argument('<name>', 'the name of the relation: works_at, knows')
      .argument('<to>', 'the name of an entity, or the id of a memory'),
    'relate',
  ).action(
    action<object, [string, string, string]>(async (context, from, name, to) => {
      await using memory = await openExisting(context);
      const related = await memory.relate(from, name, to, {
        ...argumentsOf('relate', context.options),
        now: new Date(context.now),
        signal: context.signal,
      });
      if (context.options.json) return context.printJson(related);
      const { sentence, outcome, inactive, relation } = related;
      await context.print(plainLine(`${outcome}: ${sentence}`));
      if (!inactive) return;
      const [first = ''] = relation.statements;
      await context.print(
        `does not hold: what states it was invalidated at ${inactive.since}: ${plainLine(inactive.reason)}`,
      );
      await context.print(`  if it is true after all: salience reinstate ${plainLine(first)}`);
    }),
  );
}

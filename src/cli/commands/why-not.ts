import type { Command } from 'commander';
import { action } from '../context.ts';
import { askAbout } from '../missing.ts';
import { openToRead } from '../open.ts';
import { addStrategyOptions, readStrategy, type StrategyFlags } from '../strategy-options.ts';
import { formatTable } from '../table.ts';
import { plainLine } from '../terminal-text.ts';

export const examples = [
  'salience why-not "what coffee does she like?" roast --limit 1',
  'salience why-not coffee roast --type fact --json',
] as const;

/** Options that do not apply: nothing is learnt. */
const UNUSED = ['sessionId'] as const;

export function configure(command: Command): void {
  command.argument('<query>', 'what to look for; "" for a strategy that takes no query').argument('<id>');
  addStrategyOptions(command, 'whyNot', ...UNUSED).action(
    action<StrategyFlags, [string, string]>(async (context, query, id) => {
      const { profiles, given } = await readStrategy(context, 'whyNot', ...UNUSED);
      await using memory = await openToRead(context, { profiles });
      const found = await askAbout(memory, query, id, () => memory.whyNot(id, { ...given, query }));
      if (context.options.json) return context.printJson(found);
      await context.print(`${plainLine(id)}: ${plainLine(found.message)}`);
      if (found.changes.length === 0) return;
      await context.print('\nEach of these alone would have lifted its score high enough:');
      const rows = found.changes.map(({ signal, from, to }) => [signal, valueText(from), valueText(to)]);
      const columns = [{ title: 'signal' }, { title: 'is' }, { title: 'would have to be' }];
      await context.print(formatTable(columns, rows, context.columns));
    }),
  );
}

function valueText(value: number | string | undefined): string {
  if (value === undefined) return 'unknown';
  return typeof value === 'number' ? String(Number(value.toPrecision(4))) : value;
}

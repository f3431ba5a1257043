import type { Command } from 'commander';
import { formatExplanation } from '../../index.ts';
import { action } from '../context.ts';
import { askAbout } from '../missing.ts';
import { openToRead } from '../open.ts';
import { addStrategyOptions, readStrategy, type StrategyFlags } from '../strategy-options.ts';
import { plainBlock } from '../terminal-text.ts';

export const examples = [
  'salience explain "what coffee does she like?" roast',
  'salience explain coffee roast --strategy lexical --json',
] as const;

/** Options that do not apply: nothing is learnt, and the score is the memory's own, without links. */
const UNUSED = ['sessionId', 'association'] as const;

export function configure(command: Command): void {
  command.argument('<query>', 'what to look for; "" for a strategy that takes no query').argument('<id>');
  addStrategyOptions(command, 'explain', ...UNUSED).action(
    action<StrategyFlags, [string, string]>(async (context, query, id) => {
      const { profiles, given } = await readStrategy(context, 'explain', ...UNUSED);
      await using memory = await openToRead(context, { profiles });
      const found = await askAbout(memory, query, id, () => memory.explain(id, { ...given, query }));
      if (context.options.json) return context.printJson(found);
      await context.print(plainBlock(formatExplanation(found.explanation, 'text')));
    }),
  );
}

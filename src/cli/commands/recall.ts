import type { Command } from 'commander';
import { action } from '../context.ts';
import { formatRecall } from '../hits-text.ts';
import { viewedFrom } from '../look-back.ts';
import { openToAsk } from '../open.ts';
import { addStrategyOptions, readStrategy, type StrategyFlags } from '../strategy-options.ts';

interface Options extends StrategyFlags {
  readonly explain?: boolean | undefined;
  readonly trace?: boolean | undefined;
}

export const examples = [
  'salience recall "what coffee does she like?"',
  'salience recall coffee --strategy lexical --limit 3 --explain',
  'salience recall coffee --strategy balanced --param weights.recency=0.6 --json',
  'salience recall coffee --profile fresh.json',
  'salience recall --strategy ambient',
  'salience recall coffee --strategy retention --session monday --deep',
  'salience recall coffee --where by=ann --valid-at 2026-01-31',
] as const;

export function configure(command: Command): void {
  command.argument('[query]', 'what to look for; may be left out only with the strategy ambient');
  addStrategyOptions(command, 'recall')
    .option('--explain', 'show how every score was computed')
    .option('--trace', 'show what every stage received, kept and cost')
    .action(
      action<Options, [string | undefined]>(async (context, query) => {
        const { options, paint, columns } = context;
        const now = viewedFrom(context);
        const { profiles, given, writes } = await readStrategy(context, 'recall');
        await using memory = await openToAsk(context, {
          profiles,
          learns: writes,
          track: options.track !== false,
        });
        const answer = await memory.recall(query, given);
        if (!options.json) {
          const view = { query, now, paint, columns, explain: options.explain === true };
          return context.print(formatRecall(answer, { ...view, trace: options.trace === true }));
        }
        const hits = answer.hits.map(({ explain, ...hit }, index) => ({
          rank: index + 1,
          ...hit,
          ...(options.explain ? { explanation: explain() } : {}),
        }));
        const { evidenceChains, nothing, trace } = answer;
        await context.printJson({ query, hits, evidenceChains, nothing, trace });
      }),
    );
}

import { type Command, Option } from 'commander';
import { action } from '../context.ts';
import { contextText } from '../context-text.ts';
import { openToAsk } from '../open.ts';
import { addStrategyOptions, readStrategy, type StrategyFlags } from '../strategy-options.ts';
import { withValuesOf } from '../verb-options.ts';

interface Options extends StrategyFlags {
  readonly maxTokens?: number | undefined;
  readonly window?: number | undefined;
  readonly why?: boolean | undefined;
}

export const examples = [
  'salience context "what coffee does she like?"',
  'salience context coffee --max-tokens 500 --format xml --why',
] as const;

const MAX_TOKENS = 2000;

export function configure(command: Command): void {
  command.argument('[query]', 'what to look for; without one, what matters most');
  addStrategyOptions(command, 'context', 'maxTokens')
    .addOption(
      withValuesOf(
        new Option('--max-tokens <number>', `how many tokens it may take (default: ${MAX_TOKENS})`),
        { type: 'integer', minimum: 1, maximum: 1e9 },
      ),
    )
    .option('--why', 'also print why each memory was left out')
    .action(
      action<Options, [string | undefined]>(async (context, query) => {
        const { options } = context;
        const { maxTokens, window } = options;
        if (maxTokens !== undefined && window !== undefined) {
          context.misused('give --max-tokens or --window, not both');
        }
        const { profiles, given, contextWrites } = await readStrategy(context, 'context', 'maxTokens');
        await using memory = await openToAsk(context, {
          profiles,
          learns: contextWrites,
          track: options.track !== false,
        });
        const budget = window === undefined ? { maxTokens: maxTokens ?? MAX_TOKENS } : { window };
        const built = await memory.context(query, { ...given, ...budget });
        if (options.json) return context.printJson(built);
        return context.print(contextText(built, options.why));
      }),
    );
}

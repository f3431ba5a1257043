import { type Command, Option } from 'commander';
import { action, type Context } from '../context.ts';
import { open, openToAsk } from '../open.ts';
import { parseWholeNumber } from '../options.ts';
import { addStrategyOptions, readStrategy, type StrategyFlags } from '../strategy-options.ts';
import { plainBlock, plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';
import { argumentsOf } from '../verb-options.ts';

interface Options extends StrategyFlags {
  readonly maxTokens?: number | undefined;
  readonly window?: number | undefined;
  readonly standing?: 'start' | 'turn' | undefined;
  readonly why?: boolean | undefined;
}

export const examples = [
  'salience context "what coffee does she like?"',
  'salience context coffee --max-tokens 500 --format xml --why',
  'salience context --standing start',
] as const;

const MAX_TOKENS = 2000;

export function configure(command: Command): void {
  command.argument('[query]', 'what to look for; without one, what matters most');
  addStrategyOptions(command, 'context', 'maxTokens')
    .option(
      '--max-tokens <number>',
      'how much it may take (default: 2000; standing: 30,000 or 5,000)',
      parseWholeNumber,
    )
    .addOption(
      new Option(
        '--standing <when>',
        'instead of an answer: what an agent gets when a session starts, or on every turn',
      ).choices(['start', 'turn']),
    )
    .option('--why', 'say for every memory that is left out why')
    .action(
      action<Options, [string | undefined]>(async (context, query) => {
        const { options } = context;
        const made = options.standing === undefined ? await asked(context, query) : await standing(context);
        if (options.json) return context.printJson(made);
        const left = made.omitted.map(({ id, message }) => plainLine(`${id}: ${message}`));
        return context.print(
          [
            plainBlock(made.text === '' ? 'nothing fits, or nothing was found' : made.text.trimEnd()),
            '',
            `${plural(made.items.length, 'memory', 'memories')}, ${made.tokens} of ${made.maxTokens} tokens, ${left.length} left out`,
            ...(options.why ? left : []),
          ].join('\n'),
        );
      }),
    );
}

async function asked(context: Context<Options>, query: string | undefined) {
  const { maxTokens = MAX_TOKENS } = context.options;
  const { profiles, given, contextWrites } = await readStrategy(context, 'context', 'maxTokens');
  await using memory = await openToAsk(context, {
    profiles,
    learns: contextWrites,
    track: context.options.track !== false,
  });
  const budget = context.options.window === undefined ? { maxTokens } : { window: context.options.window };
  return await memory.context(query, { ...given, ...budget });
}

async function standing(context: Context<Options>) {
  const { options, signal } = context;
  await using memory = await open(context, { readOnly: true });
  const { maxTokens } = options;
  const asked = { ...argumentsOf('bootstrap', options, 'maxTokens'), maxTokens, signal };
  return await (options.standing === 'start' ? memory.bootstrap(asked) : memory.pinned(asked));
}

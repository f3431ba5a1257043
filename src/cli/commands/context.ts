import { type Command, Option } from 'commander';
import type { ContextFormat } from '../../index.ts';
import { action, type Context } from '../context.ts';
import { open, openToAsk } from '../open.ts';
import { collect, parseWholeNumber } from '../options.ts';
import { addStrategyOptions, readStrategy, type StrategyFlags } from '../strategy-options.ts';
import { plainBlock, plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';

interface Options extends StrategyFlags {
  readonly maxTokens?: number | undefined;
  readonly window?: number | undefined;
  readonly format: ContextFormat;
  readonly packing?: 'optimal' | 'greedy' | undefined;
  readonly mustInclude?: readonly string[] | undefined;
  readonly standing?: 'start' | 'turn' | undefined;
  readonly why?: boolean | undefined;
  readonly effects?: 'none' | undefined;
}

export const examples = [
  'salience context "what coffee does she like?"',
  'salience context coffee --max-tokens 500 --format xml --why',
  'salience context --standing start',
] as const;

const MAX_TOKENS = 2000;

export function configure(command: Command): void {
  command.argument('[query]', 'what to look for; without one, what matters most');
  addStrategyOptions(command)
    .option(
      '--max-tokens <number>',
      'how much it may take (default: 2000; standing: 30,000 or 5,000)',
      parseWholeNumber,
    )
    .option(
      '--window <number>',
      "instead: the model's window, of which the reply is kept back",
      parseWholeNumber,
    )
    .addOption(
      new Option('--format <name>', 'how it is written')
        .choices(['text', 'markdown', 'xml', 'messages'])
        .default('text'),
    )
    .addOption(
      new Option('--packing <how>', 'the best choice of what fits, or by rank (default: optimal)').choices([
        'optimal',
        'greedy',
      ]),
    )
    .option('--must-include <id>', 'this memory before all others; may be given several times', collect)
    .addOption(
      new Option(
        '--standing <when>',
        'instead of an answer: what an agent gets when a session starts, or on every turn',
      ).choices(['start', 'turn']),
    )
    .option('--why', 'say for every memory that is left out why')
    .addOption(
      new Option('--effects <what>', 'none: leave nothing behind (default: as the strategy does)').choices([
        'none',
      ]),
    )
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
  const { options } = context;
  const { profiles, recall, contextWrites } = await readStrategy(context);
  const learns = contextWrites && options.effects !== 'none';
  await using memory = await openToAsk(context, { profiles, learns });
  const { limit, ...rest } = recall;
  return await memory.context(query, {
    ...rest,
    candidates: limit,
    effects: options.effects,
    format: options.format,
    packing: options.packing,
    mustInclude: options.mustInclude,
    ...(options.window === undefined
      ? { maxTokens: options.maxTokens ?? MAX_TOKENS }
      : { window: options.window }),
  });
}

async function standing(context: Context<Options>) {
  const { options, signal } = context;
  await using memory = await open(context, { readOnly: true });
  const asked = {
    scope: options.scope,
    format: options.format,
    packing: options.packing,
    signal,
    maxTokens: options.maxTokens,
  };
  return await (options.standing === 'start' ? memory.bootstrap(asked) : memory.pinned(asked));
}

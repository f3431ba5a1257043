import type { Command } from 'commander';
import type { CompareOptions } from '../../index.ts';
import { formatComparison } from '../comparison-text.ts';
import { action } from '../context.ts';
import { openToRead } from '../open.ts';
import { readDefinition } from '../profile-file.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

interface Options {
  readonly profile?: string | undefined;
}

export const examples = [
  'salience compare "what coffee does she like?"',
  'salience compare coffee --strategy hybrid --strategy bm25 --limit 5',
  'salience compare coffee --profile fresh.json --json',
] as const;

export function configure(command: Command): void {
  addVerbOptions(command.argument('<query>', 'what to look for'), 'compare')
    .option('--profile <file>', 'also by the formula of your own in this JSON file')
    .action(
      action<Options, [string]>(async (context, query) => {
        const { options, signal, paint, columns } = context;
        const given: CompareOptions = argumentsOf('compare', options);
        const own = options.profile === undefined ? undefined : await readDefinition(options.profile);
        // Among all strategies it is one without being named.
        const strategies = own && given.strategies ? [...given.strategies, own.name] : given.strategies;
        await using memory = await openToRead(context, { profiles: own ? [own] : [] });
        const comparison = await memory.compare(query, { ...given, strategies, signal });
        if (options.json) return context.printJson(comparison);
        await context.print(formatComparison(comparison, { paint, columns }));
      }),
    );
}

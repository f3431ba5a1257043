import type { Command } from 'commander';
import type { CompareOptions } from '../../index.ts';
import { formatComparison } from '../comparison-text.ts';
import { action } from '../context.ts';
import { openToRead } from '../open.ts';
import type { NamedValues } from '../options.ts';
import { readDefinition } from '../profile-file.ts';
import { addVerbOptions, argumentsOf } from '../verb-options.ts';

interface Options {
  readonly profile?: string | undefined;
}

export const examples = [
  'salience compare "what coffee does she like?"',
  'salience compare coffee --strategy hybrid --strategy bm25 --limit 5',
  'salience compare coffee --strategy hybrid --strategy bm25 --param hybrid:weights.context=3',
  'salience compare coffee --profile fresh.json --json',
] as const;

export function configure(command: Command): void {
  addVerbOptions(command.argument('<query>', 'what to look for'), 'compare')
    .option('--profile <file>', 'also rank by your own formula in this JSON file')
    .action(
      action<Options, [string]>(async (context, query) => {
        const { options, signal, paint, columns, misused } = context;
        const { parameters, ...rest } = argumentsOf('compare', options);
        const given: CompareOptions = { ...rest, parameters: byStrategy(parameters as NamedValues, misused) };
        const own = options.profile === undefined ? undefined : await readDefinition(options.profile);
        // If no strategies are named, all are compared, and the own formula is among them.
        const strategies = own && given.strategies ? [...given.strategies, own.name] : given.strategies;
        await using memory = await openToRead(context, { profiles: own ? [own] : [] });
        const comparison = await memory.compare(query, { ...given, strategies, signal });
        if (options.json) return context.printJson(comparison);
        await context.print(formatComparison(comparison, { paint, columns }));
      }),
    );
}

/** Groups parameters by the strategies before their colons. */
function byStrategy(
  given: NamedValues | undefined,
  misused: (message: string) => never,
): CompareOptions['parameters'] {
  const parameters = new Map<string, NamedValues>();
  for (const [name, value] of Object.entries(given ?? {})) {
    const at = name.indexOf(':');
    if (at < 1) misused(`--param ${name}: name the strategy too, as in --param hybrid:${name}=${value}`);
    const strategy = name.slice(0, at);
    const before = Object.entries(parameters.get(strategy) ?? {});
    parameters.set(strategy, Object.fromEntries([...before, [name.slice(at + 1), value]]));
  }
  return given && Object.fromEntries(parameters);
}

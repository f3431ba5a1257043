import { Argument as Positional } from 'commander';
import type { Argument, Schema } from '../domain/arguments.ts';
import { optionsAt, type VerbName, verbEntry } from '../domain/verbs.ts';
import type { MemoryEngine } from '../index.ts';
import type { CommandModule } from './command-table.ts';
import { action } from './context.ts';
import { openExisting, openToRead } from './open.ts';
import { plainBlock } from './terminal-text.ts';
import { addVerbOptions, argumentsOf, withValuesOf } from './verb-options.ts';

/** Generates the command of a verb from the table of verbs: positional arguments, options, and the answer as JSON. */
export function plainCommand(verb: VerbName): CommandModule {
  const entry = verbEntry(verb);
  const { takes = [], arguments: all = {}, example = '' } = entry;
  return {
    examples: [`salience ${example}`],
    configure(command) {
      for (const name of takes) command.addArgument(positional(name, all[name] as Argument));
      addVerbOptions(command, verb).action(
        action<object, readonly unknown[]>(async (context, ...given) => {
          const { options, signal } = context;
          await using memory = await (entry.access === 'read' ? openToRead(context) : openExisting(context));
          const run = memory[verb as keyof MemoryEngine] as (...args: unknown[]) => Promise<unknown>;
          const answer = await run(...given.slice(0, optionsAt(entry)), {
            ...argumentsOf(verb, options),
            signal,
          });
          if (options.json) return context.printJson(answer ?? {});
          await context.print(plainBlock(JSON.stringify(answer ?? 'done', undefined, 2)));
        }),
      );
    },
  };
}

function positional(name: string, argument: Argument): Positional {
  const dots = argument.type === 'array' ? '...' : '';
  const flags = argument.required === true ? `<${name}${dots}>` : `[${name}${dots}]`;
  return withValuesOf(new Positional(flags, argument.about), argument as Schema);
}

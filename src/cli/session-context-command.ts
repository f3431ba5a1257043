import type { CommandModule } from './command-table.ts';
import { action } from './context.ts';
import { contextText } from './context-text.ts';
import { openToRead } from './open.ts';
import { addVerbOptions, argumentsOf } from './verb-options.ts';

/** Creates the command of a context that takes no query. */
export function sessionContextCommand(verb: 'bootstrap' | 'pinned'): CommandModule {
  return {
    examples: [`salience ${verb}`, `salience ${verb} --scope project:shop --format xml`],
    configure(command) {
      addVerbOptions(command, verb)
        .option('--why', 'also print why each memory was left out')
        .action(
          action<{ readonly why?: boolean | undefined }, []>(async (context) => {
            const { options, signal } = context;
            await using memory = await openToRead(context);
            const built = await memory[verb]({ ...argumentsOf(verb, options), signal });
            if (options.json) return context.printJson(built);
            return context.print(contextText(built, options.why));
          }),
        );
    },
  };
}

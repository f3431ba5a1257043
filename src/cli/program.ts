import { Command, Help } from 'commander';
import { findCommandName } from './command-name.ts';
import { COMMAND_GROUPS } from './command-table.ts';
import { addCommonOptions } from './options.ts';

const footer = `
Exit codes: 0 done; 1 failed, the message says why; 2 wrong usage, nothing was done; 3 partly done (some lines or
ids were left out, or a language model failed); 130 interrupted. With --json results go to stdout and errors to stderr,
both as JSON.`;

/**
 * Builds the command line for some arguments: every command by its name and summary, and the chosen one with its
 * arguments and options. Only the module of that one is loaded, to start quickly. `whole` loads all of them.
 */
export async function createProgram(args: readonly string[], whole = false): Promise<Command> {
  const program: Command = new Command('salience');
  program
    .description(
      'A memory for agents and people: remember, and recall what matters now, ranked and explained.',
    )
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .configureHelp({
      showGlobalOptions: true,
      // The commands come first, the options of every command last.
      formatHelp(command, helper) {
        const sections = Help.prototype.formatHelp.call(this, command, helper).trimEnd().split('\n\n');
        if (command !== program) return `${sections.join('\n\n')}\n`;
        const isOptions = (section: string) => section.startsWith('Options:');
        const others = sections.filter((section) => !isOptions(section));
        return `${[...others, ...sections.filter(isOptions)].join('\n\n')}\n`;
      },
    })
    .showSuggestionAfterError()
    .addHelpText('after', ({ command }) => (command === program ? footer : ''));
  const chosen = findCommandName(args);
  // Commander also takes program options from behind a command, so in `--title --version` the title would be lost.
  if (chosen === undefined) program.option('-V, --version', 'print the version');
  addCommonOptions(program);
  program.commandsGroup('Other commands:').helpCommand(true);

  for (const { heading, commands } of COMMAND_GROUPS) {
    for (const { name, summary, load } of commands) {
      const command = program.command(name).description(summary).helpGroup(heading);
      if (!whole && name !== chosen) continue;
      const { configure, examples } = await load();
      configure(command);
      command.addHelpText('after', `\nExamples:\n${examples.map((each) => `  $ ${each}`).join('\n')}`);
    }
  }
  return program;
}

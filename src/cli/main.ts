#!/usr/bin/env node
import { Command, CommanderError, Help } from 'commander';
import { COMMAND_GROUPS, findCommandName } from './command-table.ts';
import { FAILED, reportFailure, reportUsage, USAGE } from './failure.ts';
import { addCommonOptions } from './options.ts';

const footer = `
Exit codes: 0 done; 1 failed, the message says why; 2 wrong usage, nothing was done; 3 partly done (an import
that left lines out); 130 interrupted. With --json results go to stdout and errors to stderr, both as JSON.`;

// Whoever reads our output may stop reading at any time: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`error: stdout cannot be written: ${error.message} (unwritable_file)\n`);
  process.exit(FAILED);
});
process.stderr.on('error', () => {});

await main(process.argv.slice(2));

/** Only the module of the command that was asked for is loaded: starting must stay cheap. */
async function main(args: readonly string[]): Promise<void> {
  const program: Command = new Command('salience');
  program
    .description(
      'A memory for agents and people: remember, and recall what matters now, ranked and explained.',
    )
    .option('-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .configureHelp({
      showGlobalOptions: true,
      // What can be done comes first; the options of every command stand below.
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
  addCommonOptions(program);
  program.commandsGroup('Other commands:').helpCommand(true);

  const chosen = findCommandName(args);
  for (const { heading, commands } of COMMAND_GROUPS) {
    for (const { name, summary, load } of commands) {
      const command = program.command(name).description(summary).helpGroup(heading);
      if (name !== chosen) continue;
      const { configure, examples } = await load();
      configure(command);
      command.addHelpText('after', `\nExamples:\n${examples.map((each) => `  $ ${each}`).join('\n')}`);
    }
  }

  const json = args.includes('--json');
  try {
    if (args.includes('--version') || (args.includes('-V') && chosen === undefined)) {
      const { readVersion } = await import('./version.ts');
      process.stdout.write(`${await readVersion()}\n`);
    } else if (args.length === 0) {
      process.stderr.write(program.helpInformation());
      process.exitCode = USAGE;
    } else {
      await program.parseAsync([...args], { from: 'user' });
    }
  } catch (error) {
    process.exitCode =
      error instanceof CommanderError ? reportUsage(error, json) : reportFailure(error, json);
  }
}

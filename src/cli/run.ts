import { type Command, CommanderError } from 'commander';
import { findCommand, findCommandName } from './command-name.ts';
import { reportFailure, reportUsage, USAGE } from './failure.ts';
import { showIndexProgress } from './index-progress.ts';
import { createProgram } from './program.ts';
import { endWithStdout } from './stdout.ts';

const SERVERS: ReadonlySet<string> = new Set(['serve', 'mcp']);
const HELP: ReadonlySet<string> = new Set(['help', '--help', '-h']);

/** Runs a command line to its end. `process.exitCode` has the result. */
export async function run(args: readonly string[]): Promise<void> {
  process.stderr.on('error', () => {});
  // After `--` there are no options.
  const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  const json = options.includes('--json');
  endWithStdout(json);
  let program: Command | undefined;
  try {
    const name = findCommandName(args);
    if (name === undefined && (options.includes('--version') || options.includes('-V'))) {
      const { readVersion } = await import('./version.ts');
      process.stdout.write(`${await readVersion()}\n`);
      return;
    }
    program = await createProgram(args);
    if (args.length === 0) {
      process.stderr.write(program.helpInformation());
      process.exitCode = USAGE;
    } else {
      if (json) refuseHelpAsError(program);
      // If help is asked for an unknown command, commander would not say that it is unknown.
      const asked = isKnown(program, args) ? [...args] : args.filter((argument) => !HELP.has(argument));
      // Servers write their log to the same stream.
      const stop = SERVERS.has(name ?? '') ? () => {} : showIndexProgress(process.stderr);
      await program.parseAsync(asked, { from: 'user' }).finally(stop);
    }
  } catch (error) {
    if (!(error instanceof CommanderError)) process.exitCode = reportFailure(error, json);
    else {
      // Loaded only for an error, because every command would wait for it.
      const { optionAlsoCalled } = await import('./option-names.ts');
      const command = program && commandIn(program, args);
      process.exitCode = reportUsage(error, json, (name) => command && optionAlsoCalled(name, command));
    }
  }
}

/** Returns the last command that the arguments name. */
function commandIn(program: Command, args: readonly string[]): Command {
  let command = program;
  for (let at = findCommand(args, 0); at !== -1; at = findCommand(args, at + 1)) {
    const named = command.commands.find((each) => each.name() === args[at]);
    if (!named) break;
    command = named;
  }
  return command;
}

/** Whether every command in the arguments exists, subcommands included. */
function isKnown(program: Command, args: readonly string[]): boolean {
  let command = program;
  for (let at = findCommand(args, 0); at !== -1; at = findCommand(args, at + 1)) {
    if (command.commands.length === 0) return true;
    const named = command.commands.find((each) => each.name() === args[at]);
    if (!named) return false;
    command = named;
  }
  return true;
}

/** Reports a missing command as an error. Commander would print help, which is not JSON. */
function refuseHelpAsError(program: Command): void {
  program.addHelpText('beforeAll', ({ command, error }) => {
    if (!error) return '';
    const words = command === program ? 'salience' : `salience ${command.name()}`;
    return command.error(`error: the command is missing; "${words} --help" lists what there is`);
  });
}

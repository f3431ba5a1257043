import { type Command, CommanderError } from 'commander';
import { findCommand, findCommandName } from './command-name.ts';
import { reportFailure, reportUsage, USAGE } from './failure.ts';
import { showIndexProgress } from './index-progress.ts';
import { createProgram } from './program.ts';
import { endWithStdout } from './stdout.ts';

const SERVERS: ReadonlySet<string> = new Set(['serve', 'mcp']);
const HELP: ReadonlySet<string> = new Set(['help', '--help', '-h']);

/** Runs a command line to its end; `process.exitCode` says how it went. */
export async function run(args: readonly string[]): Promise<void> {
  process.stderr.on('error', () => {});
  // What follows -- is no option.
  const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  const json = options.includes('--json');
  endWithStdout(json);
  try {
    const name = findCommandName(args);
    if (name === undefined && (options.includes('--version') || options.includes('-V'))) {
      const { readVersion } = await import('./version.ts');
      process.stdout.write(`${await readVersion()}\n`);
      return;
    }
    const program = await createProgram(args);
    if (args.length === 0) {
      process.stderr.write(program.helpInformation());
      process.exitCode = USAGE;
    } else {
      if (json) refuseHelpAsError(program);
      // Of a command that it does not know, help would not say so.
      const asked = isKnown(program, args) ? [...args] : args.filter((argument) => !HELP.has(argument));
      // Servers write their log to the same stream.
      const stop = SERVERS.has(name ?? '') ? () => {} : showIndexProgress(process.stderr);
      await program.parseAsync(asked, { from: 'user' }).finally(stop);
    }
  } catch (error) {
    process.exitCode =
      error instanceof CommanderError ? reportUsage(error, json) : reportFailure(error, json);
  }
}

/** Whether every name of a command in the arguments is one, those below another included. */
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

/** Where a command is missing, commander prints help, which is not JSON. */
function refuseHelpAsError(program: Command): void {
  program.addHelpText('beforeAll', ({ command, error }) => {
    if (!error) return '';
    const words = command === program ? 'salience' : `salience ${command.name()}`;
    return command.error(`error: the command is missing; "${words} --help" lists what there is`);
  });
}

import { CommanderError } from 'commander';
import { findCommandName } from './command-name.ts';
import { reportFailure, reportUsage, USAGE } from './failure.ts';
import { createProgram } from './program.ts';
import { endWithStdout } from './stdout.ts';

const HELP: ReadonlySet<string> = new Set(['help', '--help', '-h']);

/** Runs a command line to its end; `process.exitCode` says how it went. */
export async function run(args: readonly string[]): Promise<void> {
  endWithStdout();
  process.stderr.on('error', () => {});
  // What follows -- is no option.
  const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  const json = options.includes('--json');
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
      const isKnown = name === undefined || program.commands.some((command) => command.name() === name);
      // Of a command that it does not know, help would not say so.
      const asked = isKnown ? [...args] : args.filter((argument) => !HELP.has(argument));
      await program.parseAsync(asked, { from: 'user' });
    }
  } catch (error) {
    process.exitCode =
      error instanceof CommanderError ? reportUsage(error, json) : reportFailure(error, json);
  }
}

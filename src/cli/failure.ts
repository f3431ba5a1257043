import type { CommanderError } from 'commander';
import { SalienceError } from '../domain/errors.ts';
import { plainBlock } from './terminal-text.ts';

/** Exit codes; the help of `salience` and `docs/guides/cli.md` list them. */
export const FAILED = 1;
export const USAGE = 2;
export const PARTLY = 3;
export const INTERRUPTED = 130;

/** Writes an error to stderr, as JSON when asked. Returns the exit code. */
export function reportFailure(error: unknown, json: boolean): number {
  if (SalienceError.isInstance(error)) {
    write({ code: error.code, message: error.message, details: error.details }, json);
    if (error.code === 'unknown_strategy') return USAGE;
    return error.code === 'aborted' ? INTERRUPTED : FAILED;
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  write(
    { code: 'internal', message: `this is a fault in salience, please report it: ${message}`, details: {} },
    json,
  );
  return FAILED;
}

/** The same for a command line that cannot be understood. Help that was asked for is no error. */
export function reportUsage(error: CommanderError, json: boolean): number {
  if (error.exitCode === 0) return 0;
  const message = error.message.replace(/^error: /, '');
  // Commander has printed the help itself.
  if (error.code !== 'commander.help') write({ code: 'usage', message, details: {} }, json);
  return USAGE;
}

function write(error: { code: string; message: string; details: object }, json: boolean): void {
  process.stderr.write(
    json ? `${JSON.stringify({ error })}\n` : `error: ${plainBlock(error.message)} (${error.code})\n`,
  );
}

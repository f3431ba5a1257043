import { SalienceError } from '../domain/errors.ts';
import { reportFailure } from './failure.ts';

let asJson = false;

/**
 * Handles errors of stdout. If its reader stops reading, the process ends successfully; any other error ends it with a
 * failure.
 */
export function endWithStdout(json = false): void {
  asJson = json;
  process.stdout.on('error', end);
}

/** Writes a text that must not be lost. If that fails, throws `unwritable_file` instead of ending the process. */
export async function writeOrFail(text: string): Promise<void> {
  const { stdout } = process;
  const ignore = () => {};
  stdout.on('error', ignore).off('error', end);
  await new Promise<void>((resolve, reject) => {
    stdout.write(text, (cause) => (cause ? reject(unwritable(cause)) : resolve()));
  });
  stdout.on('error', end).off('error', ignore);
}

function end(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  process.exit(reportFailure(unwritable(error), asJson));
}

function unwritable(cause: Error): SalienceError {
  return new SalienceError('unwritable_file', `stdout cannot be written: ${cause.message}`, { cause });
}

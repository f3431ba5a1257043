import type { CommanderError } from 'commander';
import { ABORTED, SalienceError } from '../domain/errors.ts';
import { alsoCalled } from '../domain/options.ts';
import { VERB_NAMES } from '../domain/verbs.ts';
import { plainBlock } from './terminal-text.ts';

/** Exit codes; the help of `salience` and `docs/guides/cli.md` list them. */
export const FAILED = 1;
export const USAGE = 2;
export const PARTLY = 3;
export const INTERRUPTED = 130;

/** Writes an error to stderr, as JSON if `json` is set. Returns the exit code. */
export function reportFailure(error: unknown, json: boolean): number {
  if (SalienceError.isInstance(error)) {
    // The library's message speaks of a signal, which a user of the terminal did not pass.
    const message =
      error.message === ABORTED ? 'interrupted; what was reported as done is done' : error.message;
    write({ code: error.code, message, details: error.details }, json);
    if (error.code === 'unknown_strategy') return USAGE;
    return error.code === 'aborted' ? INTERRUPTED : FAILED;
  }
  const refused = refusalOf(error);
  if (refused !== undefined) {
    write({ code: 'store_failed', message: refused, details: {} }, json);
    return FAILED;
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  write(
    { code: 'internal', message: `this is a fault in salience, please report it: ${message}`, details: {} },
    json,
  );
  return FAILED;
}

/** Advice on errors of the operating system, for paths where no command expects them. */
const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'check the permissions of this path and of the folders above it',
  EPERM: 'check the permissions of this path and of the folders above it',
  EROFS: 'choose a place that can be written to',
  ENOSPC: 'free some space on the disk',
  EDQUOT: 'free some space on the disk',
  EMFILE: 'raise the limit of open files (ulimit -n)',
  ENFILE: 'raise the limit of open files (ulimit -n)',
  ENOMEM: 'free some memory',
  EIO: 'check the disk',
};

const TEMPORARY = 'check that the folder for temporary files (TMPDIR) exists and can be written to';

function refusalOf(error: unknown): string | undefined {
  const { code, syscall, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return undefined;
  const advice = syscall === 'mkdtemp' ? TEMPORARY : ADVICE[code];
  return advice && `the system refused what was asked of it (${message}); ${advice}`;
}

/**
 * Like {@link reportFailure}, for a command line that cannot be parsed. Requested help is not an error. `option` finds
 * the option that an unknown name probably means.
 */
export function reportUsage(
  error: CommanderError,
  json: boolean,
  option: (name: string) => string | undefined = () => undefined,
): number {
  if (error.exitCode === 0) return 0;
  const message = `${withMeant(error.message.replace(/^error: /, ''), option)}${adviceOn(error)}`;
  // Commander has printed the help itself.
  if (error.code !== 'commander.help') write({ code: 'usage', message, details: {} }, json);
  return USAGE;
}

/**
 * Suggests the command or option that has this name in other libraries. By spelling alone, `search` would suggest
 * `serve`, and `--top-k` would suggest `--topic`. An option that the name begins with is nearer: `--tag` for `--tags`.
 */
function withMeant(message: string, option: (name: string) => string | undefined): string {
  const [, unknown, flag = '', spelled] =
    /^(unknown option '(--?[^'\s]+)')(?:\n\(Did you mean (.+)\?\))?$/.exec(message) ?? [];
  const isLonger = spelled !== undefined && flag.startsWith(spelled);
  const wanted = unknown === undefined || isLonger ? undefined : option(flag.replace(/^--?/, ''));
  if (wanted !== undefined) return `${unknown}\n(Did you mean ${wanted}?)`;
  const [first, name = ''] = /^unknown command '([^']*)'/.exec(message) ?? [];
  const meant = alsoCalled(name, VERB_NAMES);
  return meant === undefined ? message : `${first}\n(Did you mean ${meant}?)`;
}

/** Names the likeliest reason: a text without quotes, or one that begins with a dash. */
function adviceOn({ code, message }: CommanderError): string {
  if (code === 'commander.excessArguments') {
    return / Expected 0 /.test(message)
      ? ' It takes options only; --help lists them.'
      : ' Write a text of several words in quotes.';
  }
  if (code === 'commander.unknownOption' && /'-[^']*\s/.test(message)) {
    return '\n(A text that begins with a dash comes last, after --)';
  }
  return '';
}

function write(error: { code: string; message: string; details: object }, json: boolean): void {
  process.stderr.write(
    json ? `${JSON.stringify({ error })}\n` : `error: ${plainBlock(error.message)} (${error.code})\n`,
  );
}

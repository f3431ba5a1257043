import { SalienceError } from '../model/errors.ts';

/** What is said of a request: no token, no id of a memory, nothing of what was asked or answered. */
export interface LogEntry {
  readonly at: string;
  readonly method: string;
  /** With the names of its parameters, not their values. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
  /** The id of the token, which opens nothing. */
  readonly token?: string | undefined;
  /** Of a failure that nobody expected: what it was and where, without its message, which may quote a text. */
  readonly failure?: string | undefined;
}

export type Log = (entry: LogEntry) => void;

/** Where an unexpected failure came from. */
export function placeOf(failure: unknown): string {
  if (!(failure instanceof Error)) return 'what was thrown is no error';
  const name = SalienceError.isInstance(failure) ? `${failure.name} ${failure.code}` : failure.name;
  const frames = (failure.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const cause = failure.cause === undefined ? '' : `; caused by ${placeOf(failure.cause)}`;
  return `${name}${frames.map((frame) => ` ${frame.trim()}`).join('')}${cause}`;
}

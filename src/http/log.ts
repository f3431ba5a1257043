/**
 * One request in the log. It holds no token, no id of a memory, and nothing of the request's or the answer's content.
 */
export interface LogEntry {
  readonly at: string;
  readonly method: string;
  /** With parameter names instead of values. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
  /** The id of the token, which is no secret. */
  readonly token?: string | undefined;
  /** The details of a server failure that the answer leaves out. */
  readonly failure?: string | undefined;
}

export type Log = (entry: LogEntry) => void;

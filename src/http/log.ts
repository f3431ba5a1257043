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
  /** What the answer does not say of a failure of the server. */
  readonly failure?: string | undefined;
}

export type Log = (entry: LogEntry) => void;

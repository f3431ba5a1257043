export interface TestServer {
  /** Of a user that may do everything. */
  readonly url: string;
  /** The directory of its data. */
  readonly data: string;
  /** Ends every process of the server at once, as a loss of power does, and starts it again. */
  crash(): Promise<void>;
  /** Ends it, and removes its directory. */
  stop(): Promise<void>;
}

/** The directory with `initdb` and `postgres`; `undefined` where there is none. */
export function findBinaries(): string | undefined;

/** A server of its own, with these settings; a copy of the one at this URL that follows it. */
export function startServer(
  bin: string,
  settings?: Readonly<Record<string, string | number>>,
  options?: { readonly standbyOf?: string | undefined },
): Promise<TestServer>;

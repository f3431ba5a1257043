import { SalienceError } from '../domain/errors.ts';

/** Room for the indexes that a process keeps in memory, as one space asks for it. */
export interface Room {
  /**
   * Takes so many bytes for the index of the space, in place of those that it has; waits until others have left. Throws
   * `space_too_large` for more than there is in all, and `too_many_spaces` where nobody left in time.
   */
  take(bytes: number): Promise<void>;
  /** The same where nobody has to leave for it; `false` where somebody has, and nothing was taken. */
  takeNow?(bytes: number): boolean;
  /** Milliseconds that a call waits while another one loads the index. */
  readonly waitTimeout: number;
}

/** Of a process that does not say how much room there is. */
export const UNBOUNDED: Room = { take: async () => {}, takeNow: () => true, waitTimeout: 60_000 };

export function spaceTooLarge(space: string, bytes: number, limit: number): SalienceError {
  return new SalienceError(
    'space_too_large',
    `the index of space ${JSON.stringify(space)} takes about ${inMiB(bytes)}, and all indexes together may take ${inMiB(limit)}: raise maxResidentBytes together with the memory of the process, or serve the space from a larger machine`,
    { details: { space, bytes, maxResidentBytes: limit } },
  );
}

/** The error for what failed while the index was brought up to date: where memory is short, one that says so. */
export function indexFailure(space: string, error: unknown): unknown {
  // What engines say of array buffers and of WebAssembly's memory; a RangeError is many other things.
  if (!(error instanceof RangeError && /\ballocat/i.test(error.message))) return error;
  return new SalienceError(
    'space_too_large',
    `the index of space ${JSON.stringify(space)} needs more memory than this process gets: raise the limit of the process or its container (ulimit -v), stop other programs, or move memories into other spaces`,
    { details: { space }, cause: error },
  );
}

export function stillLoading(space: string, waited: number): SalienceError {
  return new SalienceError(
    'store_busy',
    `the index of space ${JSON.stringify(space)} is still being loaded or used by another call after ${waited} ms; try again, or raise waitTimeout`,
    { details: { space, waited } },
  );
}

function inMiB(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

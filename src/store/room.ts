import { SalienceError } from '../domain/errors.ts';

/** The memory budget of the indexes in a process, as seen by one space. */
export interface Room {
  /**
   * Reserves `bytes` for the index of the space, in place of its previous reservation. Waits until enough other spaces
   * have closed. Throws `space_too_large` if it exceeds the whole budget, and `too_many_spaces` if none closed in time.
   */
  take(bytes: number): Promise<void>;
  /** Reserves at once. Returns `false`, and reserves nothing, if another space would have to close first. */
  takeNow?(bytes: number): boolean;
  /** Milliseconds that a call waits while another one loads the index. */
  readonly waitTimeout: number;
}

/** The room of a process without a limit. */
export const UNBOUNDED: Room = { take: async () => {}, takeNow: () => true, waitTimeout: 60_000 };

export function spaceTooLarge(space: string, bytes: number, limit: number): SalienceError {
  return new SalienceError(
    'space_too_large',
    `the index of space ${JSON.stringify(space)} takes about ${inMiB(bytes)}, and all indexes together may take ${inMiB(limit)}: raise maxResidentBytes together with the memory of the process, or serve the space from a larger machine`,
    { details: { space, bytes, maxResidentBytes: limit } },
  );
}

/** Turns a failed allocation during an update of the index into `space_too_large`. Returns any other error unchanged. */
export function indexFailure(space: string, error: unknown): unknown {
  // JavaScript engines use these words for array buffers and WebAssembly memory. A RangeError can have many other causes.
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

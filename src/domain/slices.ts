/** Milliseconds for which long work blocks the event loop at a time. A concurrent recall waits for one slice at each step. */
const MOST_MS = 1;

/** A clock, and a way to let other work of the program run. */
export interface Scheduler {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Resolves after one turn of the event loop; if `rests`, after a rest, in which other work gets several turns. */
  pause(rests: boolean): Promise<void>;
}

/** Milliseconds of a rest. Without it, a recall that waits for a database would wait for a slice at each of its steps. */
const REST_MS = 5;

/** Captured on loading: tests of a program may install fake timers, which would not fire while the tests wait for us. */
const { setImmediate: inNextTurn, setTimeout: later } = globalThis;

const ofThisProcess: Scheduler = {
  now: () => performance.now(),
  pause: (rests) =>
    new Promise((resolve) => {
      if (rests) later(resolve, REST_MS);
      else inNextTurn(resolve);
    }),
};

/** Cuts long work into slices. Call it between two steps; it returns a pause once the slice has lasted long enough. */
export type Slices = () => Promise<void> | undefined;

export interface SliceOptions {
  readonly scheduler?: Scheduler | undefined;
  /** Whether other work has priority, so that a pause becomes a rest. Default: work takes turns. */
  readonly givesWay?: (() => boolean) | undefined;
  /** Milliseconds. Default is 1. */
  readonly most?: number | undefined;
}

export function startSlices({
  scheduler: { now, pause } = ofThisProcess,
  givesWay = () => false,
  most = MOST_MS,
}: SliceOptions = {}): Slices {
  let began = now();
  return () => {
    if (now() - began < most) return undefined;
    return pause(givesWay()).then(() => {
      began = now();
    });
  };
}

/** Does the same as `Array.map`, in slices. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
  slices: Slices,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let index = 0; index < items.length; index++) {
    results.push(map(items[index] as Item, index));
    const pause = slices();
    if (pause) await pause;
  }
  return results;
}

/** Runs steps to their end, in slices. */
export async function inSlices<Result>(steps: Generator<unknown, Result>, slices: Slices): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const pause = slices();
    // Most steps need no pause, and awaiting `undefined` takes time too.
    if (pause) await pause;
  }
}

/** Milliseconds of a long slice: a recall waits for at most one, and a write among many recalls still finishes. */
const LONG_MS = 2;

/** Starts the slices of writes and of reads of thousands of rows. */
export function startLongSlices(): Slices {
  return startSlices({ most: LONG_MS });
}

/** The start of the current turn of the event loop, as far as it is known. */
let withoutTurn: number | undefined;

/**
 * Returns a pause if the current turn of the event loop has lasted for a long slice. For short, independent pieces of work
 * of which thousands may follow each other.
 */
export function pauseIfDue(): Promise<void> | undefined {
  const at = performance.now();
  if (withoutTurn === undefined) {
    withoutTurn = at;
    inNextTurn(() => {
      withoutTurn = undefined;
    });
    return undefined;
  }
  if (at - withoutTurn < LONG_MS) return undefined;
  return new Promise((resolve) => inNextTurn(resolve));
}

/** Runs steps to their end without a pause. */
export function atOnce<Result>(steps: Generator<unknown, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

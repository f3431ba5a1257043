/** About how long a piece of long work keeps a program from everything else: a recall beside it waits for one at each of its steps. */
const MOST_MS = 1;

/** What a program's other work is let in by. */
export interface Scheduler {
  /** Milliseconds of a clock that only goes forward. */
  now(): number;
  /** Resolves when what else waits had its turn; `rests`: when it had some of them, one after the other. */
  pause(rests: boolean): Promise<void>;
}

/** Milliseconds of a rest: a recall that waits for a database has several steps, and would wait for a slice at each of them. */
const REST_MS = 5;

/** As they are when this is loaded: tests of a program may put others in their place, which nobody lets fire while they wait for us. */
const { setImmediate: inNextTurn, setTimeout: later } = globalThis;

const ofThisProcess: Scheduler = {
  now: () => performance.now(),
  pause: (rests) =>
    new Promise((resolve) => {
      if (rests) later(resolve, REST_MS);
      else inNextTurn(resolve);
    }),
};

/** Cuts long work into slices: to be called between two steps, it pauses once the slice has lasted long enough. */
export type Slices = () => Promise<void> | undefined;

export interface SliceOptions {
  readonly scheduler?: Scheduler | undefined;
  /** Whether others are at work that go first. Default: they take turns. */
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

/** What `Array.map` gives, in slices. */
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
    // Most steps are not followed by one, and to wait for nothing takes its time too.
    if (pause) await pause;
  }
}

/** Milliseconds of a long slice: a recall waits for one at most, and a write beside many recalls still comes to its end. */
const LONG_MS = 2;

/** The slices of writes, and of reads by the thousand. */
export function startLongSlices(): Slices {
  return startSlices({ most: LONG_MS });
}

/** Since when the event loop has had no turn, as far as is known. */
let withoutTurn: number | undefined;

/**
 * A pause, once the event loop has had no turn for a long slice. For short pieces of work that may follow each other by the
 * thousand and know nothing of each other.
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

/** Runs them without a pause. */
export function atOnce<Result>(steps: Generator<unknown, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

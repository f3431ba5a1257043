/** About how long a piece of loading keeps a program from everything else: a recall beside it waits for one at each of its steps. */
const MOST_MS = 2;

/** What a program's other work is let in by. */
export interface Scheduler {
  /** Milliseconds of a clock that only goes forward. */
  now(): number;
  /** Resolves when what else waits had its turn. */
  pause(): Promise<void>;
}

const ofThisProcess: Scheduler = {
  now: () => performance.now(),
  pause: () => new Promise((resolve) => setImmediate(resolve)),
};

/** Cuts long work into slices: to be called between two steps, it pauses once the slice has lasted long enough. */
export type Slices = () => Promise<void> | undefined;

export function startSlices({ now, pause }: Scheduler = ofThisProcess): Slices {
  let began = now();
  return () => {
    if (now() - began < MOST_MS) return undefined;
    return pause().then(() => {
      began = now();
    });
  };
}

/** Runs steps to their end, in slices. */
export async function inSlices<Result>(steps: Generator<unknown, Result>, slices: Slices): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await slices();
  }
}

/** Runs them without a pause. */
export function atOnce<Result>(steps: Generator<unknown, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

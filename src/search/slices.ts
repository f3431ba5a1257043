/** About how long a piece of loading keeps a program from everything else: a recall beside it waits for one at each of its steps. */
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

const ofThisProcess: Scheduler = {
  now: () => performance.now(),
  pause: (rests) =>
    new Promise((resolve) => {
      if (rests) setTimeout(resolve, REST_MS);
      else setImmediate(resolve);
    }),
};

/** Cuts long work into slices: to be called between two steps, it pauses once the slice has lasted long enough. */
export type Slices = () => Promise<void> | undefined;

/** `givesWay`: whether others are at work that go first. */
export function startSlices(
  { now, pause }: Scheduler = ofThisProcess,
  givesWay: () => boolean = () => false,
): Slices {
  let began = now();
  return () => {
    if (now() - began < MOST_MS) return undefined;
    return pause(givesWay()).then(() => {
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

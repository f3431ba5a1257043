/** Runs tasks one after the other, in the order in which they were asked for. */
export interface Queue {
  run<Result>(task: () => Promise<Result>): Promise<Result>;
  /** A turn that begins now, until the function is called; `undefined` where somebody else has one, or waits for one. */
  take(): (() => void) | undefined;
  /** Resolves when everything asked for so far has ended, well or not. */
  idle(): Promise<void>;
}

/**
 * Waits for a turn, which lasts until the function that it resolves with is called; `undefined` where it did not come within
 * so many milliseconds, and then it is passed on.
 */
export async function turnWithin(queue: Queue, milliseconds: number): Promise<(() => void) | undefined> {
  const now = queue.take();
  if (now) return now;
  const granted = new Promise<() => void>((resolve) => {
    void queue.run(() => new Promise<void>((free) => resolve(free)));
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  const free = await Promise.race([granted, late]);
  clearTimeout(timer);
  if (!free) void granted.then((pass) => pass());
  return free;
}

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  let turns = 0;
  const end = () => {
    turns--;
  };
  return {
    run(task) {
      turns++;
      const running = last.then(task);
      // Not what it resolves with: an answer would be held until the next one.
      last = running.then(end, end);
      return running;
    },
    take() {
      if (turns > 0) return undefined;
      turns++;
      let free: () => void = end;
      last = new Promise<void>((resolve) => {
        free = resolve;
      }).then(end);
      return free;
    },
    async idle() {
      await last;
    },
  };
}

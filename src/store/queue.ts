/** Runs tasks one after the other, in the order in which they were asked for. */
export interface Queue {
  run<Result>(task: () => Promise<Result>): Promise<Result>;
  /** Resolves when everything asked for so far has ended, well or not. */
  idle(): Promise<void>;
}

/**
 * Waits for a turn, which lasts until the function that it resolves with is called; `undefined` where it did not come within
 * so many milliseconds, and then it is passed on.
 */
export async function turnWithin(queue: Queue, milliseconds: number): Promise<(() => void) | undefined> {
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

function ignore(): void {}

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(task) {
      const running = last.then(task);
      // Not what it resolves with: an answer would be held until the next one.
      last = running.then(ignore, ignore);
      return running;
    },
    async idle() {
      await last;
    },
  };
}

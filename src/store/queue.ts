/** Runs tasks one after the other, in the order of their calls. */
export interface Queue {
  run<Result>(task: () => Promise<Result>): Promise<Result>;
  /** Takes a turn at once and returns the function that ends it; `undefined` if another task has a turn or waits for one. */
  take(): (() => void) | undefined;
  /** Resolves when every task so far has succeeded or failed. */
  idle(): Promise<void>;
}

/**
 * Waits for a turn and returns the function that ends it. Returns `undefined` if the turn did not come in time; it then
 * goes to the next task as soon as it comes.
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
      // `end` drops the result, which would otherwise be kept in memory until the next task.
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

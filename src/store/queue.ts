/** Runs tasks one after the other, in the order in which they were asked for. */
export interface Queue {
  run<Result>(task: () => Promise<Result>): Promise<Result>;
  /** Resolves when everything asked for so far has ended, well or not. */
  idle(): Promise<void>;
}

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(task) {
      const running = last.then(task);
      last = running.catch(() => undefined);
      return running;
    },
    async idle() {
      await last;
    },
  };
}

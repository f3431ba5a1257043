/** Does works of one key one after the other, of different keys at once. */
export type Turns = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/** What holds when a request is checked must still hold when it writes. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
}

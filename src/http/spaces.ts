import type { MemoryEngine } from '../index.ts';
import { SalienceError } from '../model/errors.ts';

/** Opens a space by its name; the server calls it once for each. */
export type OpenSpace = (space: string) => Promise<MemoryEngine>;

/** Deletes a space by its name, which the server has closed. */
export type DeleteSpace = (space: string) => Promise<void>;

/** Spaces that are open: each is opened when it is first asked for, and stays open. */
export interface Spaces {
  readonly size: number;
  get(space: string): Promise<MemoryEngine>;
  /** Closes a space and deletes it. Throws `unsupported` where nobody said how, and what the deletion throws. */
  delete(space: string): Promise<void>;
  close(): Promise<void>;
}

export function createSpaces(open: OpenSpace, remove?: DeleteSpace): Spaces {
  const opened = new Map<string, Promise<MemoryEngine>>();
  let closed = false;
  return {
    get size() {
      return opened.size;
    },
    get(space) {
      if (closed) return Promise.reject(new SalienceError('closed', 'the server is shutting down'));
      const known = opened.get(space);
      if (known) return known;
      const opening = open(space);
      opened.set(space, opening);
      // What could not be opened is tried again by the next request.
      opening.catch(() => opened.delete(space));
      return opening;
    },
    async delete(space) {
      if (!remove) throw new SalienceError('unsupported', 'this server deletes no spaces');
      const known = opened.get(space);
      opened.delete(space);
      await known?.then(
        (memory) => memory.close(),
        () => undefined,
      );
      await remove(space);
    },
    async close() {
      closed = true;
      const memories = await Promise.allSettled(opened.values());
      await Promise.all(
        memories.map((each) => (each.status === 'fulfilled' ? each.value.close() : undefined)),
      );
    },
  };
}

import type { MemoryEngine } from '../index.ts';
import { SalienceError } from '../model/errors.ts';

/** Opens a space by its name; the server calls it once for each. */
export type OpenSpace = (space: string) => Promise<MemoryEngine>;

/** Spaces that are open: each is opened when it is first asked for, and stays open. */
export interface Spaces {
  readonly size: number;
  get(space: string): Promise<MemoryEngine>;
  close(): Promise<void>;
}

export function createSpaces(open: OpenSpace): Spaces {
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
    async close() {
      closed = true;
      const memories = await Promise.allSettled(opened.values());
      await Promise.all(
        memories.map((each) => (each.status === 'fulfilled' ? each.value.close() : undefined)),
      );
    },
  };
}

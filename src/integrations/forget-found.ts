import { LONGEST_LIST } from '../domain/arguments.ts';
import { type Memory, type MemoryEngine, SalienceError } from '../index.ts';

/**
 * Forgets what `find` finds, and returns it. Where somebody else has forgotten some of it in between, nothing was forgotten
 * yet: it looks again, and goes on with what is left. A server takes so many at once.
 */
export async function forgetFound(
  memory: MemoryEngine,
  find: () => Promise<readonly Memory[]>,
): Promise<readonly Memory[]> {
  let refused: SalienceError | undefined;
  for (;;) {
    const found = await find();
    const ids = found.map(({ id }) => id);
    if (found.length === 0) return found;
    // It is there, and yet it is not: it would be so for ever.
    if (refused && ids.some((id) => id === refused?.details['id'])) throw refused;
    try {
      for (let at = 0; at < ids.length; at += LONGEST_LIST)
        await memory.forget(ids.slice(at, at + LONGEST_LIST));
      return found;
    } catch (error) {
      if (!SalienceError.isInstance(error) || error.code !== 'not_found') throw error;
      refused = error;
    }
  }
}

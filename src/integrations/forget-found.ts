import { LONGEST_LIST } from '../domain/arguments.ts';
import { type Memory, type MemoryEngine, SalienceError } from '../index.ts';

/**
 * Forgets the memories that `find` finds, and returns them. If somebody else forgot one of them meanwhile, the whole
 * `forget` was refused, so it searches again and forgets what is left. Ids are sent in batches, because a server limits
 * their number.
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
    // `find` still returns the id that `forget` does not know. Another attempt would fail in the same way.
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

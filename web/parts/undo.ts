import type { MemoryEngine } from '../../src/index.ts';
import { act } from '../api.ts';
import { session } from '../session.ts';
import { tell, tellFailure } from './toast.tsx';

/** Changes a memory, says so, and offers to take exactly that change back, whatever others wrote since. */
export async function withUndo(
  id: string,
  done: string,
  change: (memory: MemoryEngine) => Promise<unknown>,
): Promise<boolean> {
  const here = session.get()?.memory;
  try {
    const operation = await act(async (memory) => {
      await change(memory);
      return (await memory.history(id)).findLast(({ memoryId }) => memoryId === id)?.operation;
    }, here);
    // Of another space the same number is another write.
    const undo = () => act((memory) => memory.undo({ operation }), here);
    tell(done, operation === undefined ? undefined : undo);
    return true;
  } catch (error) {
    tellFailure(error);
    return false;
  }
}

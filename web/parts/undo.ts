import type { HistoryEntry, MemoryEngine } from '../../src/index.ts';
import { act } from '../api.ts';
import { mayUndo, session } from '../session.ts';
import { tell, tellFailure } from './toast.tsx';

/**
 * Changes a memory, says so, and offers to take exactly that change back, whatever others wrote since. Where `done` says
 * nothing of an answer, nothing was done. Returns whether something was.
 */
export async function withUndo<Answer>(
  id: string,
  verb: HistoryEntry['verb'],
  done: (answer: Answer) => string | undefined,
  change: (memory: MemoryEngine) => Promise<Answer>,
): Promise<boolean> {
  const signedIn = session.get();
  const here = signedIn?.memory;
  try {
    const { text, operation } = await act(async (memory) => {
      const written = async () =>
        (await memory.history(id)).filter((each) => each.memoryId === id && each.verb === verb);
      const before = (await written()).at(-1)?.sequence ?? -1;
      const text = done(await change(memory));
      const [first, ...others] = (await written()).filter(({ sequence }) => sequence > before);
      // Of several one is of somebody else, and the history does not say which.
      return { text, operation: others.length > 0 ? undefined : first?.operation };
    }, here);
    if (text === undefined) return false;
    // Of another space the same number is another write.
    const undo = () => act((memory) => memory.undo({ operation }), here);
    tell(text, operation === undefined || !signedIn || !mayUndo(signedIn) ? undefined : undo);
    return true;
  } catch (error) {
    tellFailure(error);
    return false;
  }
}

import type { HistoryEntry, MemoryEngine } from '../../src/index.ts';
import { act } from '../api.ts';
import { mayUndo, session } from '../session.ts';
import { tell, tellFailure } from './toast.tsx';

/**
 * Runs a write, shows a toast, and offers to undo exactly that write, whatever others have written since. `done`
 * returns the text of the toast, or nothing if the answer means that nothing was changed. Resolves with whether
 * something was.
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
      // If there are several operations, one is somebody else's, and the history does not say which.
      return { text, operation: others.length > 0 ? undefined : first?.operation };
    }, here);
    if (text === undefined) return false;
    // The same operation number in another space is another write.
    const undo = () => act((memory) => memory.undo({ operation }), here);
    tell(text, operation === undefined || !signedIn || !mayUndo(signedIn) ? undefined : undo);
    return true;
  } catch (error) {
    tellFailure(error);
    return false;
  }
}

import { type Connection, readTransaction, writeTransaction } from './connection.ts';
import { lastSequence } from './events.ts';
import { savedReflection, savePages } from './pages.ts';
import type { Resident } from './resident.ts';
import { lastUsageSequence } from './usage.ts';

/** Events and uses that opening a space may have to take in one by one, at least and as a share of all memories. */
const MOST_EVENTS = 256;
const MOST_SHARE = 0.05;

/**
 * Saves the resident index when the saved one has fallen behind, so that the next process opens quickly. It is a
 * cache: when the file is in use or full, nothing is saved and nothing is lost.
 */
export async function savePagesWhenBehind(
  writer: Connection,
  reader: Connection,
  resident: Resident,
): Promise<void> {
  try {
    const { memories } = reader.get('SELECT count(*) AS memories FROM memory') as { memories: number };
    const saved = savedReflection(reader);
    const behind = lastSequence(reader) - saved.sequence + lastUsageSequence(reader) - saved.usage;
    if (behind < Math.max(MOST_EVENTS, memories * MOST_SHARE)) return;
    await writeTransaction(writer, 0, () => {
      // Nobody else can commit now, so that what the reader sees is what the pages will stand beside.
      const { index, ...reflected } = readTransaction(reader, () => resident.refresh(reader));
      savePages(writer, index, reflected);
    });
  } catch {
    // The next process builds the index from the rows.
  }
}

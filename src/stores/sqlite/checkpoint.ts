import { pathToFileURL } from 'node:url';
import { startThread, type Thread } from './thread.ts';

/** What the thread runs, see `startThread`. A file that is not there is not made. */
const SCRIPT = `
  answer((url) => {
    const database = new DatabaseSync(':memory:');
    try {
      database.prepare('ATTACH ? AS space').run(url + '?mode=rw');
      try {
        database.exec('PRAGMA space.wal_checkpoint(PASSIVE)');
      } finally {
        database.exec('DETACH space');
      }
    } finally {
      database.close();
    }
    return true;
  });
`;

/** One for all files of the process, from the first that needs it. */
let thread: Promise<Thread> | undefined;

/**
 * Puts the log of a file into the file, without holding up the thread that reads and writes it: that waits for the disk
 * twice. `false` where it was not done: nobody can do it on the side here, or somebody keeps it from being done.
 */
export async function checkpointAside(path: string): Promise<boolean> {
  thread ??= startThread(SCRIPT);
  // This process may start no threads.
  const started = await thread.catch(() => undefined);
  return (await started?.ask(pathToFileURL(path).href)) === true;
}

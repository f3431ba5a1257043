import { startThread, type Thread } from './thread.ts';

/** One for all files of the process, from the first that needs it. */
let thread: Promise<Thread> | undefined;

/**
 * Puts the log of a file into the file, without holding up the thread that reads and writes it: that waits for the disk
 * twice. `false` where it was not done: nobody can do it on the side here, or somebody keeps it from being done.
 */
export async function checkpointAside(path: string): Promise<boolean> {
  thread ??= startThread();
  // This process may start no threads.
  const started = await thread.catch(() => undefined);
  return (await started?.run(path, 'rw', 'PRAGMA space.wal_checkpoint(PASSIVE)')) !== undefined;
}

import { startThread, type Thread } from './thread.ts';

/** The thread for all files of the process. The first checkpoint starts it. */
let thread: Promise<Thread> | undefined;

/**
 * Moves the log of a file into the file (a checkpoint) on another thread, because it waits for the disk twice. Returns `false` if no
 * thread could do it or the checkpoint failed.
 */
export async function checkpointAside(path: string): Promise<boolean> {
  thread ??= startThread();
  // Fails if this process may not start threads.
  const started = await thread.catch(() => undefined);
  return (await started?.run(path, 'rw', 'PRAGMA space.wal_checkpoint(PASSIVE)')) !== undefined;
}

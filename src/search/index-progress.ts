import { channel } from 'node:diagnostics_channel';

/**
 * Progress of building the index of a space from all memories because no saved one can be read, or of adding at least a
 * thousand memories written since it was saved. Published on the channel `salience:index` of
 * `node:diagnostics_channel`. `done` is 0 at first and equals `total` in the last message, which is missing if building
 * fails.
 */
export interface IndexProgress {
  readonly space: string;
  /** Memories. */
  readonly done: number;
  readonly total: number;
}

const progress = channel('salience:index');

export function publishProgress(space: string, done: number, total: number): void {
  if (progress.hasSubscribers) progress.publish({ space, done, total } satisfies IndexProgress);
}

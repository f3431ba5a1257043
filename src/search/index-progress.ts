import { channel } from 'node:diagnostics_channel';

/**
 * How far the index of a space is, while it is built from all memories because no saved one can be read, or takes in a thousand and more
 * that were written since it was saved: published on the channel `salience:index` of `node:diagnostics_channel`, with `done` of 0 first,
 * and equal to `total` at the end. If it fails, the end is missing.
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
